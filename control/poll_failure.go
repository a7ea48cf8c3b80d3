package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/remote"
)

// errorOf is the error of a query that another process made, or this one earlier.
func errorOf(last polls.Poll) error {
	if !last.Paused.IsZero() {
		return fmt.Errorf("%w since %s, after %d failures: %s\nrmctl start asks again", ErrPaused, last.Paused.Format(time.DateTime), last.Failures, last.Error)
	}
	if last.Error != "" {
		return &QueryError{Err: &PolledError{Failure: last.Failure, Text: last.Error}}
	}
	return nil
}

// A PolledError says how an earlier query failed, by this process or another one, whose
// result still counts. It matches [remote.ErrUnreachable] if that process was not
// connected; the connection of this process may work.
type PolledError struct {
	Failure polls.PollFailure
	Text    string // of the error then
}

// Error returns what was said of it then.
func (e *PolledError) Error() string { return e.Text }

// Is reports that a query that was not connected is a [remote.ErrUnreachable].
func (e *PolledError) Is(target error) bool {
	return target == remote.ErrUnreachable && e.Failure == polls.PollUnreached
}

// pollFailureOf returns how a query for jobs failed; nil for what failed otherwise.
func pollFailureOf(err error) *poller.Failure {
	if !isQueryFailure(err) {
		return nil
	}
	return listingFailureOf(err)
}

// listingFailureOf returns how a listing failed, for those who read of it.
func listingFailureOf(err error) *poller.Failure {
	failure := &poller.Failure{Kind: polls.PollFailed, Text: err.Error(), IsIdle: IsUnreached(err)}
	var query *QueryError
	if errors.As(err, &query) && query.ID == "" && query.Error() == err.Error() {
		failure.Text = query.Err.Error() // whoever reads it sees it in a QueryError, too
	}
	var failed *command.Error
	switch {
	case errors.Is(err, remote.ErrUnreachable):
		failure.Kind = polls.PollUnreached
	case errors.As(err, &failed) && failed.Failure == command.TimedOut, failed == nil && errors.Is(err, context.DeadlineExceeded):
		failure.Kind = polls.PollTimedOut
	}
	return failure
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
