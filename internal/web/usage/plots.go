package usage

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// A utilisationQuery says what plots show.
type utilisationQuery struct {
	Manager  string    // id; empty for all
	Hours    int       // back from now
	From, To time.Time // a range instead; zero for none
}

// ReadUtilisationQuery reads a query from an address. It ignores invalid values.
func ReadUtilisationQuery(values url.Values) utilisationQuery {
	q := utilisationQuery{Manager: values.Get("rm"), Hours: listing.ReadHours(values, 1)}
	from, to := readTime(values.Get("from")), readTime(values.Get("to"))
	if !from.IsZero() && to.Sub(from) >= shortestRange {
		q.From, q.To = from, to
	}
	return q
}

// shortestRange is the shortest time that plots show.
const shortestRange = time.Minute

// TimeLayout is how forms of browsers send a time, which has no time zone.
const TimeLayout = "2006-01-02T15:04"

// readTime reads a time as forms send it, or in seconds of Unix; zero if it is neither.
func readTime(text string) time.Time {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && seconds > 0 && seconds < math.MaxInt32 {
		return time.Unix(seconds, 0)
	}
	at, err := time.ParseInLocation(TimeLayout, text, time.Local)
	if err != nil {
		return time.Time{}
	}
	return at
}

// span returns what time plots show.
func (q utilisationQuery) span(now time.Time) (from, to time.Time) {
	if !q.From.IsZero() {
		return q.From, q.To
	}
	return now.Add(-time.Duration(q.Hours) * time.Hour), now
}

func (q utilisationQuery) address() string {
	return listing.AddressOf("/utilisation", listing.Query("rm", q.Manager, "hours", listing.Unless(1, q.Hours)))
}

// The measures of a plot, in its own units.
const (
	plotWidth  = 1000
	plotHeight = 200
)

// A plot has a gap between two samples that are more than listingGap steps and shortestGap
// apart: listings of slow schedulers are minutes apart.
const (
	listingGap  = 3
	shortestGap = 5 * time.Minute
)

// A Plot shows shares of a whole over time, one upon the other.
type Plot struct {
	Title  string
	Layers []PlotLayer
	Gaps   []Gap
	Ticks  []Tick
	Scale  []string // the labels at the top, in the middle and at the bottom
	Words  string   // the newest sample in words
	// The samples for scripts: the time of each and the number in each layer.
	From, To int64 // in seconds of Unix
	Samples  string
}

// A PlotLayer is one share over time.
type PlotLayer struct {
	Name, Tone string
	Path       string
	Now        string // the newest number
}

// A Gap is a time without samples.
type Gap struct{ X, Width int }

// Utilisation is what the page of utilisation shows.
type Utilisation struct {
	Query    utilisationQuery
	Managers []ManagerPlots
	Ranges   []listing.FilterLink
	Since    listing.Moment // the oldest sample
	From, To time.Time      // what is shown
}

// ManagerPlots are the plots of one target.
type ManagerPlots struct {
	ID, Name string
	Note     *listing.Note
	Plots    []Plot
	Table    []SampleRow // the same as text
}

// A SampleRow is a sample as text.
type SampleRow struct {
	At                         listing.Moment
	Used, Free, Unusable, CPUs string
	Running, Waiting           string
}

// mostSampleRows bounds the table beside a plot.
const mostSampleRows = 30

// DrawUtilisation returns the plots up to now.
func DrawUtilisation(s *model.Snapshot, h *History, q utilisationQuery, began, now time.Time) Utilisation {
	u := Utilisation{Query: q, Since: listing.Moment{At: began}}
	if oldest := h.began(); !oldest.IsZero() && oldest.Before(began) {
		u.Since = listing.Moment{At: slices.MaxFunc([]time.Time{oldest, now.Add(-historyLife)}, time.Time.Compare)}
	}
	u.From, u.To = q.span(now)
	for m := range s.Managers() {
		e := m.Element()
		if q.Manager != "" && e.ID() != q.Manager {
			continue
		}
		plots := ManagerPlots{ID: e.ID(), Name: listing.Cell(e.Name())}
		if n, isNeeded := listing.NoteOf(e, model.Node); isNeeded && listing.SeenState(e) != vocabulary.StateStarted {
			plots.Note = &n
		}
		samples, step := h.since(e.ID(), u.From)
		samples = slices.DeleteFunc(samples, func(each sample) bool { return each.At.After(u.To) })
		plots.Plots = plotsOf(samples, step, u.From, u.To)
		plots.Table = sampleRows(samples)
		if len(plots.Plots) > 0 || plots.Note != nil || q.Manager != "" {
			u.Managers = append(u.Managers, plots)
		}
	}
	shown := q.Hours
	if !q.From.IsZero() {
		shown = 0
	}
	u.Ranges = listing.Ranges(shown, func(hours int) string { return utilisationQuery{Manager: q.Manager, Hours: hours}.address() })
	return u
}

// plotsOf returns the plots of nodes, CPUs and jobs, if the samples have them.
func plotsOf(samples []sample, step time.Duration, from, now time.Time) []Plot {
	if len(samples) == 0 {
		return nil
	}
	var plots []Plot
	newest := samples[len(samples)-1]
	draw := func(title string, layers ...layerOf) {
		plots = append(plots, plotOf(title, samples, step, from, now, layers))
	}
	if newest.HasNodes && newest.Used+newest.Free+newest.Unusable > 0 {
		draw("Nodes", layerOf{"in use", "yellow", func(s sample) int { return s.Used }}, layerOf{"free", "green", func(s sample) int { return s.Free }},
			layerOf{"unusable", "grey", func(s sample) int { return s.Unusable }})
	}
	if newest.CPUs > 0 {
		draw("CPUs", layerOf{"in use", "yellow", func(s sample) int { return int(s.CPUsUsed) }}, layerOf{"not in use", "green", func(s sample) int { return int(s.CPUs - s.CPUsUsed) }})
	}
	if newest.HasJobs {
		draw("Jobs", layerOf{"running", "green", func(s sample) int { return s.Running }}, layerOf{"queued", "blue", func(s sample) int { return s.Waiting }},
			layerOf{"suspended or unknown", "pale", func(s sample) int { return s.Others }})
	}
	return plots
}

// A layerOf is a layer and its number in a sample.
type layerOf struct {
	name, tone string
	count      func(sample) int
}

func plotOf(title string, samples []sample, step time.Duration, from, now time.Time, layers []layerOf) Plot {
	p := Plot{Title: title, Ticks: ticks(from, now), From: from.Unix(), To: now.Unix(), Samples: samplesText(samples, layers)}
	greatest := 0
	for _, each := range samples {
		sum := 0
		for _, layer := range layers {
			sum += layer.count(each)
		}
		greatest = max(greatest, sum)
	}
	top := roundUp(greatest)
	p.Scale = []string{listing.Thousands(top), listing.Thousands(top / 2), "0"}
	at := func(t time.Time) int { return int(place(t, from, now) * plotWidth) }
	parts := connected(samples, max(listingGap*step, shortestGap))
	previous := from
	for _, part := range parts {
		if x, end := at(previous), at(part[0].At); end > x+1 {
			p.Gaps = append(p.Gaps, Gap{x, end - x})
		}
		previous = part[len(part)-1].At
	}
	if x := at(previous); plotWidth-x > 1 {
		p.Gaps = append(p.Gaps, Gap{x, plotWidth - x})
	}
	newest := samples[len(samples)-1]
	below := func(sample) int { return 0 }
	for i, layer := range layers {
		p.Layers = append(p.Layers, PlotLayer{layer.name, layer.tone, areas(parts, at, top, below, layer.count), listing.Thousands(layer.count(newest))})
		if i > 0 {
			p.Words += ", "
		}
		p.Words += listing.Thousands(layer.count(newest)) + " " + layer.name
		lower := below
		below = func(s sample) int { return lower(s) + layer.count(s) }
	}
	return p
}

// samplesText returns samples as words of numbers between colons.
func samplesText(samples []sample, layers []layerOf) string {
	var text []byte
	for i, each := range samples {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, each.At.Unix(), 10)
		for _, layer := range layers {
			text = strconv.AppendInt(append(text, ':'), int64(layer.count(each)), 10)
		}
	}
	return string(text)
}

// connected splits samples where they are too far apart.
func connected(samples []sample, most time.Duration) [][]sample {
	var parts [][]sample
	first := 0
	for i := 1; i <= len(samples); i++ {
		if i == len(samples) || samples[i].At.Sub(samples[i-1].At) > most {
			parts = append(parts, samples[first:i])
			first = i
		}
	}
	return parts
}

// areas returns the outline of a layer on top of the layers below it.
func areas(parts [][]sample, at func(time.Time) int, top int, below, count func(sample) int) string {
	y := func(number int) int { return plotHeight - int(math.Round(float64(number)/float64(top)*plotHeight)) }
	var path []byte
	for _, part := range parts {
		path = fmt.Appendf(path, "M%d %d", at(part[0].At), y(below(part[0])))
		for _, each := range part {
			path = fmt.Appendf(path, "L%d %d", at(each.At), y(below(each)+count(each)))
		}
		if len(part) == 1 { // one sample alone is a line of some width
			path = append(path, "h2"...)
		}
		for _, each := range slices.Backward(part) {
			path = fmt.Appendf(path, "L%d %d", at(each.At), y(below(each)))
		}
		path = append(path, 'z')
	}
	return string(path)
}

// roundUp rounds a number up to 1, 2, 4, 5 or 8 times a power of ten, at least 2 and at most
// the largest int.
func roundUp(number int) int {
	for power := 1; power <= math.MaxInt/10; power *= 10 {
		for _, digit := range []int{1, 2, 4, 5, 8} {
			if digit*power >= max(2, number) {
				return digit * power
			}
		}
	}
	return math.MaxInt
}

// sampleRows returns samples as text, the newest first, at most mostSampleRows of them.
func sampleRows(samples []sample) []SampleRow {
	every := (len(samples) + mostSampleRows - 1) / mostSampleRows
	var rows []SampleRow
	for i := len(samples) - 1; i >= 0; i -= every {
		each := samples[i]
		row := SampleRow{At: listing.Moment{At: each.At}}
		if each.HasNodes {
			row.Used, row.Free, row.Unusable = listing.Thousands(each.Used), listing.Thousands(each.Free), listing.Thousands(each.Unusable)
		}
		if each.CPUs > 0 {
			row.CPUs = listing.Thousands(int(each.CPUsUsed)) + " of " + listing.Thousands(int(each.CPUs))
		}
		if each.HasJobs {
			row.Running, row.Waiting = listing.Thousands(each.Running), listing.Thousands(each.Waiting)
		}
		rows = append(rows, row)
	}
	return rows
}
