package watch

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
)

// The pages of a detail; only jobs have others than the first.
const (
	pageFacts = iota
	pageHistory
	pageOutput
	pageErrors
	jobPages
)

var pageTitles = [jobPages]string{"Facts", "History", "Output", "Errors"}

// A detail shows everything about one element.
type detail struct {
	ref  ref
	kind model.Kind
	last row // as it was seen last, since it may be gone
	gone bool
	page int
	top  int

	history  []job.Event
	historic uint64   // the revision of the element when the history was looked up
	lines    []string // the history as lines
	linesFor int      // the width that they were made for
	looked   bool     // whether the history was looked up at all
	problem  string   // why there is no history

	output *output // nil while none is followed

	jobs    []row          // that have the node
	found   *model.Manager // the picture that they were found in
	finding bool           // whether they are being found
}

// An output is what a job writes to one stream, followed while it is looked at.
type output struct {
	kept   *tail
	stop   context.CancelFunc
	isLast bool // whether the end is shown, and what comes is followed
	ended  bool
	err    error
}

// mostEvents bounds the history that is shown of a job: the newest.
const mostEvents = 2000

// open shows the detail of the selected element.
func (d *display) open() {
	selected, ok := d.table().selected()
	if !ok {
		return
	}
	d.detail = &detail{ref: selected.ref(), kind: d.table().query.kind, last: selected}
	d.turnPage(pageFacts)
}

// closeDetail goes back to the list.
func (d *display) closeDetail() {
	d.stopOutput()
	d.detail = nil
}

func (d *display) stopOutput() {
	if d.detail != nil && d.detail.output != nil {
		d.detail.output.stop()
		d.detail.output = nil
	}
}

// turnPage shows a page and starts to look up its content.
func (d *display) turnPage(page int) {
	s := d.detail
	d.stopOutput()
	s.top, s.page = 0, 0
	if s.kind == model.Job {
		s.page = (page + jobPages) % jobPages
	}
	switch s.page {
	case pageHistory:
		d.lookUpHistory()
	case pageOutput, pageErrors:
		d.follow()
	}
	d.findJobs()
}

// seeDetail shows the newest version of the element.
func (d *display) seeDetail() {
	s := d.detail
	if s == nil {
		return
	}
	manager, known := d.snapshot.Manager(s.ref.manager)
	var element *model.Element
	if known && s.kind == model.ResourceManager {
		element = manager.Element()
	} else if known {
		element, known = manager.Get(s.kind, s.ref.id)
	}
	s.gone = !known
	if known {
		s.last = row{manager, element}
	}
	if s.page == pageHistory {
		d.lookUpHistory()
	}
	d.findJobs()
}

// lookUpHistory looks the history up in the background, unless the job has not changed
// since the last time.
func (d *display) lookUpHistory() {
	s := d.detail
	revision := s.last.element.Revision()
	if s.looked && s.historic == revision {
		return
	}
	s.looked, s.historic = true, revision
	d.background(func() tui.Apply {
		var events []job.Event
		err := d.controls.History(d.ctx, s.ref.manager, s.ref.id, func(event job.Event) error {
			events = append(events, event)
			if len(events) >= 2*mostEvents {
				events = slices.Clone(events[mostEvents:])
			}
			return nil
		})
		return func() {
			if revision == s.historic { // otherwise a newer one is on its way
				s.showHistory(events, err)
			}
		}
	})
}

func (s *detail) showHistory(events []job.Event, err error) {
	s.history, s.problem, s.lines = events, "", nil
	switch {
	case errors.Is(err, jobstore.ErrNotFound):
		s.problem = "No history: the job was not submitted through rmctl."
	case err != nil:
		s.problem = "Cannot read the history: " + tui.Safe(err.Error())
	}
}

// follow begins to follow the output of the page that is shown.
func (d *display) follow() {
	s := d.detail
	ctx, stop := context.WithCancel(d.ctx)
	o := &output{stop: stop, isLast: true}
	o.kept = &tail{stir: func() { d.stirred.Store(true) }}
	s.output = o
	of, stderr := s.ref, s.page == pageErrors
	d.background(func() tui.Apply {
		defer stop()
		err := d.controls.Follow(ctx, of.manager, of.id, stderr, o.kept.skip, o.kept)
		return func() {
			o.ended = true
			if !errors.Is(err, context.Canceled) {
				o.err = err
			}
		}
	})
}

// detailKey does what a key means in a detail.
func (d *display) detailKey(name string) tea.Cmd {
	s := d.detail
	switch name {
	case "esc", "q", "backspace":
		d.closeDetail()
	case "tab", "right":
		d.turnPage(s.page + 1)
	case "shift+tab", "left":
		d.turnPage(s.page - 1)
	case "1", "2", "3", "4":
		d.turnPage(int(name[0] - '1'))
	default:
		by, moves := tui.Step(name, d.bodyHeight())
		if !moves {
			return d.rowKey(name, []row{s.last})
		}
		d.scrollDetail(by)
	}
	return nil
}

// scrollDetail moves what is seen. At the end of an output what comes is followed.
func (d *display) scrollDetail(by int) {
	s := d.detail
	last := max(d.detailLines().len()-d.bodyHeight(), 0)
	if s.output != nil && s.output.isLast {
		s.top = last
	}
	s.top = max(min(min(s.top, last)+by, last), 0)
	if s.output != nil {
		s.output.isLast = s.top == last
	}
}

// holdText keeps the text of an output that is not followed in its place, while older
// lines are dropped.
func (d *display) holdText() {
	if d.detail != nil && d.detail.output != nil {
		d.detail.top = max(d.detail.top-d.detail.output.kept.hasMoved(), 0)
	}
}

// detailLines are the lines of the page that is shown, all of them.
func (d *display) detailLines() text {
	s := d.detail
	switch s.page {
	case pageHistory:
		return text{before: s.historyLines(d.width)}
	case pageOutput, pageErrors:
		return s.outputLines(d.width)
	}
	return text{before: s.factLines(d.width, d.clock)}
}

// seenDetail are the lines of the page that are seen.
func (d *display) seenDetail() []string {
	lines := d.detailLines()
	height := d.bodyHeight()
	s := d.detail
	last := max(lines.len()-height, 0)
	top := min(s.top, last)
	if s.output != nil && s.output.isLast {
		top = last
	}
	var seen []string
	for i := top; i < min(top+height, lines.len()); i++ {
		seen = append(seen, lines.line(i))
	}
	return seen
}
