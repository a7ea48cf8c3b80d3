package hooks

import (
	"context"
	"io"
	"sync"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Ends runs the command of --on-end for jobs that a command waits for: during the wait, one
// after the other, once for each job.
type Ends struct {
	store    func(context.Context) (*jobstore.Store, error)
	messages io.Writer
	line     string
	ended    chan *job.Job
	done     sync.WaitGroup
	lock     sync.Mutex
	known    map[string]bool // jobs that have ended
}

// AtEnd returns an Ends for a command, which may be empty, and a maximum number of jobs. Store
// opens the record. The caller calls Finish after the wait. Commands continue after the
// wait, and end with the context.
func AtEnd(ctx context.Context, store func(context.Context) (*jobstore.Store, error), messages io.Writer, line string, most int) *Ends {
	h := &Ends{store: store, messages: messages, line: line, ended: make(chan *job.Job, most), known: map[string]bool{}}
	h.done.Go(func() {
		for job := range h.ended {
			h.run(ctx, *job)
		}
	})
	return h
}

// IsEmpty reports whether there is no command.
func (h *Ends) IsEmpty() bool { return h.line == "" }

// Observe queues the command for a job that has ended, once.
func (h *Ends) Observe(job job.Job) {
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

// Finish waits for all queued commands.
func (h *Ends) Finish() {
	close(h.ended)
	h.done.Wait()
}

func (h *Ends) run(ctx context.Context, job job.Job) {
	event, err := h.endOf(ctx, job)
	if err == nil {
		err = run(ctx, h.messages, h.line, event)
	}
	if err != nil && ctx.Err() == nil {
		reportFailure(h.messages, job.ID, err)
	}
}

// endOf returns the event with which a job has ended, as rmctl watch would print it.
func (h *Ends) endOf(ctx context.Context, j job.Job) (job.Event, error) {
	end := job.Event{
		Tag: j.Tag, Target: j.Target, ID: j.ID, Kind: job.EventState, Observation: j.Observation,
	}
	if j.Tag == "" {
		return end, nil // a job that is not on record has no history
	}
	store, err := h.store(ctx)
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
