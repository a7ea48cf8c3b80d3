package main

import (
	"context"
	"errors"
	"sync"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// addOnEnd adds the flag of commands that wait for the end of jobs.
func addOnEnd(c *cobra.Command, line *string) {
	c.Flags().StringVar(line, "on-end", "", "run the shell command `CMD` when a job has ended, with what is known in RMCTL_JOB_…")
}

// endHooks runs the command of --on-end for jobs that are waited for: beside the wait, one
// after the other, once for each job.
type endHooks struct {
	app   *app
	line  string
	ended chan *job.Job
	done  sync.WaitGroup
	lock  sync.Mutex
	known map[string]bool // jobs that have ended
}

// hookEnds begins to run the command, which may be empty, for at most as many jobs. Who waits
// calls finish at last. A command goes on when the wait is over, and ends with the context.
func (a *app) hookEnds(ctx context.Context, line string, most int) *endHooks {
	h := &endHooks{app: a, line: line, ended: make(chan *job.Job, most), known: map[string]bool{}}
	h.done.Go(func() {
		for job := range h.ended {
			h.run(ctx, *job)
		}
	})
	return h
}

// see has the command run for a job if that has ended and was not seen so before.
func (h *endHooks) see(job job.Job) {
	if h.line == "" || !job.Detail.Ended() {
		return
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	key := job.Target + "/" + job.ID + "/" + job.Tag
	if !h.known[key] && len(h.known) < cap(h.ended) {
		h.known[key] = true
		h.ended <- &job
	}
}

// finish waits for the commands that are to be run.
func (h *endHooks) finish() {
	close(h.ended)
	h.done.Wait()
}

func (h *endHooks) run(ctx context.Context, job job.Job) {
	event, err := h.app.endOf(ctx, job)
	if err == nil {
		err = runHook(ctx, h.app.stderr, h.line, event)
	}
	if err != nil && ctx.Err() == nil {
		hookFailed(h.app.stderr, job.ID, err)
	}
}

// endOf returns the event with which a job has ended, as rmctl watch would tell it.
func (a *app) endOf(ctx context.Context, j job.Job) (job.Event, error) {
	end := job.Event{
		Tag: j.Tag, Target: j.Target, ID: j.ID, Kind: job.EventState, Observation: j.Observation,
	}
	if j.Tag == "" {
		return end, nil // it is not on record, and so has no history
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return end, err
	}
	return end, store.History(ctx, j.Tag, func(event job.Event) error {
		believed := event.Kind == job.EventState || event.Kind == job.EventAccepted
		if believed && event.Detail.Ended() {
			end = event
		}
		return nil
	})
}

// hookEnd runs the command of --on-end for the job of a submission, if it was made and
// has ended.
func (a *app) hookEnd(ctx context.Context, line, tag string) error {
	if line == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a request to end rmctl has ended the job, and it is told
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	job, err := store.ByTag(ctx, tag)
	if errors.Is(err, jobstore.ErrNotFound) {
		return nil // what was wrong with it was told
	}
	if err != nil {
		return err
	}
	hooks := a.hookEnds(ctx, line, 1)
	hooks.see(job)
	hooks.finish()
	return nil
}
