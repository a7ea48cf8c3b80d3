// Package proof decides what the output of an interactive job's command proves about its program:
// scheduler commands may exit with 0 without running anything.
package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/job"
)

// ErrMissing means that the output does not prove that the program ran, or how it ended.
var ErrMissing = errors.New("its output does not show")

// exitCodeAttribute is the attribute by which parsers report the exit code of the program.
const exitCodeAttribute = "job.exitCode"

// Missing returns why exit code 0 of a command does not prove that the program of its job ran and
// succeeded, nil if it does. If the parsers report the start or the end of programs, they must have
// reported it.
func Missing(submit *config.Command, env *attribute.Environment, result *command.Result, hasRun bool) error {
	switch {
	case result.ExitCode != 0, ExitCode(env, result) != nil:
	case !hasRun && inspect.SetsState(submit, string(job.Running)):
		return fmt.Errorf("%s exited with code 0, but %w that the program ran", submit.Name, ErrMissing)
	case inspect.MayRead(submit, exitCodeAttribute), slices.ContainsFunc(submit.ProcessMarks, isOfJob):
		return fmt.Errorf("%s exited with code 0, but %w how the program ended", submit.Name, ErrMissing)
	}
	return nil
}

func isOfJob(mark *config.ProcessMark) bool { return mark.IsJob }

// signaled is the exit code of a shell for a program that a signal ended, without the signal.
const signaled = 128

// ExitCode returns the exit code of the program, nil if the output does not contain it.
func ExitCode(env *attribute.Environment, result *command.Result) *int {
	switch {
	case result.Ended == nil:
		return job.Number(env.Text(exitCodeAttribute))
	case result.Ended.Signal != nil:
		code := signaled + *result.Ended.Signal
		return &code
	}
	return result.Ended.ExitCode
}

// IsOfRun reports whether a state from the parsers means that the program ran.
func IsOfRun(state job.Detail) bool {
	return state.Primary() == job.Running || state.Primary() == job.Completed && state != job.Failed && state != job.Canceled
}
