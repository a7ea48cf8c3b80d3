// Package jobwatch prints the recorded events of jobs, and keeps querying the jobs.
package jobwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/hooks"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// A Watch follows jobs by the events in the store, and adds events with its own queries.
type Watch struct {
	Finder  *selection.Finder
	Cursor  int64
	Resumes bool // behind the event of Cursor
	JSON    bool
	Hooks   hooks.Hooks

	Stdout, Messages io.Writer

	store    *jobstore.Store
	named    []job.Job
	tags     map[string]bool      // of the named jobs
	unusable map[string]time.Time // when to try targets again
	warned   map[string]bool      // the warnings that were printed
}

// A CursorError reports a cursor behind the newest event.
type CursorError struct{ cursor, last int64 }

func (e *CursorError) Error() string {
	return fmt.Sprintf("--after %d: the newest event is %d; if the record was replaced, watch from --after 0", e.cursor, e.last)
}

// AskPace is the query interval of jobs whose definitions set none.
const AskPace = 2 * time.Second

// How often a watch looks for what other processes have recorded, and how often it tries a
// target that cannot be reached, which may ask the user each time.
const (
	watchPace = 200 * time.Millisecond
	retryPace = time.Minute
)

// answer is the outcome of a query of the jobs, or a warning about a target that cannot be
// queried.
type answer struct {
	open    int // jobs that have not ended
	err     error
	warning error
}

// Run prints events of the named jobs, or of all, until the named ones have ended or the context
// ends.
func (w *Watch) Run(ctx context.Context, names []string) error {
	if err := w.prepare(ctx, names); err != nil {
		return err
	}
	if !w.Resumes && !w.JSON {
		if err := w.printStates(ctx); err != nil {
			return err
		}
	}
	// A slow scheduler does not delay events that other processes record.
	asking, stop := context.WithCancel(ctx)
	answers := make(chan answer)
	var asker sync.WaitGroup
	asker.Go(func() { w.keepAsking(asking, answers) })
	err := w.follow(ctx, answers)
	stop()
	asker.Wait()
	return UnlessInterrupted(ctx, err)
}

// keepAsking queries the jobs until the context ends.
func (w *Watch) keepAsking(ctx context.Context, answers chan<- answer) {
	pace := time.NewTicker(AskPace)
	defer pace.Stop()
	for first := true; ; first = false {
		select {
		case answers <- w.ask(ctx, first, answers):
		case <-ctx.Done():
			return
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
	}
}

// follow prints events until all named jobs have ended, or the context ends.
func (w *Watch) follow(ctx context.Context, answers <-chan answer) error {
	look := time.NewTicker(watchPace)
	defer look.Stop()
	for {
		var last answer
		isOver := false
		select {
		case <-ctx.Done():
			return nil
		case last = <-answers:
			isOver = last.err != nil || last.open == 0 && len(w.tags) > 0
			if last.warning != nil {
				w.Finder.Note(fmt.Sprintf("warning: %v", last.warning))
			}
		case <-look.C:
		}
		if err := w.print(ctx); err != nil || isOver {
			return errors.Join(last.err, err)
		}
	}
}

// UnlessInterrupted is nil if the user ended the watch.
func UnlessInterrupted(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return errors.Join(err, ctx.Err())
}

// prepare finds the named jobs and the first event.
func (w *Watch) prepare(ctx context.Context, names []string) error {
	var err error
	if w.store, err = w.Finder.Store(ctx); err != nil {
		return err
	}
	if err := w.Finder.KnowsTarget(ctx, w.store); err != nil {
		return err
	}
	w.tags, w.unusable, w.warned = map[string]bool{}, map[string]time.Time{}, map[string]bool{}
	if len(names) > 0 {
		w.named, err = w.Finder.ChooseRecorded(ctx, selection.Choice{Names: names})
		if errors.Is(err, jobstore.ErrNotFound) {
			return fmt.Errorf("%w\nuse jobs submitted with rmctl; rmctl wait accepts others", err)
		}
		if err != nil {
			return err
		}
	}
	for _, job := range w.named {
		w.tags[job.Tag] = true
	}
	last, err := w.store.LastEvent(ctx)
	switch {
	case err != nil:
		return err
	case !w.Resumes:
		w.Cursor = last
	case w.Cursor > last:
		return &CursorError{w.Cursor, last}
	}
	return nil
}

// printStates prints the state on record of each watched job.
func (w *Watch) printStates(ctx context.Context) error {
	watched := w.named
	if len(watched) == 0 {
		var err error
		if watched, err = w.store.List(ctx, jobstore.Filter{Target: w.Finder.Target}); err != nil {
			return err
		}
		slices.Reverse(watched)
	}
	for _, j := range watched {
		event := job.Event{Tag: j.Tag, Target: j.Target, ID: j.ID, Kind: "now", Ensemble: j.Ensemble, Part: j.Part, Observation: j.Observation}
		event.Observed, event.Reason = cmp.Or(j.Observed, j.Created), cmp.Or(j.StaleReason, j.Reason)
		if err := w.printLine(event); err != nil {
			return err
		}
	}
	if len(watched) == 0 {
		w.Finder.Note("no unfinished jobs on record; waiting for new ones, Ctrl-C ends")
	}
	return nil
}

// ask queries the jobs that are watched. A failed query is an event of its
// jobs. A target that cannot be used causes one warning, before the query of the
// others; it ends the watch only if no other target can be used.
func (w *Watch) ask(ctx context.Context, first bool, answers chan<- answer) answer {
	listed, err := w.store.List(ctx, jobstore.Filter{Target: w.Finder.Target})
	if err != nil {
		return answer{err: err}
	}
	now := time.Now()
	open, due := w.watched(listed, now)
	jobs, err := w.Finder.WithControllers(ctx, due)
	isAnyUsable := w.noteUnusable(jobs, now)
	if err != nil && first && !isAnyUsable || ctx.Err() != nil {
		return answer{open: open, err: err}
	}
	if err != nil && !w.warned[err.Error()] {
		w.warned[err.Error()] = true
		select {
		case answers <- answer{open: open, warning: err}:
		case <-ctx.Done():
			return answer{open: open}
		}
	}
	return answer{open: open, err: UnlessStale(selection.Refresh(ctx, jobs, false))}
}

// UnlessStale is nil for an error of a query, which listings show otherwise: jobs that
// were not queried are stale.
func UnlessStale(err error) error {
	if _, isQuery := errors.AsType[*control.QueryError](err); isQuery || errors.Is(err, control.ErrPaused) || errors.Is(err, remote.ErrUnreachable) {
		return nil
	}
	return err
}

// watched counts the listed jobs that are watched, and returns those whose target is
// to be tried now.
func (w *Watch) watched(listed []job.Job, now time.Time) (open int, due []job.Job) {
	for _, job := range listed {
		if len(w.tags) > 0 && !w.tags[job.Tag] {
			continue
		}
		open++
		if now.After(w.unusable[job.Target]) {
			due = append(due, job)
		}
	}
	return open, due
}

// noteUnusable postpones the targets that have no controller, and reports whether any
// has one.
func (w *Watch) noteUnusable(jobs []selection.Handle, now time.Time) (isAnyUsable bool) {
	for _, job := range jobs {
		if job.Controller == nil {
			w.unusable[job.Target] = now.Add(retryPace)
			continue
		}
		isAnyUsable = true
	}
	return isAnyUsable
}

// print prints the events since the last call, and runs the hooks.
func (w *Watch) print(ctx context.Context) error {
	for {
		events, err := w.store.Events(ctx, w.Cursor)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, event := range events {
			if w.isWatched(event) {
				if err := w.printEvent(ctx, event); err != nil {
					return err
				}
			}
			w.Cursor = event.Sequence
		}
	}
}

func (w *Watch) isWatched(event job.Event) bool {
	return (w.Finder.Target == "" || event.Target == w.Finder.Target) && (len(w.tags) == 0 || w.tags[event.Tag])
}

func (w *Watch) printEvent(ctx context.Context, event job.Event) error {
	show := w.printLine
	if w.JSON {
		show = func(event job.Event) error { return terminal.JSON(w.Stdout, event) }
	}
	if err := show(event); err != nil {
		return fmt.Errorf("printing an event: %w", err)
	}
	return w.Hooks.Run(ctx, w.Messages, event)
}

// printLine prints an event for people.
func (w *Watch) printLine(event job.Event) error {
	word := ""
	if event.Detail != "" {
		word = event.Detail.Word()
	}
	texts := slices.DeleteFunc([]string{event.Reason, terminal.PartOf(event.Ensemble, event.Part)}, func(text string) bool { return text == "" })
	line := fmt.Sprintf("%s  %s/%s  %s  %s  %s", terminal.Clock(event.Observed), terminal.OrDash(event.Target), terminal.OrDash(cmp.Or(event.ID, event.Tag)),
		event.Kind, terminal.OrDash(word), terminal.AtMost(tui.OneLine(strings.Join(texts, "; ")), terminal.LongestCell))
	_, err := fmt.Fprintln(w.Stdout, strings.TrimRight(line, " "))
	return err
}
