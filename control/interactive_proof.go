package control

import (
	"fmt"

	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// unproven returns why a process that ended with exit code 0 does not prove that the program
// of its job has run and succeeded; nil if it does. Clients of schedulers may end so although
// they ran nothing. What the parsers find out of a program that runs, they must have found.
func (f *follower) unproven() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	submit := f.prepared.submit
	switch {
	case jobFact(f.prepared.env, exitCodeFact) != "":
	case !f.hasRun && inspect.SetsState(submit, string(job.Running)):
		return fmt.Errorf("%s exited with code 0, but its output does not show that the program ran", submit.Name)
	case inspect.MayRead(submit, submission.AttributeJobPrefix+exitCodeFact):
		return fmt.Errorf("%s exited with code 0, but its output does not show how the program ended", submit.Name)
	}
	return nil
}

// exitCodeFact is the fact by which parsers report the exit code of the program.
const exitCodeFact = "exitCode"

// provesRun reports whether a state that the parsers found means that the program ran.
func provesRun(state job.Detail) bool {
	return state.Primary() == job.Running || state.Primary() == job.Completed && state != job.Failed && state != job.Canceled
}
