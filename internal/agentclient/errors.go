package agentclient

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrPeer is wrapped by errors of Options.CheckPeer.
var ErrPeer = errors.New("the process that connected is not the agent")

var (
	errClosed    = errors.New("the session is closed")
	errShutDown  = errors.New("the agent shut down")
	errNoProgram = errors.New("no agent program given")
	errHungUp    = errors.New("the agent closed the connection")
	errElements  = fmt.Errorf("the agent announced more than %d elements", mostElements)
)

// A RefusedError is the agent's refusal of a command.
type RefusedError struct {
	Command string // such as SUBMIT_JOB
	Code    int
	Text    string // printable
}

// Error returns the agent's text, or its code if it gave no text.
func (e *RefusedError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("the agent refused %s: error %d", e.Command, e.Code)
	}
	return e.Text
}

// An UnidentifiedError reports a submission that the agent accepted without announcing the job. The id of
// the job is unknown.
type UnidentifiedError struct{ Submission string }

// Error says that the job exists but its id is unknown.
func (e *UnidentifiedError) Error() string {
	return fmt.Sprintf("the agent accepted submission %s but did not say which job it is", e.Submission)
}

// A NoAnswerError reports a command without an answer within the limit.
type NoAnswerError struct {
	Command string
	Limit   time.Duration
}

// Error names the command and the limit.
func (e *NoAnswerError) Error() string {
	return fmt.Sprintf("no answer to %s from the agent within %s", e.Command, e.Limit)
}

// An UnsupportedError reports an operation that the protocol or this agent does not support.
type UnsupportedError struct{ What string }

// Error names the unsupported operation.
func (e *UnsupportedError) Error() string { return "the agent does not support " + e.What }

// An UnknownJobError reports a job that the agent has not announced, or has removed.
type UnknownJobError struct{ Job string }

// Error names the job.
func (e *UnknownJobError) Error() string { return fmt.Sprintf("the agent knows no job %q", e.Job) }

// An EndedError reports a session that ended or did not start.
type EndedError struct {
	Cause error
	Lines []string // the last lines that the agent wrote to stderr, printable
}

// Error returns the cause and the agent's last lines.
func (e *EndedError) Error() string {
	text := "session with the agent ended: " + e.Cause.Error()
	if len(e.Lines) > 0 {
		text += "\n" + strings.Join(e.Lines, "\n")
	}
	return text
}

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.Cause }
