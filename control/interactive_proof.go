package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// errUnproven means that nothing shows that the program of a job has run, and how it ended.
var errUnproven = errors.New("its output does not show")

// unproven returns why a process that ended with exit code 0 does not prove that the program
// of its job has run and succeeded; nil if it does. Clients of schedulers may end so although
// they ran nothing. What the parsers find out of a program that runs, they must have found.
func (f *follower) unproven(ctx context.Context, result *command.Result) error {
	if result.ExitCode != 0 || ctx.Err() != nil || programExit(f.prepared, result) != nil {
		return nil
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	submit := f.prepared.submit
	switch {
	case !f.hasRun && inspect.SetsState(submit, string(job.Running)):
		return fmt.Errorf("%s exited with code 0, but %w that the program ran", submit.Name, errUnproven)
	case inspect.MayRead(submit, submission.AttributeJobPrefix+exitCodeFact), slices.ContainsFunc(submit.ProcessMarks, isOfJob):
		return fmt.Errorf("%s exited with code 0, but %w how the program ended", submit.Name, errUnproven)
	}
	return nil
}

func isOfJob(mark *config.ProcessMark) bool { return mark.IsJob }

// programExit returns the exit code of the program where the output shows it; else nil.
func programExit(p *prepared, result *command.Result) *int {
	switch {
	case result.Ended == nil:
		return job.Number(jobFact(p.env, exitCodeFact))
	case result.Ended.Signal != nil:
		code := signaled + *result.Ended.Signal
		return &code
	}
	return result.Ended.ExitCode
}

// signaled is the exit code of a shell for a program that a signal ended, without the signal.
const signaled = 128

// exitCodeFact is the fact by which parsers report the exit code of the program.
const exitCodeFact = "exitCode"

// provesRun reports whether a state that the parsers found means that the program ran.
func provesRun(state job.Detail) bool {
	return state.Primary() == job.Running || state.Primary() == job.Completed && state != job.Failed && state != job.Canceled
}
