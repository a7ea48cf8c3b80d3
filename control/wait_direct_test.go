package control_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// at changes what the scheduler shows once a time has passed.
func (s *site) at(t *testing.T, after time.Duration, jobs []job.Job, states ...job.Detail) (moment time.Duration) {
	t.Helper()
	moment, isShown := s.ahead+after, false
	s.whilePausing = func() error {
		if s.ahead >= moment && !isShown {
			isShown = true
			s.shows(t, jobs, states...)
		}
		return nil
	}
	return moment
}

func TestAWaitNoticesTheEndWithinASecondOrFivePercent(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, time.Minute, 10 * time.Minute} {
		t.Run(length.String(), func(t *testing.T) {
			s, jobs := crowd(t, 20, `x:interval="2m"`)
			states := slices.Repeat([]job.Detail{job.Running}, len(jobs))
			s.shows(t, jobs, states...)
			s.updates(t, jobs, false)
			latest := s.submits(t, job.Submission{Executable: "x"})
			jobs, states = append(jobs, latest), append(states, job.Running)
			s.shows(t, jobs, states...)
			states[len(states)-1] = job.Completed
			end := s.at(t, length, jobs, states...)
			_, err := s.WaitAll(t.Context(), []job.Job{latest}, "", nil)
			require.NoError(t, err)
			late := s.ahead - end
			require.LessOrEqual(t, late, max(time.Second, length/20)+100*time.Millisecond)
			require.Equal(t, 0, slices.Index(s.asked(t), "list"))
		})
	}
}

func TestTwoWaitsForAJobShareAnswers(t *testing.T) {
	s, jobs := crowd(t, 1, `x:interval="1h"`)
	s.shows(t, jobs, job.Running)
	s.whilePausing = func() error {
		now := map[bool]job.Detail{true: job.Completed, false: job.Running}[len(s.pauses) > 40]
		_, err := s.store.Observe(t.Context(), jobs[0].Tag, s.by(now))
		return err
	}
	_, err := s.WaitAll(t.Context(), jobs, "", nil)
	require.NoError(t, err)
	require.LessOrEqual(t, len(s.asked(t)), 2, "another process queries it all the time")
}

func TestJobsOfWaitsAreQueriedFirst(t *testing.T) {
	s, jobs := crowd(t, 60, `x:interval="1s"`)
	slow := s.options
	slow.Connection = &faultyConnection{Connection: slow.Connection, start: startHook(func() { s.passes(5 * time.Second) })}
	s.Controller = control.New(slow)
	s.shows(t, jobs, job.Running)
	_, err := s.Update(t.Context(), jobs[50:], false)
	require.NoError(t, err)
	asked := s.asked(t)[1:]
	require.Less(t, len(asked), len(jobs), "a poll ends after a while")
	require.GreaterOrEqual(t, len(asked), 4)
	first := asked[:min(len(asked), 10)]
	require.Empty(t, slices.DeleteFunc(first, func(id string) bool { return strings.HasPrefix(id, "5") && len(id) == 2 || id == "60" }))
}
