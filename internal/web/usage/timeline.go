package usage

import (
	"cmp"
	"net/url"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// A TimelineQuery says which jobs a timeline shows.
type TimelineQuery struct {
	Manager, Queue string // ids; empty for all
	Hours          int    // back from now; 0 for usualTimeline
	Mine           bool
}

// usualTimeline is how many hours a timeline reaches back by default.
const usualTimeline = 6

func ReadTimelineQuery(values url.Values) TimelineQuery {
	return TimelineQuery{Manager: values.Get("rm"), Queue: values.Get("queue"), Mine: values.Get("mine") == "1", Hours: listing.ReadHours(values, usualTimeline)}
}

func (q TimelineQuery) Address() string {
	return listing.AddressOf("/timeline", listing.Query("rm", q.Manager, "queue", q.Queue, "hours", listing.Unless(usualTimeline, q.Hours), "mine", listing.Flag(q.Mine)))
}

func (q TimelineQuery) with(change func(*TimelineQuery)) string {
	change(&q)
	return q.Address()
}

func (q TimelineQuery) length() time.Duration {
	return time.Duration(cmp.Or(q.Hours, usualTimeline)) * time.Hour
}

// The measures of a timeline, in its own units.
const (
	timelineWidth  = 1000
	laneHeight     = 14
	mostLanes      = 16
	mostLanesAlone = 100 // if there is one queue only
	mostQueues     = 30
	mostBars       = 500 // of a queue
)

// A Timeline shows when the jobs of queues ran.
type Timeline struct {
	Query      TimelineQuery
	Queues     []QueueLine
	MoreQueues int // not shown
	Ticks      []Tick
	From, To   listing.Moment
	Notes      []listing.Note
	IsEmpty    bool
}

// A Tick is a time on the axis.
type Tick struct {
	X    string // in per cent of the width
	Text string
}

// place returns the position of a time between two others, from 0 to 1.
func place(at, from, to time.Time) float64 {
	return min(1, max(0, float64(at.Sub(from))/float64(to.Sub(from))))
}

// percent writes a share for the coordinates of SVG.
func percent(share float64) string {
	return strconv.FormatFloat(100*share, 'f', 2, 64) + "%"
}

// A QueueLine is the jobs of one queue.
type QueueLine struct {
	Manager, Name string
	Key           string
	Address       string // of the table of its jobs
	Height        int
	Bars          []Bar
	Left          int    // jobs that do not fit
	Load          string // outline of the number of concurrent jobs
	Most          string // maximum of that
	Untold        int    // jobs that do not wait and whose start or end is unknown
	Waiting       int
	Words         string
}

// A Bar is a job. It ends when the job was last listed.
type Bar struct {
	X, Width string // in per cent
	Y        int
	Tone     string
	Title    string
	Address  string // empty for a job that is not listed any more
	IsOpen   bool   // whether the job is running
}

// DrawTimeline returns the timeline up to now.
func DrawTimeline(l *listing.Ledger, s *model.Snapshot, h *History, q TimelineQuery, now time.Time) Timeline {
	from := now.Add(-q.length())
	t := Timeline{Query: q, From: listing.Moment{At: from}, To: listing.Moment{At: now}, Ticks: ticks(from, now), Notes: listing.NotesOf(s, q.Manager, model.Job)}
	for m := range s.Managers() {
		if q.Manager != "" && m.Element().ID() != q.Manager {
			continue
		}
		d := lineDrawing{manager: m, query: q, own: l.Owner(s, m), past: h.pastOn(m, from, q.Mine), from: from, now: now,
			listedAt: listing.MomentOf(m.Element(), vocabulary.AttributeListedJobs).At}
		for _, queue := range d.queues() {
			if q.Queue != "" && queue.id != q.Queue {
				continue
			}
			if len(t.Queues) >= mostQueues {
				t.MoreQueues++
				continue
			}
			line := d.line(queue)
			if len(line.Bars) > 0 || line.Untold > 0 || line.Waiting > 0 || q.Queue != "" {
				t.Queues = append(t.Queues, line)
			}
		}
	}
	t.IsEmpty = len(t.Queues) == 0
	return t
}

// timelineChoices lead to other timelines.
type timelineChoices struct {
	Ranges []listing.FilterLink
	Whose  []listing.FilterLink
}

func (q TimelineQuery) Choices() timelineChoices {
	var c timelineChoices
	c.Ranges = listing.Ranges(cmp.Or(q.Hours, usualTimeline), func(hours int) string { return q.with(func(q *TimelineQuery) { q.Hours = hours }) })
	c.Whose = []listing.FilterLink{
		{Label: "Everybody’s", Address: q.with(func(q *TimelineQuery) { q.Mine = false }), IsOn: !q.Mine},
		{Label: "Mine", Address: q.with(func(q *TimelineQuery) { q.Mine = true }), IsOn: q.Mine},
	}
	return c
}

// ticks returns round times between two times, at most eight.
func ticks(from, to time.Time) []Tick {
	length := to.Sub(from)
	step, layout := 24*time.Hour, "01-02"
	for _, each := range []time.Duration{10 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour} {
		if length/each <= 8 {
			step, layout = each, "15:04"
			break
		}
	}
	_, offset := from.Local().Zone()
	shift := time.Duration(offset) * time.Second
	var all []Tick
	for at := from.Add(shift).Truncate(step).Add(step - shift); at.Before(to); at = at.Add(step) {
		all = append(all, Tick{percent(place(at, from, to)), at.Local().Format(layout)})
	}
	return all
}
