package coalloc

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// shortestPoll is the shortest time between two queries of a target; the controller limits them further.
const shortestPoll = time.Second

// A followed job is the job of a part, with the result of its last query.
type followed struct {
	job  job.Job
	seen barrier.JobSeen // what the machine knows
}

// follow adds the job of a part to the queries of the place.
func (p *place) follow(serial int, j job.Job) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.jobs[serial] = &followed{job: j}
	p.nudged()
}

// nudge makes the next query soon.
func (p *place) nudge() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.nudged()
}

// nudged is nudge with the mutex held.
func (p *place) nudged() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// watch queries all jobs of the place with one query, and passes changes on.
func (p *place) watch(ctx context.Context, enqueue func(barrier.Input)) {
	pause := time.NewTimer(shortestPoll)
	defer pause.Stop()
	for {
		p.mutex.Lock()
		l, serials := p.current, slices.Sorted(maps.Keys(p.jobs))
		jobs := make([]job.Job, len(serials))
		for i, serial := range serials {
			jobs[i] = p.jobs[serial].job
		}
		p.mutex.Unlock()
		if l != nil && len(jobs) > 0 {
			updated, err := l.controller.Update(ctx, jobs, false)
			p.noteLost(err)
			for i, j := range updated {
				p.see(serials[i], j, enqueue)
			}
		}
		pause.Reset(shortestPoll)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
			continue
		case <-p.news:
		}
		// Several changes often come together.
		select {
		case <-ctx.Done():
			return
		case <-time.After(shortestPoll / 10):
		}
	}
}

// see passes on the result of a query for a job.
func (p *place) see(serial int, j job.Job, enqueue func(barrier.Input)) {
	now := seenOf(serial, j)
	p.mutex.Lock()
	known := p.jobs[serial]
	isNew := known != nil && (!isSame(known.seen, now) || now.State == barrier.JobMissing && j.MissingCount != known.job.MissingCount)
	if known != nil {
		known.job = j
	}
	if isNew {
		known.seen = now
	}
	if now.State == barrier.JobEnded {
		delete(p.jobs, serial)
	}
	p.mutex.Unlock()
	if isNew && now.State != barrier.JobUnread {
		enqueue(now)
	}
}

// seenOf converts the state of a job to an input of the machine.
func seenOf(serial int, j job.Job) barrier.JobSeen {
	seen := barrier.JobSeen{Serial: serial, Reason: j.Reason}
	switch {
	case j.Detail.Ended():
		seen.State, seen.Final, seen.ExitCode, seen.Signal = barrier.JobEnded, true, j.ExitCode, j.Signal
	case j.Successor != "", j.Phase == job.PhaseDismissed:
		seen.State, seen.Final = barrier.JobEnded, true
	case j.Missing:
		seen.State = barrier.JobMissing
	case j.Stale || j.Phase != job.PhaseSubmitted:
		seen.State = barrier.JobUnread
	case j.Detail.Primary() == job.Submitted:
		seen.State = barrier.JobQueued
	case j.Detail.Primary() == job.Running, j.Detail.Primary() == job.Suspended:
		seen.State = barrier.JobRunning
	}
	return seen
}

// isSame reports whether two readings are equal.
func isSame(a, b barrier.JobSeen) bool {
	return a.State == b.State && a.Final == b.Final && a.Reason == b.Reason
}

// operate runs an operation on the job with a tag.
func (p *place) operate(ctx context.Context, store *jobstore.Store, operation control.Operation, tag string) error {
	j, err := store.ByTag(ctx, tag)
	if err != nil {
		return err
	}
	l, err := p.anyLink(ctx)
	if err != nil {
		return err
	}
	err = l.controller.Operate(ctx, operation, j)
	p.noteLost(err)
	if operation == control.Cancel && isGone(err) {
		// The record has to show the end, too.
		if _, unseen := l.controller.Status(ctx, j, true); unseen != nil {
			p.log.Warn("could not record the end of a canceled job", "target", p.name, "job", j.ID, "error", unseen)
		}
	}
	return err
}

// isGone reports whether an operation failed because the scheduler no longer knows the job.
func isGone(err error) bool {
	var missing *control.NotFoundError
	var ended *control.EndedError
	return errors.As(err, &missing) || errors.As(err, &ended)
}
