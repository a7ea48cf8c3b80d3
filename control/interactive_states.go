package control

import (
	"context"
	"fmt"
	"sync"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/proof"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
)

// A follower records what the parsers find about an interactive job during its run: its id, or
// the tag of the submission for jobs without an id, and each change of its state.
type follower struct {
	ctx       context.Context // of the records, which outlive a cancellation
	attendant *attendant
	prepared  *prepared
	changed   func(job.Job) // may be nil

	lock   sync.Mutex
	job    job.Job // the recorded job; its ID is empty before
	hasRun bool    // the parsers found the state of a running or ended job
	err    error   // of recording; nothing more is recorded after one
}

// isAccepted reports whether the job is recorded; the lock must be held while the
// process runs.
func (f *follower) isAccepted() bool { return f.job.ID != "" }

// isKnown reports whether the job is recorded, or kept next to the record; as isAccepted.
func (f *follower) isKnown() bool { return f.isAccepted() || isKept(f.err) }

// started records a job under the tag of its submission, which serves as its id.
func (f *follower) started() {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !namesJob(f.prepared.submit) {
		f.accept(f.prepared.tag, job.Running, "")
	}
}

// progress records the findings of the parsers. It reports whether the job runs; a failure
// before that is an error (rm-format 3.8).
func (f *follower) progress(recent func() string) (running bool, err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	id, _ := printedID(f.prepared.job)
	state := f.parsedState()
	f.hasRun = f.hasRun || proof.IsOfRun(state)
	if state == job.Failed && f.prepared.submit.WaitForID && f.prepared.submit.KeepOpen && f.job.Detail.Primary() != job.Running {
		err = fmt.Errorf("its output says that the job is %s", state)
	}
	switch {
	case f.err != nil:
	case !f.isAccepted() && id != "":
		f.accept(id, f.atFirst(state), evidence(recent()))
	case f.isAccepted() && state != "" && transition.Next(f.job.Detail, state) != f.job.Detail:
		job, observeErr := f.attendant.store.Observe(f.ctx, f.prepared.tag, job.Observation{
			Detail: state, Observed: f.attendant.now(), Source: f.prepared.submit.Name, Evidence: evidence(recent()), Origin: originOf(f.prepared.job),
		})
		f.remember(job, observeErr)
	}
	return state == job.Running || state.Ended(), err
}

// processes records the job's processes that the output names. If that fails, the job
// still runs.
func (f *follower) processes(changed []job.Process) {
	if err := f.attendant.store.RecordProcesses(f.ctx, f.prepared.tag, changed); err != nil {
		f.attendant.log.Warn("recording the processes of the job failed", "error", err)
	}
}

// parsedState is the state that the parsers have found, or "".
func (f *follower) parsedState() job.Detail {
	detail, known := job.ParseDetail(attribute.Text(f.prepared.job.Value()))
	if !known || detail == job.Undetermined {
		return ""
	}
	return detail
}

// finalState is parsedState once the process has ended.
func (f *follower) finalState() job.Detail {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.parsedState()
}

// unproven returns why the end of the process does not prove the end of the job.
func (f *follower) unproven(result *command.Result) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	return proof.Missing(f.prepared.submit, f.prepared.env, result, f.hasRun)
}

// atFirst returns the state of a job whose id was just found. Where parsers say when the
// job runs, it does not run before (rm-format 4.5).
func (f *follower) atFirst(state job.Detail) job.Detail {
	switch submit := f.prepared.submit; {
	case state != "" && (submit.KeepOpen || state != job.Submitted):
		return state
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
		id, _ := printedID(f.prepared.job)
		if id == "" {
			id = f.prepared.tag
		}
		f.accept(id, f.atFirst(f.parsedState()), "")
	}
	return f.err
}

func (f *follower) accept(id string, detail job.Detail, printed string) {
	acceptance := f.attendant.acceptance(f.prepared, id, &command.Result{Started: f.attendant.now(), Stdout: printed})
	acceptance.Detail = detail
	job, err := f.attendant.accepted(f.ctx, f.prepared.tag, acceptance)
	f.remember(job, err)
}

// remember keeps the recorded job and reports it.
func (f *follower) remember(job job.Job, err error) {
	if err != nil {
		f.err = err
		return
	}
	f.job = job
	if f.changed != nil {
		f.changed(job)
	}
}

// evidenceBytes bounds the output that is recorded with a state.
const evidenceBytes = 1024

// evidence returns the end of an output.
func evidence(printed string) string {
	return printed[max(0, len(printed)-evidenceBytes):]
}
