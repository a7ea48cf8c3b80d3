package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/jobstore"
)

func newWatch(a *app) *cobra.Command {
	w := &watch{app: a}
	c := &cobra.Command{
		Use:   "watch [JOB...]",
		Short: "Print what happens to jobs, as it happens",
		Long: `watch asks for jobs as often as their definitions let it, and prints each change of
their states on a line: until all jobs that were named have ended, or until it is
interrupted where none was.

Each event has a cursor. With --after it goes on behind one, also after a restart:
nothing is left out, and the events of a job keep their order.`,
		Example: `  rmctl watch --json
  rmctl watch --after 1042 --json 4711
  rmctl watch --on-end 'notify-send "job $RMCTL_JOB_ID: $RMCTL_JOB_STATE"'`,
		RunE: func(c *cobra.Command, arguments []string) error {
			return w.run(c.Context(), arguments, c.Flags().Changed("after"))
		},
	}
	c.Flags().Int64Var(&w.cursor, "after", 0, "print what happened after the event with this cursor; 0 for everything (default: from now on)")
	w.hooks.add(c)
	return c
}

// watch follows jobs by the events of the store, which it feeds by asking.
type watch struct {
	app    *app
	cursor int64
	hooks  hooks

	store *jobstore.Store
	tags  []string // of the jobs that were named
}

// How often a watch looks for what other processes have recorded, and how often
// it has the jobs asked for where their definitions do not say.
const (
	watchPace = 200 * time.Millisecond
	askPace   = 2 * time.Second
)

func (w *watch) run(ctx context.Context, names []string, resumes bool) error {
	if err := w.begin(ctx, names, resumes); err != nil {
		return err
	}
	look, ask := time.NewTicker(watchPace), time.NewTicker(askPace)
	defer look.Stop()
	defer ask.Stop()
	for {
		open, err := w.ask(ctx)
		if err == nil {
			err = w.print(ctx)
		}
		if err != nil || ctx.Err() != nil || open == 0 && len(w.tags) > 0 {
			return unlessInterrupted(ctx, err)
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return unlessInterrupted(ctx, nil)
			case <-ask.C:
				waiting = false
			case <-look.C:
				if err := w.print(ctx); err != nil {
					return unlessInterrupted(ctx, err)
				}
			}
		}
	}
}

// unlessInterrupted is nil where a user ended the watch, which is how one ends.
func unlessInterrupted(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return errors.Join(err, ctx.Err())
}

// begin finds the jobs that were named, and where to begin.
func (w *watch) begin(ctx context.Context, names []string, resumes bool) error {
	var err error
	if w.store, err = w.app.openStore(ctx); err != nil {
		return err
	}
	if !resumes {
		if w.cursor, err = w.store.LastEvent(ctx); err != nil {
			return err
		}
	}
	named, err := w.app.findJobs(ctx, names)
	for _, job := range named {
		if job.Tag == "" {
			return usage("job %s was not submitted through rmctl; rmctl wait waits for such jobs", job.ID)
		}
		w.tags = append(w.tags, job.Tag)
	}
	return err
}

// ask brings the jobs up to date that are watched, and returns how many these
// are. That a scheduler cannot be asked is an event of its jobs.
func (w *watch) ask(ctx context.Context) (open int, err error) {
	listed, err := w.store.List(ctx, jobstore.Filter{Target: w.app.target})
	if err != nil {
		return 0, err
	}
	var jobs []found
	for _, job := range listed {
		if len(w.tags) > 0 && !slices.Contains(w.tags, job.Tag) {
			continue
		}
		controller, err := w.app.controller(ctx, job.Target)
		if err != nil {
			return 0, err
		}
		jobs = append(jobs, found{job, controller})
	}
	err = w.app.refresh(ctx, jobs, false)
	var failed *control.QueryError
	if errors.As(err, &failed) || errors.Is(err, control.ErrPaused) {
		err = nil
	}
	return len(jobs), err
}

// print prints what happened since it was called last, and runs the hooks.
func (w *watch) print(ctx context.Context) error {
	for {
		events, err := w.store.Events(ctx, w.cursor, w.tags...)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, event := range events {
			if w.app.target == "" || event.Target == w.app.target {
				if err := w.tell(ctx, event); err != nil {
					return err
				}
			}
			w.cursor = event.Sequence
		}
	}
}

func (w *watch) tell(ctx context.Context, event jobstore.Event) error {
	var err error
	if w.app.json {
		err = printJSON(w.app.stdout, eventToJSON(event))
	} else {
		_, err = fmt.Fprintf(w.app.stdout, "%s  %s/%s  %s  %s  %s\n", clock(event.Seen), orDash(event.Target), orDash(cmp.Or(event.ID, event.Tag)),
			event.Kind, orDash(string(event.Detail)), atMost(oneLine(event.Reason), longestCell))
	}
	if err != nil {
		return fmt.Errorf("printing an event: %w", err)
	}
	return w.hooks.run(ctx, w.app.stderr, event)
}
