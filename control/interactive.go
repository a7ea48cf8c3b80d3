package control

import (
	"cmp"
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/proof"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// Terminal holds the streams of an interactive job.
type Terminal struct {
	Stdin          io.Reader // nil for none
	Stdout, Stderr io.Writer // nil to discard
	// Terminal is the terminal that shows the output. If it is nil, the job has no terminal
	// either.
	Terminal *remote.Terminal
	// Signals are sent to the job's process. If it is nil, and the process runs on this
	// machine without a pseudo-terminal, the process stays in the caller's process group.
	Signals <-chan syscall.Signal
	// Changed gets the job when its id is known, and at each change of state that is
	// recorded while the process runs; may be nil.
	Changed func(job.Job)
}

// RunInteractive runs an interactive job attached to a terminal until its
// process ends, and returns it with its exit code. Its id and its states are
// recorded as soon as the parsers see them. Cancelling ctx ends the process, and
// then the job by the definition's command for that, if it has one and knows the
// job by an id. Of a definition whose command is kept open, at most one process
// may be alive at a time: a second one is an error. A job that its parsers say will
// never run is a *SubmitError.
func (c *Controller) RunInteractive(ctx context.Context, s job.Submission, terminal Terminal) (job.Job, error) {
	s.Terminal = terminal.Terminal != nil
	p, err := c.prepare(ctx, s, true)
	if err != nil {
		return job.Job{}, err
	}
	if err := c.refuseSecond(ctx, p, ""); err != nil {
		return job.Job{}, err
	}
	if err := c.recordIntent(ctx, p); err != nil {
		return job.Job{}, err
	}
	recorded := context.WithoutCancel(ctx)
	if err := c.refuseSecond(ctx, p, p.tag); err != nil { // one that was recorded at the same time
		return job.Job{}, errors.Join(err, c.refused(recorded, p.tag, err), c.unstage(recorded, p.tag, recordOf(p.files)))
	}
	c.open.Store(p.tag, true)
	defer c.open.Delete(p.tag)
	stopFollowing := c.tracked.Follow(recorded, s, c.target)
	follower := &follower{ctx: recorded, attendant: c.attendant, prepared: p, changed: terminal.Changed}
	result, runErr := command.Run(ctx, c.connection, command.Request{
		Command:  p.submit,
		Scope:    p.scope(),
		Outcomes: c.definition.Outcomes,
		Types:    c.types,
		Origins:  originsOf(p.submit),
		Attach: &command.Attachment{
			Stdin: terminal.Stdin, Stdout: terminal.Stdout, Stderr: terminal.Stderr, Terminal: terminal.Terminal,
			Signals: terminal.Signals, Started: follower.started, Progress: follower.progress, Processes: follower.processes,
		},
	}, p.invocation)
	stopFollowing()
	defer c.tracked.Observe(recorded, c.target)
	c.cleanUp(recorded, p.tag, p.files)
	if result.Unsignaled != nil {
		c.log.Warn("sending a signal to the job failed", "error", result.Unsignaled)
	}
	return c.ended(ctx, follower, result, runErr)
}

// ended records how the process of an interactive job has ended.
func (c *attendant) ended(ctx context.Context, f *follower, result *command.Result, runErr error) (job.Job, error) {
	recorded, p := f.ctx, f.prepared
	unproven := f.unproven(result)
	if !f.isKnown() && neverRan(ctx, p, f.finalState(), result, errors.Join(runErr, unproven)) {
		if runErr == nil {
			runErr = &command.Error{Command: p.submit, Arguments: result.Invocation.Arguments, Failure: command.BadExit,
				ExitCode: result.ExitCode, Outcome: result.Outcome, Output: printed(result), Err: unproven}
		}
		return job.Job{}, &SubmitError{Tag: p.tag, Err: errors.Join(runErr, c.refused(recorded, p.tag, runErr))}
	}
	unrecorded := f.finally()
	if unrecorded != nil && !f.isKnown() {
		return job.Job{}, errors.Join(runErr, unrecorded)
	}
	if isKept(unrecorded) {
		unrecorded = nil // the end is recorded after it, or also kept, with the reason
	}
	if result.ExitCode < 0 {
		return c.outOfSight(ctx, p.tag, runErr)
	}
	job, err := c.recordEnd(recorded, p.tag, c.ending(ctx, f, result, unproven))
	if ctx.Err() != nil && err == nil {
		err = c.endNamed(recorded, job)
	}
	return job, errors.Join(runErr, unrecorded, err)
}

// neverRan reports whether a process without an observed job leaves no job behind. A kept-open
// command that fails without naming a job was refused. So was a process whose output reports
// that the job failed, or does not prove that it ran. Any other process is the job itself.
func neverRan(ctx context.Context, p *prepared, reported job.Detail, result *command.Result, err error) bool {
	var failed *command.Error
	if errors.As(err, &failed) && (!failed.Ambiguous() || failed.Failure == command.JobFailed) {
		return true
	}
	if ctx.Err() != nil || !p.submit.WaitForID {
		return false
	}
	return errors.Is(err, proof.ErrMissing) || (p.submit.KeepOpen || reported == job.Failed) && result.ExitCode > 0
}

// endNamed cancels a job whose process was ended: a job that waits in a queue may stay
// there without its terminal. A job without an id cannot be canceled.
func (c *attendant) endNamed(ctx context.Context, j job.Job) error {
	if j.ID == j.Tag || c.definition.Command(config.TerminateJob) == nil {
		return nil
	}
	alive := j
	alive.Detail = job.Running // as its scheduler may still know it
	err := c.Operate(ctx, Cancel, alive)
	var unknown *NotFoundError
	var over *EndedError
	if errors.As(err, &unknown) || errors.As(err, &over) {
		return nil
	}
	return err
}

// outOfSight records that the connection to a job was lost: its end was not observed, and only
// a scheduler can still report it. If the caller has canceled, the job is canceled.
func (c *attendant) outOfSight(caller context.Context, tag string, lost error) (job.Job, error) {
	ctx := context.WithoutCancel(caller)
	job, err := c.store.ByTag(ctx, tag)
	switch {
	case err != nil:
	case c.isKnownByProcess(job):
		job, err = c.lose(ctx, tag, lost.Error())
	default:
		if err = c.store.MarkStale(ctx, tag, lost.Error(), c.now()); err == nil {
			job, err = c.store.ByTag(ctx, tag)
		}
	}
	if caller.Err() != nil && job.ID != "" {
		err = errors.Join(err, c.endNamed(ctx, job))
	}
	return job, errors.Join(lost, err)
}

// ending returns the state of a job according to the end of its local process.
func (c *attendant) ending(ctx context.Context, f *follower, result *command.Result, unproven error) job.Observation {
	p := f.prepared
	ending := job.Observation{Detail: endOf(result.ExitCode), Reason: jobFact(p.env, "reason"), ExitCode: &result.ExitCode, Observed: c.now(), Source: p.submit.Name}
	if ctx.Err() != nil {
		ending.Detail = job.Canceled
		return ending
	}
	if unproven != nil {
		ending.ExitCode, ending.Detail, ending.Reason = nil, job.Failed, cmp.Or(ending.Reason, unproven.Error())
	}
	if code := proof.ExitCode(p.env, result); code != nil {
		ending.ExitCode, ending.Detail = code, endOf(*code)
	}
	switch reported := f.finalState(); {
	case reported == job.Canceled || reported == job.Failed:
		ending.Detail = reported // its output is more precise than a code
	case reported.Primary() == job.Submitted && ending.Detail == job.Failed && !c.isKnownByProcess(f.job):
		// It never ran. Its command may not have printed that the job was canceled.
		if found, err := c.query(f.ctx, f.job); err == nil && found.Detail == job.Canceled {
			ending.Detail = job.Canceled
		}
	}
	return ending
}

// endOf returns the state of a job whose program exited with a code.
func endOf(code int) job.Detail {
	if code != 0 {
		return job.Failed
	}
	return job.Completed
}
