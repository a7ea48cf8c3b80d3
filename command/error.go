package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
)

// A Failure is how a command failed.
type Failure string

// The failures.
const (
	NotStarted       Failure = "not started"        // the program is missing, or could not be run
	BadExit          Failure = "bad exit"           // it exited with a code other than 0
	ParserFailed     Failure = "parser failed"      // its output could not be read, or the definition threw an error
	TimedOut         Failure = "timed out"          // it ran longer than it may, or could not start in time
	canceled         Failure = "canceled"           // the caller gave up
	Lost             Failure = "connection lost"    // how it ended is not known
	JobFailed        Failure = "job failed"         // its parsers say that the job will never run
	preLaunchFailed  Failure = "pre-launch failed"  // a command that runs before it failed
	postLaunchFailed Failure = "post-launch failed" // it did its work, but a command that runs after it failed
	notResolvable    Failure = "not resolvable"     // its texts or its parsers cannot be used
)

// An Error names the command that failed and the reason.
type Error struct {
	Command   *config.Command
	Arguments []string
	Failure   Failure
	ExitCode  int                // for BadExit
	Unstarted bool               // for TimedOut and a canceled request: the process had not started yet
	Outcome   config.OutcomeKind // as the definition classifies it; empty if it does not
	Output    string             // the end of its standard error, otherwise of its standard output
	Err       error
}

// Error returns the failure and the output of the command, which may have several lines.
func (e *Error) Error() string {
	output := strings.TrimSpace(e.Output)
	if e.isAnswer() && output != "" {
		return output
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %q", e.Command.Element, e.Command.Name)
	if len(e.Arguments) > 0 {
		fmt.Fprintf(&text, " (%s)", e.Arguments[0])
	}
	switch e.Failure {
	case BadExit:
		fmt.Fprintf(&text, " exited with code %d", e.ExitCode)
	case ParserFailed:
		text.WriteString(": reading its output")
	case TimedOut:
		if e.Unstarted {
			text.WriteString(" was not started in time")
		} else {
			text.WriteString(" took too long and was ended")
		}
	case canceled:
		text.WriteString(" was given up")
	case Lost:
		text.WriteString(": how it ended is not known")
	case JobFailed:
		text.WriteString(" was ended: its job has failed")
	case preLaunchFailed:
		text.WriteString(" was not run, since a command before it failed")
	case postLaunchFailed:
		text.WriteString(" was run, but a command after it failed")
	}
	if e.Err != nil {
		fmt.Fprintf(&text, ": %v", e.Err)
	}
	if output != "" {
		text.WriteString(":\n")
		text.WriteString(output)
	}
	return text.String()
}

// isAnswer reports whether the connection itself answered the command, in words for users.
func (e *Error) isAnswer() bool {
	return e.Failure == BadExit && len(e.Arguments) > 0 && strings.HasPrefix(e.Arguments[0], "@")
}

// Unwrap returns the cause, such as a *remote.StartError or a tokenizer's error.
func (e *Error) Unwrap() error { return e.Err }

// Ambiguous reports whether the command may have had its effect although it failed.
func (e *Error) Ambiguous() bool {
	if e.Outcome == config.Doubtful {
		return true
	}
	switch e.Failure {
	case TimedOut, canceled:
		return !e.Unstarted
	case Lost, ParserFailed, postLaunchFailed:
		return true
	case BadExit:
		return e.Outcome == "" && slices.Contains(endedBySignal, e.ExitCode)
	}
	return false
}

// endedBySignal are the exit codes of processes that were ended by the signals HUP, INT, ABRT,
// BUS, KILL, SEGV, PIPE and TERM. Codes of schedulers begin at 152.
var endedBySignal = []int{129, 130, 134, 135, 137, 139, 141, 143}
