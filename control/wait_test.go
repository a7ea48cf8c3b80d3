package control_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// answers lets each query answer with the next of scripts; the last one stays.
func (s *site) answers(t *testing.T, scripts ...string) {
	t.Helper()
	s.answering(t, scripts[0])
	s.whilePausing = func() error {
		if len(scripts) > 1 {
			scripts = scripts[1:]
			s.answering(t, scripts[0])
		}
		return nil
	}
}

func TestWaitingReportsEachStateOnce(t *testing.T) {
	s, j := asked(t, "", "")
	s.answers(t, `echo QUEUED_ACTIVE`, `echo QUEUED_ACTIVE`, `echo RUNNING; echo native R`, `echo RUNNING; echo native R`, `echo RUNNING; echo native C`, `echo FAILED; echo exit 3`)
	var reported []string
	j, err := s.Wait(t.Context(), j, "", func(job job.Job) { reported = append(reported, string(job.Detail)+job.Native) })
	require.NoError(t, err)
	require.Equal(t, []string{"QUEUED_ACTIVE", "RUNNINGR", "RUNNINGC", "FAILED"}, reported)
	require.Equal(t, job.Failed, j.Detail)
	require.Equal(t, 3, *j.ExitCode)
	require.Equal(t, 6, s.count(t, "asked"))
}

func TestAWaitCanEndAtAState(t *testing.T) {
	for until, asked := range map[job.Detail]int{job.Submitted: 1, job.UserOnHold: 1, job.Running: 2, job.Completed: 3, "": 3} {
		t.Run(string(until), func(t *testing.T) {
			s, job := askedSite(t)
			s.answers(t, `echo USER_ON_HOLD`, `echo RUNNING`, `echo CANCELED`)
			_, err := s.Wait(t.Context(), job, until, nil)
			require.NoError(t, err)
			require.Equal(t, asked, s.count(t, "asked"))
		})
	}
}

func askedSite(t *testing.T) (*site, job.Job) { return asked(t, "", "") }

func TestAWaitQueriesLessOftenWithoutChanges(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")+running("get-job-status", `. ./answer`, "", asStatus)))
	s.stopClock()
	j := s.submits(t, job.Submission{Executable: "x"})
	j.Created = s.options.Now()
	s.answering(t, `echo RUNNING`)
	var looks []time.Duration
	s.whilePausing = func() error {
		looks = append(looks, s.ahead)
		switch len(looks) {
		case 5:
			s.answering(t, `echo SUSPENDED`)
		case 60:
			s.answering(t, `echo COMPLETED`)
		}
		return nil
	}
	_, err := s.Wait(t.Context(), j, "", nil)
	require.NoError(t, err)
	since := func(change, look int) float64 { return (looks[look] - looks[change]).Seconds() }
	require.InDelta(t, 0.2, looks[0].Seconds(), 0.05)
	// A pause of a whole second, and the query, would notice an end later than a second.
	for i, after := range []float64{0.2, 0.5, 1, 1.75, 2, 2.75, 3.5} {
		require.InDelta(t, after, since(4, 5+i), 0.1, "after a change")
	}
	require.InDelta(t, 0.05*since(4, 50), since(50, 51), 0.1, "a twentieth of the time since")
}

func TestAWaitForAMissingJobEndsAfterAWhile(t *testing.T) {
	s, j := asked(t, "", "")
	s.answers(t, `echo RUNNING`, `exit 44`)
	j, err := s.Wait(t.Context(), j, "", nil)
	var missing *control.MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "last seen RUNNING")
	require.Equal(t, job.Running, j.Detail, "that it is gone is not an end")
	require.True(t, j.Missing)
	require.GreaterOrEqual(t, s.ahead, 15*time.Second, "a scheduler may not have its list yet")
}

func TestAWaitContinuesWhenAMissingJobReturns(t *testing.T) {
	s, j := asked(t, "", "")
	s.answers(t, `exit 44`, `exit 44`, `exit 44`, `echo RUNNING`, `exit 44`, `exit 44`, `exit 44`, `echo COMPLETED`)
	j, err := s.Wait(t.Context(), j, "", nil)
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail)
}

func TestFailingQueriesDoNotEndAWait(t *testing.T) {
	s, j := asked(t, "", "")
	s.answers(t, `exit 1`, `exit 1`, `:`, `echo RUNNING`, `exit 1`, `echo COMPLETED`)
	j, err := s.Wait(t.Context(), j, "", nil)
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail)
}

func TestRepeatedQueryFailuresEndAWait(t *testing.T) {
	s, job := asked(t, "", "")
	s.answering(t, `echo "controller is down" >&2; exit 1`)
	_, err := s.Wait(t.Context(), job, "", nil)
	var failed *control.QueryError
	require.ErrorAs(t, err, &failed)
	require.ErrorContains(t, err, "controller is down")
	require.Len(t, s.pauses, 60)
}

func TestAWaitCanBeCanceled(t *testing.T) {
	s, j := asked(t, "", "")
	s.answering(t, `echo RUNNING`)
	ctx, cancel := context.WithCancel(t.Context())
	s.whilePausing = func() error { cancel(); return nil }
	j, err := s.Wait(ctx, j, "", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, job.Running, j.Detail)

	gaveUp := errors.New("no patience")
	s.whilePausing = func() error { return gaveUp }
	_, err = s.Wait(t.Context(), j, "", nil)
	require.ErrorIs(t, err, gaveUp)
}

func TestAWaitThatCouldNotEndIsRefused(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")))
	j := s.submits(t, job.Submission{Executable: "x"})
	_, err := s.Wait(t.Context(), j, "", nil)
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)

	s, j = askedSite(t)
	j.ID = ""
	_, err = s.Wait(t.Context(), j, "", nil)
	require.ErrorContains(t, err, "no job id")

	j.Detail = job.Failed
	_, err = s.Wait(t.Context(), j, "", nil)
	require.NoError(t, err, "but one that has ended is waited for at once")
}

func TestTheRealPauseEndsWithItsContext(t *testing.T) {
	s, j := asked(t, "", "")
	s.answering(t, `echo RUNNING`)
	s.options.Pause = nil
	ctx, cancel := context.WithCancel(t.Context())
	_, err := control.New(s.options).Wait(ctx, j, "", func(job.Job) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
}
