// Package follow follows recorded jobs, whichever process queries them.
package follow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	"unique"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// lookAtAll is how often a wait reads all its jobs, with or without events.
const lookAtAll = time.Minute

// readAtOnce is how many jobs a wait reads at once, which bounds the memory for it.
const readAtOnce = 256

// Jobs are jobs on record that somebody waits for. They keep little of each, since there
// may be tens of thousands.
type Jobs struct {
	store       *jobstore.Store
	target      string
	now         func() time.Time
	isUnqueried func(*job.Job) bool

	jobs      map[string]*followedJob // by tag
	order     []string                // of the tags; some may not be followed any more
	unqueried []string                // tags of jobs that were never queried since their submit command
	seen      int64                   // the last event that was read
	lookedAt  time.Time               // when all were read last; zero if they never were
}

// New returns no jobs of a target yet. IsUnqueried reports whether all that is known of a
// job comes from its submit command.
func New(store *jobstore.Store, target string, now func() time.Time, isUnqueried func(*job.Job) bool) *Jobs {
	return &Jobs{store: store, target: target, now: now, isUnqueried: isUnqueried, jobs: map[string]*followedJob{}}
}

// A followedJob is the known state of one job.
type followedJob struct {
	shown        unique.Handle[shownState]
	missingCount int
}

// A shownState is a state and the scheduler's word for it.
type shownState struct {
	detail job.Detail
	native string
}

func shownOf(job *job.Job) unique.Handle[shownState] {
	return unique.Make(shownState{job.Detail, job.Native})
}

// FromNow makes later jobs start with their currently recorded state.
func (f *Jobs) FromNow(ctx context.Context) error {
	last, err := f.store.LastEvent(ctx)
	f.seen, f.lookedAt = last, f.now()
	return err
}

// Count returns how many there are.
func (f *Jobs) Count() int { return len(f.jobs) }

// Add follows a job from now on.
func (f *Jobs) Add(j *job.Job) {
	if f.jobs[j.Tag] != nil {
		return
	}
	f.jobs[j.Tag] = &followedJob{shownOf(j), j.MissingCount}
	f.order = append(f.order, j.Tag)
	if f.isUnqueried(j) {
		f.unqueried = append(f.unqueried, j.Tag)
	}
}

// HasUnqueried reports whether all that is known of one of the jobs comes from its submit
// command.
func (f *Jobs) HasUnqueried(ctx context.Context) (bool, error) {
	for size := 1; len(f.unqueried) > 0; size = readAtOnce {
		some := f.unqueried[:min(size, len(f.unqueried))]
		isOpen := map[string]bool{}
		err := f.store.EachBrief(ctx, some, func(job *job.Job) {
			isOpen[job.Tag] = f.jobs[job.Tag] != nil && f.isUnqueried(job)
		})
		if err != nil {
			return false, err
		}
		some = slices.DeleteFunc(slices.Clone(some), func(tag string) bool { return !isOpen[tag] })
		f.unqueried = append(some, f.unqueried[min(size, len(f.unqueried)):]...)
		if len(some) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// Has reports whether the job of a tag is followed.
func (f *Jobs) Has(tag string) bool { return f.jobs[tag] != nil }

// Tags returns the tags of the jobs, in no order.
func (f *Jobs) Tags() []string { return slices.Collect(maps.Keys(f.jobs)) }

// IsNews reports whether any event was recorded since the last look.
func (f *Jobs) IsNews(ctx context.Context) (bool, error) {
	last, err := f.store.LastEvent(ctx)
	return last != f.seen, err
}

// EachChange calls report with each job that changed on record since the last look, as it
// is now and without its submission, and stops following it if report returns true.
func (f *Jobs) EachChange(ctx context.Context, report func(job job.Job, hasMoved bool) (isDone bool)) error {
	last, err := f.store.LastEvent(ctx)
	if err != nil {
		return err
	}
	var touched []string
	if now := f.now(); f.lookedAt.IsZero() || now.Sub(f.lookedAt) >= lookAtAll || now.Before(f.lookedAt) {
		f.lookedAt = now
		touched, err = f.differing(ctx)
	} else {
		touched, last, err = f.touched(ctx, last)
	}
	if err != nil {
		return err
	}
	for some := range slices.Chunk(touched, readAtOnce) {
		if err := f.reportSome(ctx, some, report); err != nil {
			return err
		}
	}
	f.seen = last
	return nil
}

// touched returns the tags of the jobs with events since the last look, and the last
// event.
func (f *Jobs) touched(ctx context.Context, last int64) ([]string, int64, error) {
	var touched []string
	if last != f.seen {
		newest, err := f.store.EachTouched(ctx, f.seen, func(tag string) {
			if f.jobs[tag] != nil {
				touched = append(touched, tag)
			}
		})
		if err != nil {
			return nil, 0, err
		}
		last = max(last, newest)
	}
	// A repeated absence of a job is not an event.
	err := f.store.EachMissing(ctx, f.target, func(job *job.Job) {
		if known := f.jobs[job.Tag]; known != nil && known.missingCount != job.MissingCount {
			touched = append(touched, job.Tag)
		}
	})
	return touched, last, err
}

// differing returns the tags of the jobs that have changed, or that may be over without an
// end.
func (f *Jobs) differing(ctx context.Context) ([]string, error) {
	f.order = slices.DeleteFunc(f.order, func(tag string) bool { return f.jobs[tag] == nil })
	var differing []string
	found := 0
	err := f.store.EachBrief(ctx, f.order, func(j *job.Job) {
		found++
		known := f.jobs[j.Tag]
		isPlain := !j.Missing && j.Successor == "" && j.Phase == job.PhaseSubmitted
		if !isPlain || shownOf(j) != known.shown {
			differing = append(differing, j.Tag)
		}
	})
	if err == nil && found < len(f.order) {
		err = fmt.Errorf("looking up %d jobs, %d on record: %w", len(f.order), found, jobstore.ErrNotFound)
	}
	return differing, err
}

// reportSome calls report with some jobs.
func (f *Jobs) reportSome(ctx context.Context, tags []string, report func(job job.Job, hasMoved bool) (isDone bool)) error {
	recorded, err := f.store.ByTags(ctx, tags)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		j, isRecorded := recorded[tag]
		if !isRecorded {
			return fmt.Errorf("looking up submission %s: %w", tag, jobstore.ErrNotFound)
		}
		known := f.jobs[tag]
		if known == nil {
			continue // it was reported already
		}
		now := followedJob{shownOf(&j), j.MissingCount}
		hasMoved := now.shown != known.shown
		*known = now
		if report(j, hasMoved) {
			delete(f.jobs, j.Tag)
		}
	}
	return nil
}
