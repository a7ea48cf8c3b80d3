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

// earlierError returns the error of a query that another process made, or this one
// earlier, with the command that lists jobs.
func earlierError(list *config.Command, last polls.Poll) error {
	if !last.Paused.IsZero() {
		return fmt.Errorf("%w since %s, after %d failures: %s\nretry with rmctl start", ErrPaused, last.Paused.Format(time.DateTime), last.Failures, last.Error)
	}
	if last.Error == "" {
		return nil
	}
	earlier := recordedError{text: last.Error}
	switch last.Failure {
	case polls.PollUnreached:
		earlier.kind = remote.ErrUnreachable
	case polls.PollTimedOut:
		earlier.kind = &command.Error{Command: list, Failure: command.TimedOut}
	}
	return &QueryError{Earlier: true, Err: earlier}
}

// A recordedError has the text of an error on record, and matches an error of its kind.
type recordedError struct {
	text string
	kind error // nil if it has no particular kind
}

func (e recordedError) Error() string { return e.text }
func (e recordedError) Unwrap() error { return e.kind }

// pollFailureOf returns how a query for jobs failed; nil for other errors.
func pollFailureOf(err error) *poller.Failure {
	if !isQueryFailure(err) {
		return nil
	}
	return listingFailureOf(err)
}

// listingFailureOf returns how a listing failed, for the record.
func listingFailureOf(err error) *poller.Failure {
	failure := &poller.Failure{Kind: polls.PollFailed, Text: err.Error(), IsIdle: IsUnreached(err)}
	var query *QueryError
	if errors.As(err, &query) && query.ID == "" && query.Error() == err.Error() {
		failure.Text = query.Err.Error() // readers put it into a QueryError again
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

// IsUnreached reports whether a query failed before it reached the scheduler, which has
// done nothing then, however long the command tried.
func IsUnreached(err error) bool {
	var failed *command.Error
	if !errors.As(err, &failed) || failed.Failure == command.TimedOut {
		return false
	}
	return failed.Outcome == config.Transient || failed.Failure == command.Lost
}
