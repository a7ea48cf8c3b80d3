package usage

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// A stretch is the time that a job is known to have run.
type stretch struct {
	job      *model.Element
	past     *pastJob // instead of job, for one that is not listed any more
	from, to time.Time
	isOpen   bool
	lane     int
}

// A lineDrawing draws the lines of the queues of one target.
type lineDrawing struct {
	manager   *model.Manager
	query     TimelineQuery
	own       listing.Owner
	past      map[string][]pastJob // by the ids of queues
	from, now time.Time
	listedAt  time.Time // when the jobs were listed; running ones are drawn until then
}

// A namedQueue is a queue, which may no longer exist.
type namedQueue struct{ id, name string }

// queues returns the listed queues, then those that only past jobs have.
func (d *lineDrawing) queues() []namedQueue {
	var queues []namedQueue
	for queue := range d.manager.All(model.Queue) {
		queues = append(queues, namedQueue{queue.ID(), queue.Name()})
	}
	for _, id := range slices.Sorted(maps.Keys(d.past)) {
		if _, isThere := d.manager.Get(model.Queue, id); !isThere {
			queues = append(queues, namedQueue{id, id})
		}
	}
	return queues
}

// line returns the line of a queue.
func (d *lineDrawing) line(queue namedQueue) QueueLine {
	manager := d.manager.Element().ID()
	usual := listing.ReadJobsQuery(nil)
	line := QueueLine{Key: listing.ElementKey(manager, queue.id), Manager: listing.Cell(d.manager.Element().Name()), Name: listing.Cell(queue.name),
		Address: usual.With(func(j *listing.JobsQuery) { j.Manager, j.Queue, j.Mine = manager, queue.id, d.query.Mine })}
	lanes := mostLanes
	if d.query.Queue != "" {
		lanes = mostLanesAlone
	}
	var stretches []stretch
	for job := range d.manager.Children(model.Job, queue.id) {
		if d.query.Mine && !d.own.Has(job) {
			continue
		}
		state := listing.SeenState(job)
		if state == vocabulary.StatePending {
			line.Waiting++
			continue
		}
		ran, isKnown := stretchOf(job, state, d.listedAt, d.now)
		switch {
		case isKnown && ran.to.After(d.from) && ran.from.Before(d.now):
			stretches = append(stretches, ran)
		case !isKnown:
			line.Untold++
		}
	}
	for i := range d.past[queue.id] {
		past := &d.past[queue.id][i]
		stretches = append(stretches, stretch{past: past, from: time.Unix(past.From, 0), to: time.Unix(past.To, 0)})
	}
	placed, used := packed(stretches, lanes)
	line.Left = len(stretches) - len(placed)
	for _, each := range placed {
		line.Bars = append(line.Bars, barOf(manager, each, d.from, d.now))
	}
	line.Height = max(1, used)*laneHeight + 4
	line.Words = listing.Counted(len(stretches), "job")
	if line.Left > 0 {
		line.Load, line.Most = loadOf(stretches, d.from, d.now)
	}
	return line
}

// stretchOf returns when a job ran; false if that is unknown.
func stretchOf(job *model.Element, state model.State, listedAt, now time.Time) (stretch, bool) {
	ran := stretch{job: job, from: listing.MomentOf(job, vocabulary.AttributeJobStarted).At, to: listing.MomentOf(job, vocabulary.AttributeJobEnded).At}
	if ran.from.IsZero() {
		return ran, false
	}
	if ran.to.IsZero() {
		if model.Ended(model.Job, state) || listedAt.IsZero() {
			return ran, false
		}
		ran.to, ran.isOpen = listedAt, true
	}
	if ran.to.After(now) {
		ran.to = now
	}
	return ran, !ran.to.Before(ran.from)
}

// The measures of the outline of how many jobs ran at once.
const (
	loadHeight = 40
	loadSteps  = 250
)

// loadOf returns the outline of the number of concurrent stretches, and its maximum.
func loadOf(stretches []stretch, from, now time.Time) (outline, most string) {
	var changes [loadSteps + 1]int
	at := func(t time.Time) int { return int(place(t, from, now) * loadSteps) }
	for _, each := range stretches {
		changes[at(each.from)]++
		if end := at(each.to); end < loadSteps {
			changes[end+1]--
		}
	}
	counts, running, greatest := make([]int, loadSteps), 0, 1
	for i := range counts {
		running += changes[i]
		counts[i] = running
		greatest = max(greatest, running)
	}
	path := []byte("M0 " + strconv.Itoa(loadHeight))
	for i, each := range counts {
		path = fmt.Appendf(path, "V%dH%d", loadHeight-each*loadHeight/greatest, (i+1)*timelineWidth/loadSteps)
	}
	return string(fmt.Appendf(path, "V%dz", loadHeight)), listing.Thousands(greatest)
}

// packed assigns stretches to lanes in which they do not overlap, and leaves out those that
// do not fit. It returns the number of lanes.
func packed(stretches []stretch, lanes int) ([]stretch, int) {
	sorting.Stable(stretches, func(a, b stretch) int { return a.from.Compare(b.from) })
	var placed []stretch
	var busyUntil []time.Time // by lane
	for _, each := range stretches {
		if len(placed) >= mostBars {
			break
		}
		first := 0 // the lane that is free first
		for i, until := range busyUntil {
			if until.Before(busyUntil[first]) {
				first = i
			}
		}
		switch {
		case len(busyUntil) > 0 && !busyUntil[first].After(each.from):
			busyUntil[first], each.lane = each.to, first
		case len(busyUntil) < lanes:
			each.lane = len(busyUntil)
			busyUntil = append(busyUntil, each.to)
		default:
			continue
		}
		placed = append(placed, each)
	}
	return placed, len(busyUntil)
}

// narrowestBar is the least width of a bar, as a share.
const narrowestBar = 0.002

// barOf returns the bar of a job between two times.
func barOf(manager string, p stretch, from, now time.Time) Bar {
	x := place(p.from, from, now)
	b := Bar{X: percent(x), Y: p.lane*laneHeight + 2, Width: percent(max(narrowestBar, place(p.to, from, now)-x)), IsOpen: p.isOpen}
	var m listing.Mark
	var id, name, user string
	length := listing.Span(p.to.Sub(p.from))
	if p.past != nil {
		m, id, name, user = listing.MarkOfJob(p.past.State, p.past.Detail), p.past.ID, p.past.Name, p.past.User
		if !model.Ended(model.Job, p.past.State) {
			length += " until last seen"
		}
		length += ", no longer listed"
	} else {
		m, id, name, user = listing.JobMark(p.job), p.job.ID(), p.job.Name(), listing.GivenText(p.job, vocabulary.AttributeJobUser)
		b.Address = listing.ElementAddress("/job", manager, id)
		if p.isOpen {
			length += " so far"
		}
	}
	b.Tone = m.Tone
	b.Title = listing.Printable(id, 60) + " " + listing.Printable(name, 60) + ", " + listing.Printable(user, 40) + ": " + m.Word + ", " + length
	return b
}
