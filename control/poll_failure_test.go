package control_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// A process that reads the result of a query gets the same as the one that made it.
func TestASharedFailureKeepsItsKind(t *testing.T) {
	cut := &remote.ConnectError{Host: "far", Reason: remote.Disconnected, Err: errors.New("end of file")}
	for name, c := range map[string]struct {
		list, limit string
		start       error
		failure     polls.PollFailure
	}{
		"it was down":        {"exit 1", "1h", nil, polls.PollFailed},
		"it took too long":   {"exec sleep 600", "100ms", nil, polls.PollTimedOut},
		"it was not reached": {"exit 0", "1h", cut, polls.PollUnreached},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, running("submit-batch", `echo "job $$"`, `waitForId="true"`, jobIDParser),
				`<monitor-data schedulerType="test">`+running("x:list-jobs", c.list, `x:interval="1h" x:timeout="`+c.limit+`"`, "")+`</monitor-data>`))
			jobs := []job.Job{s.submits(t, job.Submission{Executable: "x"}), s.submits(t, job.Submission{Executable: "x"})}
			s.ahead += time.Minute
			options := s.options
			options.Connection = &faultyConnection{Connection: options.Connection, start: func(remote.Command) error { return c.start }}
			_, met := control.New(options).Update(t.Context(), jobs, false)
			require.Error(t, met)
			require.Equal(t, c.failure == polls.PollUnreached, errors.Is(met, remote.ErrUnreachable))

			updated, read := s.Update(t.Context(), jobs, false)
			var query *control.QueryError
			require.ErrorAs(t, read, &query)
			require.True(t, query.Earlier)
			var failed *command.Error
			isLate := errors.As(read, &failed) && failed.Failure == command.TimedOut
			require.Equal(t, c.failure == polls.PollTimedOut, isLate)
			require.Equal(t, met.Error(), read.Error())
			require.Equal(t, c.failure == polls.PollUnreached, errors.Is(read, remote.ErrUnreachable))
			require.True(t, updated[0].Stale)
		})
	}
}

func TestACanceledListingChangesNoJob(t *testing.T) {
	s := newSite(t, define(t, running("submit-batch", `echo "job $$"`, `waitForId="true"`, jobIDParser),
		`<monitor-data schedulerType="test">`+running("x:list-jobs", `echo >>asked; exec sleep 600`, `x:interval="1h" x:timeout="1h"`, "")+`</monitor-data>`))
	jobs := []job.Job{s.submits(t, job.Submission{Executable: "x"}), s.submits(t, job.Submission{Executable: "x"})}
	s.ahead += time.Minute
	s.givesUp(t, jobs[0].Tag, func(ctx context.Context) error {
		_, err := s.Update(ctx, jobs, false)
		return err
	})
}
