package control_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

func TestATargetIsPausedAfterRepeatedFailuresUntilItAnswers(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1s"`)
	s.shows(t, jobs, job.Running, job.Running)
	s.write(t, "down", "")
	var err error
	for range 3600 {
		s.ahead += time.Second
		if _, err = s.Update(t.Context(), jobs, false); err != nil && strings.Contains(err.Error(), "paused") {
			break
		}
	}
	require.ErrorIs(t, err, control.ErrPaused)
	require.ErrorContains(t, err, "controller is down")
	tried := len(s.asked(t))
	require.Equal(t, 8, tried)

	require.NoError(t, os.Remove(s.path("down")))
	s.ahead += 10 * time.Second
	_, err = s.Update(t.Context(), jobs, false)
	require.ErrorIs(t, err, control.ErrPaused)
	require.Len(t, s.asked(t), tried, "nobody asks meanwhile")

	s.ahead += 5 * time.Minute
	require.Equal(t, []job.Detail{job.Running, job.Running}, details(s.updates(t, jobs, false)), "it resumes by itself")
	s.updates(t, jobs, false)
}

// A job that the controller has forgotten while accounting is away must not stop the queries
// for other jobs.
func TestAFailingJobDoesNotPauseItsTarget(t *testing.T) {
	s, jobs := crowd(t, 3, `x:interval="1s"`)
	s.shows(t, jobs, job.Running, job.Running, job.Running)
	s.updates(t, jobs, false)
	s.shows(t, jobs, job.Running, job.Running, "")
	s.write(t, "behind", "")
	begun := s.ahead
	for range 20 {
		s.ahead += time.Minute
		updated, err := s.Update(t.Context(), jobs, false)
		require.NotErrorIs(t, err, control.ErrPaused)
		if updated[2].Stale {
			require.Equal(t, job.Running, updated[2].Detail)
			require.Contains(t, updated[2].StaleReason, "45")
		}
	}
	require.Greater(t, strings.Count(strings.Join(s.asked(t), " "), "list"), 15, "in %v", s.ahead-begun)
	s.shows(t, jobs, job.Completed, job.Running, "")
	s.ahead += time.Minute
	updated, err := s.Update(t.Context(), jobs, false)
	var failed *control.QueryError
	require.ErrorAs(t, err, &failed, "who asks for the job hears why nothing is known of it")
	require.Equal(t, job.Completed, updated[0].Detail)
	require.True(t, updated[2].Stale)
}

func TestAFreshQueryIgnoresAPause(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1s"`)
	s.shows(t, jobs, job.Running, job.Running)
	s.write(t, "down", "")
	slow := s.options
	slow.Connection = &faultyConnection{Connection: slow.Connection, start: startHook(func() { s.passes(10 * time.Second) })}
	s.Controller = control.New(slow) // like commands without their controller
	for range 8 {
		s.ahead += 6 * time.Minute
		_, err := s.Update(t.Context(), jobs, false)
		require.Error(t, err)
	}
	require.NoError(t, os.Remove(s.path("down")))
	before := s.ahead
	require.Equal(t, []job.Detail{job.Running, job.Running}, details(s.updates(t, jobs, true)))
	require.Less(t, s.ahead-before, 30*time.Second)
}

func TestStartingASessionResumesAPausedTarget(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1s"`)
	s.shows(t, jobs, job.Running, job.Running)
	s.write(t, "down", "")
	for range 8 {
		s.ahead += 6 * time.Minute
		_, err := s.Update(t.Context(), jobs, false)
		require.Error(t, err)
	}
	require.NoError(t, os.Remove(s.path("down")))
	s.ahead += 2 * time.Second
	_, err := s.Update(t.Context(), jobs, false)
	require.ErrorIs(t, err, control.ErrPaused)
	require.NoError(t, s.Start(t.Context(), false))
	s.updates(t, jobs, false)
}
