package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// pollFailure is how the last query of a target went.
func pollFailure(last jobstore.Poll) error {
	if !last.Paused.IsZero() {
		return fmt.Errorf("%w since %s, after %d failures: %s\nrmctl start asks again", ErrPaused, last.Paused.Format(time.DateTime), last.Failures, last.Error)
	}
	if last.Error != "" {
		return &QueryError{Err: &PolledError{Failure: last.Failure, Text: last.Error}}
	}
	return nil
}

// A PolledError tells how a query failed that was made earlier, by this process or
// another one, and whose result counts still. It matches [remote.ErrUnreachable] where
// that one was not connected, which tells nothing of the connection of who reads it.
type PolledError struct {
	Failure jobstore.PollFailure
	Text    string // of the error then
}

// Error returns what was said of it then.
func (e *PolledError) Error() string { return e.Text }

// Is reports that a query that was not connected is a [remote.ErrUnreachable].
func (e *PolledError) Is(target error) bool {
	return target == remote.ErrUnreachable && e.Failure == jobstore.PollUnreached
}

// wordsOf returns what is kept of a failure: without what [QueryError] says of every
// one, for who reads it hears that, too.
func wordsOf(err error) string {
	var query *QueryError
	if errors.As(err, &query) && query.ID == "" && query.Error() == err.Error() {
		return query.Err.Error()
	}
	return err.Error()
}

// failureOf returns the kind of a failure, for those who read of it.
func failureOf(err error) jobstore.PollFailure {
	var failed *command.Error
	switch {
	case errors.Is(err, remote.ErrUnreachable):
		return jobstore.PollUnreached
	case errors.As(err, &failed) && failed.Failure == command.TimedOut, failed == nil && errors.Is(err, context.DeadlineExceeded):
		return jobstore.PollTimedOut
	}
	return jobstore.PollFailed
}

// IsUnreached reports whether a query failed since it did not get to the scheduler:
// however long its command tried, the scheduler has done nothing.
func IsUnreached(err error) bool {
	var failed *command.Error
	if !errors.As(err, &failed) || failed.Failure == command.TimedOut {
		return false
	}
	return failed.Outcome == config.Transient || failed.Failure == command.Lost
}
