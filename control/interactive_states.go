package control

import (
	"context"
	"fmt"
	"sync"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
)

// A follower records what the parsers see of an interactive job while its process runs:
// its id as soon as that is known, or the tag of the submission if nothing gives it an
// id, and each change of its state.
type follower struct {
	ctx       context.Context // of the records, which outlive a cancellation
	attendant *attendant
	prepared  *prepared
	changed   func(job.Job) // may be nil

	lock sync.Mutex
	job  job.Job // as it was recorded; its ID is empty before that
	err  error   // of recording; nothing more is recorded after one
}

// isAccepted reports whether the job is recorded; the lock must be held while the
// process runs.
func (f *follower) isAccepted() bool { return f.job.ID != "" }

// isKnown reports whether the job is recorded, or kept beside the record; as isAccepted.
func (f *follower) isKnown() bool { return f.isAccepted() || isKept(f.err) }

// started records a job that nothing will give another id than its tag.
func (f *follower) started() {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !namesJob(f.prepared.submit) {
		f.accept(f.prepared.tag, job.Running, "")
	}
}

// progress looks at what the parsers have left. It reports whether the job runs;
// that it has failed before it ran is an error (rm-format 3.8).
func (f *follower) progress(recent func() string) (running bool, err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	id := f.prepared.job.Text(attribute.FieldName)
	seen := f.seen()
	if seen == job.Failed && f.prepared.submit.WaitForID && f.prepared.submit.KeepOpen && f.job.Detail.Primary() != job.Running {
		err = fmt.Errorf("its output says that the job is %s", seen)
	}
	switch {
	case f.err != nil:
	case !f.isAccepted() && id != "":
		f.accept(id, f.atFirst(seen), evidence(recent()))
	case f.isAccepted() && seen != "" && transition.Next(f.job.Detail, seen) != f.job.Detail:
		job, observeErr := f.attendant.store.Observe(f.ctx, f.prepared.tag, job.Observation{
			Detail: seen, Observed: f.attendant.now(), Source: f.prepared.submit.Name, Evidence: evidence(recent()), Origin: originOf(f.prepared.job),
		})
		f.took(job, observeErr)
	}
	return seen == job.Running || seen.Ended(), err
}

// processes records the job's processes that the output names. An error of that does
// not keep the job from running.
func (f *follower) processes(changed []job.Process) {
	if err := f.attendant.store.RecordProcesses(f.ctx, f.prepared.tag, changed); err != nil {
		f.attendant.log.Warn("the processes of the job are not on record", "error", err)
	}
}

// seen is the state that the parsers have left, empty if they have left none.
func (f *follower) seen() job.Detail {
	detail, known := job.ParseDetail(attribute.Text(f.prepared.job.Value()))
	if !known || detail == job.Undetermined {
		return ""
	}
	return detail
}

// told is the state that the parsers have left, once the process has ended.
func (f *follower) told() job.Detail {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.seen()
}

// atFirst is the state of a job whose id has just been seen. Where parsers say when it
// runs, it does not run before (rm-format 4.5).
func (f *follower) atFirst(seen job.Detail) job.Detail {
	switch submit := f.prepared.submit; {
	case seen != "" && (submit.KeepOpen || seen != job.Submitted):
		return seen
	case submit.KeepOpen && inspect.MaySet(submit, attribute.FieldValue):
		return job.Submitted
	}
	return job.Running
}

// finally records the job if that was not done before.
func (f *follower) finally() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !f.isAccepted() && f.err == nil {
		id := f.prepared.job.Text(attribute.FieldName)
		if id == "" {
			id = f.prepared.tag
		}
		f.accept(id, f.atFirst(f.seen()), "")
	}
	return f.err
}

func (f *follower) accept(id string, detail job.Detail, printed string) {
	acceptance := f.attendant.acceptance(f.prepared, id, &command.Result{Started: f.attendant.now(), Stdout: printed})
	acceptance.Detail = detail
	job, err := f.attendant.accepted(f.ctx, f.prepared.tag, acceptance)
	f.took(job, err)
}

// took takes over what was recorded, and tells it.
func (f *follower) took(job job.Job, err error) {
	if err != nil {
		f.err = err
		return
	}
	f.job = job
	if f.changed != nil {
		f.changed(job)
	}
}

// evidenceBytes is how much of the output is kept of what a state was seen in.
const evidenceBytes = 1024

// evidence is the end of an output.
func evidence(printed string) string {
	return printed[max(0, len(printed)-evidenceBytes):]
}
