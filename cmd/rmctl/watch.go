package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/hooks"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

func newWatch(a *app) *cobra.Command {
	w := &jobWatch{app: a}
	c := &cobra.Command{
		Use:               "watch [JOB...]",
		ValidArgsFunction: a.completeJobs(openJob),
		Short:             "Watch queues, nodes and jobs, or print events of jobs",
		Long: `watch shows resource managers, queues, nodes and jobs on the full screen of a terminal,
where you can submit and control jobs; press ? for the keys. -t limits it to one target.

With a job, --json, --plain, --after or a hook, or without a terminal, it queries jobs as
often as their definitions allow. Without --json or --after it first prints the state of
each job; then it prints each change of state on a line. It ends when all jobs that you
named have ended; if you named none, when it is interrupted.

Each event has a cursor. With --after it continues behind that event, also after a
restart: it leaves nothing out, and keeps the order of a job's events.`,
		Example: `  rmctl watch
  rmctl watch --json
  rmctl watch --after 1042 --json 4711
  rmctl watch --on-end 'notify-send "job $RMCTL_JOB_ID: $RMCTL_JOB_STATE"'`,
		RunE: func(c *cobra.Command, arguments []string) error {
			isScreen, err := w.wantsScreen(c, arguments)
			if err != nil {
				return err
			}
			if isScreen {
				return a.showScreen(c.Context())
			}
			w.resumes = c.Flags().Changed("after")
			return w.run(c.Context(), arguments)
		},
	}
	c.Flags().Int64Var(&w.cursor, "after", 0, "print events after `CURSOR`; 0 for all (default: from now on)")
	c.Flags().BoolVar(&w.plain, "plain", false, "print events on lines, also on a terminal")
	c.Flags().StringVar(&w.hooks.OnChange, "on-change", "", "shell command `CMD` to run at each change of state, with RMCTL_JOB_… in its environment")
	addOnEnd(c, &w.hooks.OnEnd)
	return c
}

// A jobWatch follows jobs by the events of the store, to which its queries add.
type jobWatch struct {
	app     *app
	cursor  int64
	resumes bool // behind the event of --after
	plain   bool
	hooks   hooks.Hooks

	store    *jobstore.Store
	named    []job.Job
	tags     map[string]bool      // of the named jobs
	unusable map[string]time.Time // when to try targets again
	warned   map[string]bool      // the warnings that were printed
}

// How often a watch looks for what other processes have recorded, how often it queries
// jobs whose definitions do not say, and how often it tries a target that cannot be
// reached, which may ask the user each time.
const (
	watchPace = 200 * time.Millisecond
	askPace   = 2 * time.Second
	retryPace = time.Minute
)

// answer is the outcome of a query of the jobs, or a warning about a target that cannot be
// queried.
type answer struct {
	open    int // jobs that have not ended
	err     error
	warning error
}

func (w *jobWatch) run(ctx context.Context, names []string) error {
	if err := w.prepare(ctx, names); err != nil {
		return err
	}
	if !w.resumes && !w.app.json {
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
	return unlessInterrupted(ctx, err)
}

// keepAsking queries the jobs until the context ends.
func (w *jobWatch) keepAsking(ctx context.Context, answers chan<- answer) {
	pace := time.NewTicker(askPace)
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
func (w *jobWatch) follow(ctx context.Context, answers <-chan answer) error {
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
				w.app.say("warning: %v", last.warning)
			}
		case <-look.C:
		}
		if err := w.print(ctx); err != nil || isOver {
			return errors.Join(last.err, err)
		}
	}
}

// unlessInterrupted is nil if the user ended the watch.
func unlessInterrupted(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return errors.Join(err, ctx.Err())
}

// prepare finds the named jobs and the first event.
func (w *jobWatch) prepare(ctx context.Context, names []string) error {
	var err error
	if w.store, err = w.app.client().Store(ctx); err != nil {
		return err
	}
	if err := w.app.finder().KnowsTarget(ctx, w.store); err != nil {
		return err
	}
	w.tags, w.unusable, w.warned = map[string]bool{}, map[string]time.Time{}, map[string]bool{}
	if len(names) > 0 {
		w.named, err = w.app.finder().ChooseRecorded(ctx, selection.Choice{Names: names})
		if errors.Is(err, jobstore.ErrNotFound) {
			return fmt.Errorf("%w\nonly jobs that were submitted through rmctl can be watched; rmctl wait waits for others", err)
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
	case !w.resumes:
		w.cursor = last
	case w.cursor > last:
		return usage("--after %d: the newest event is %d; if the record was begun anew, watch from --after 0", w.cursor, last)
	}
	return nil
}

// printStates prints the state on record of each watched job.
func (w *jobWatch) printStates(ctx context.Context) error {
	watched := w.named
	if len(watched) == 0 {
		var err error
		if watched, err = w.store.List(ctx, jobstore.Filter{Target: w.app.target}); err != nil {
			return err
		}
		slices.Reverse(watched)
	}
	for _, j := range watched {
		event := job.Event{Tag: j.Tag, Target: j.Target, ID: j.ID, Kind: "now", Observation: j.Observation}
		event.Observed, event.Reason = cmp.Or(j.Observed, j.Created), cmp.Or(j.StaleReason, j.Reason)
		if err := w.printLine(event); err != nil {
			return err
		}
	}
	if len(watched) == 0 {
		w.app.say("no unfinished jobs on record; waiting for new ones, Ctrl-C ends")
	}
	return nil
}

// ask queries the jobs that are watched. A failed query is an event of its
// jobs. A target that cannot be used causes one warning, before the query of the
// others; it ends the watch only if no other target can be used.
func (w *jobWatch) ask(ctx context.Context, first bool, answers chan<- answer) answer {
	listed, err := w.store.List(ctx, jobstore.Filter{Target: w.app.target})
	if err != nil {
		return answer{err: err}
	}
	now := time.Now()
	open, due := w.watched(listed, now)
	jobs, err := w.app.finder().WithControllers(ctx, due)
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
	return answer{open: open, err: unlessStale(selection.Refresh(ctx, jobs, false))}
}

// unlessStale is nil for an error of a query, which listings show otherwise: jobs that
// were not queried are stale.
func unlessStale(err error) error {
	if isA[*control.QueryError](err) || errors.Is(err, control.ErrPaused) || errors.Is(err, remote.ErrUnreachable) {
		return nil
	}
	return err
}

// watched counts the listed jobs that are watched, and returns those whose target is
// to be tried now.
func (w *jobWatch) watched(listed []job.Job, now time.Time) (open int, due []job.Job) {
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
func (w *jobWatch) noteUnusable(jobs []selection.Handle, now time.Time) (isAnyUsable bool) {
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
func (w *jobWatch) print(ctx context.Context) error {
	for {
		events, err := w.store.Events(ctx, w.cursor)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, event := range events {
			if w.isWatched(event) {
				if err := w.printEvent(ctx, event); err != nil {
					return err
				}
			}
			w.cursor = event.Sequence
		}
	}
}

func (w *jobWatch) isWatched(event job.Event) bool {
	return (w.app.target == "" || event.Target == w.app.target) && (len(w.tags) == 0 || w.tags[event.Tag])
}

func (w *jobWatch) printEvent(ctx context.Context, event job.Event) error {
	show := w.printLine
	if w.app.json {
		show = func(event job.Event) error { return terminal.JSON(w.app.stdout, event) }
	}
	if err := show(event); err != nil {
		return fmt.Errorf("printing an event: %w", err)
	}
	return w.hooks.Run(ctx, w.app.stderr, event)
}

// printLine prints an event for people.
func (w *jobWatch) printLine(event job.Event) error {
	word := ""
	if event.Detail != "" {
		word = event.Detail.Word()
	}
	line := fmt.Sprintf("%s  %s/%s  %s  %s  %s", terminal.Clock(event.Observed), terminal.OrDash(event.Target), terminal.OrDash(cmp.Or(event.ID, event.Tag)),
		event.Kind, terminal.OrDash(word), terminal.AtMost(oneLine(event.Reason), terminal.LongestCell))
	_, err := fmt.Fprintln(w.app.stdout, strings.TrimRight(line, " "))
	return err
}
