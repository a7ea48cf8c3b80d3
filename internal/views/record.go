package views

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
)

// maxRecorded is how many jobs of one target are shown from the record, the newest
// ones: who submitted more looks for the others by id.
const maxRecorded = 20_000

// wholeAgain is how long only those jobs are read to which something happens. That
// jobs were pruned is no event, nor that newer jobs have taken their places.
const wholeAgain = 10 * time.Minute

// A record gives a monitor the jobs of one target that are on record. It reads all
// of them from time to time, and between those to which something happened. It is
// used by one goroutine.
type record struct {
	store  *jobstore.Store
	target string
	now    func() time.Time
	whole  time.Time          // when all were read
	jobs   map[string]job.Job // by tag; nil before the first reading
	last   int64              // number of the newest event that jobs reflect

	definition *config.Definition
	submitted  map[string][]model.Attribute // what was submitted, by tag

	source    source
	processes map[string][]job.Process // that the source knew of jobs, by tag
	rested    time.Time                // when it may be queried for them again

	shown atomic.Int64 // number of the newest event that the model reflects
}

// read returns the jobs to show, by tag, and their processes. It is for
// [monitor.Options].
func (r *record) read(ctx context.Context) (map[string]job.Job, map[string][]job.Process, error) {
	r.shown.Store(r.last) // what was read before is in the model
	if err := r.readJobs(ctx); err != nil {
		return nil, nil, fmt.Errorf("read jobs from the record: %w", err)
	}
	if err := r.readSubmissions(ctx); err != nil {
		return nil, nil, fmt.Errorf("read submissions from the record: %w", err)
	}
	processes := map[string][]job.Process{}
	err := r.store.EachProcess(ctx, r.target, func(tag string, p job.Process) error {
		if _, shown := r.jobs[tag]; shown {
			processes[tag] = append(processes[tag], p)
		}
		return nil
	})
	r.addProcesses(ctx, processes)
	return r.jobs, processes, err
}

func (r *record) readJobs(ctx context.Context) error {
	now := r.now()
	if r.jobs != nil && now.Sub(r.whole) < wholeAgain {
		return r.readTouched(ctx)
	}
	last, err := r.store.LastEvent(ctx) // before the jobs: what happens meanwhile is read twice
	if err != nil {
		return err
	}
	newest, err := r.store.List(ctx, jobstore.Filter{Target: r.target, All: true, Limit: maxRecorded})
	if err != nil {
		return err
	}
	open, err := r.store.List(ctx, jobstore.Filter{Target: r.target, Limit: maxRecorded})
	if err != nil {
		return err
	}
	r.jobs, r.last, r.whole = make(map[string]job.Job, len(newest)), last, now
	for _, job := range slices.Concat(newest, open) {
		r.add(job)
	}
	return nil
}

// readTouched reads the jobs to which something happened.
func (r *record) readTouched(ctx context.Context) error {
	var tags []string
	last, err := r.store.EachTouched(ctx, r.last, func(tag string) { tags = append(tags, tag) })
	if err != nil {
		return err
	}
	touched, err := r.store.ByTags(ctx, tags)
	if err != nil {
		return err
	}
	// That a doubt is over is no event.
	open, err := r.store.List(ctx, jobstore.Filter{Target: r.target, Limit: maxRecorded})
	if err != nil {
		return err
	}
	for _, tag := range tags {
		delete(r.jobs, tag) // also one that was pruned meanwhile
	}
	for _, job := range touched {
		r.add(job)
	}
	for _, job := range open {
		r.add(job)
	}
	r.last = last
	return nil
}

// add adds a job unless it never became one, was dismissed or lost its id to another.
func (r *record) add(j job.Job) {
	if j.Target != r.target || j.Phase == job.PhaseRejected || j.Phase == job.PhaseDismissed || j.Successor != "" {
		return
	}
	j.Evidence, j.Origin = "", job.Origin{} // large, and not shown
	r.jobs[j.Tag] = j
}

// Reflected returns the number of the newest event on record that the model reflects for
// certain; 0 while the resource manager is not watched.
func (p *Views) Reflected(name string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, known := p.managers[name]; known && m.watcher != nil {
		return m.watcher.record.shown.Load()
	}
	return 0
}
