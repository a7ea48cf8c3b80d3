package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func TestAnUnknownJobIsDismissed(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1s"`)
	s.shows(t, jobs, job.Running, "")
	jobs = s.updates(t, jobs, false)
	require.True(t, jobs[1].Missing)

	_, err := recovery.Dismiss(t.Context(), s.store, jobs[0])
	require.ErrorContains(t, err, "was RUNNING")
	dismissed, err := recovery.Dismiss(t.Context(), s.store, jobs[1])
	require.NoError(t, err)
	require.Equal(t, job.PhaseDismissed, dismissed.Phase)
	require.Equal(t, job.Submitted, dismissed.Detail, "no end is made up")
	require.Contains(t, dismissed.Error, "dismissed by the user: no longer known to the scheduler")

	open, err := s.store.List(t.Context(), jobstore.Filter{})
	require.NoError(t, err)
	require.Len(t, open, 1)
	asked := len(s.asked(t))
	s.ahead += time.Minute
	s.updates(t, jobs[:1], false)
	again, err := s.Status(t.Context(), dismissed, true)
	require.NoError(t, err)
	require.Equal(t, job.PhaseDismissed, again.Phase)
	require.NotContains(t, s.asked(t)[asked:], jobs[1].ID, "it is asked for no more")
	_, err = s.Wait(t.Context(), dismissed, "", nil)
	var missing *control.MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "dismissed by the user")
}

func TestAnInteractiveJobWhoseProcessIsGoneIsDismissedWithTheReason(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `:`, keptOpen, conversation)))
	job, err := s.Status(t.Context(), s.attachedTo(t, "the-tag", "7", goneHere(t)), true)
	require.NoError(t, err)
	dismissed, err := recovery.Dismiss(t.Context(), s.store, job)
	require.NoError(t, err)
	require.Contains(t, dismissed.Error, "dismissed by the user: the process that it was attached to")
	_, err = recovery.Dismiss(t.Context(), s.store, dismissed)
	require.NoError(t, err, "again, which changes nothing")
}

func TestAnEndedJobIsNotDismissed(t *testing.T) {
	s, jobs := crowd(t, 2, "")
	s.shows(t, jobs, job.Failed, job.Running)
	_, err := recovery.Dismiss(t.Context(), s.store, s.updates(t, jobs, false)[0])
	require.ErrorContains(t, err, "has ended")
}
