package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func tagsOf(jobs []job.Job) []string {
	tags := make([]string, len(jobs))
	for i, job := range jobs {
		tags[i] = job.Tag
	}
	return tags
}

// by returns an observation that another process has just made.
func (s *site) by(detail job.Detail) job.Observation {
	return job.Observation{Detail: detail, Observed: s.options.Now(), Source: "another"}
}

func TestWaitingForJobsOnRecordReportsEachStateOnce(t *testing.T) {
	s, jobs := crowd(t, 3, `x:interval="1s"`)
	s.shows(t, jobs, job.QueuedActive, job.Running, job.Running)
	looks := 0
	s.whilePausing = func() error {
		switch looks++; looks {
		case 40:
			s.shows(t, jobs, job.Running, job.Failed, job.Running)
		case 80:
			s.shows(t, jobs, job.Completed, job.Failed, job.Canceled)
		}
		return nil
	}
	reported := map[string][]job.Detail{}
	require.NoError(t, s.WaitRecorded(t.Context(), tagsOf(jobs), "", func(job job.Job) { reported[job.ID] = append(reported[job.ID], job.Detail) }))
	require.Equal(t, map[string][]job.Detail{
		"1": {job.QueuedActive, job.Running, job.Completed},
		"2": {job.Running, job.Failed},
		"3": {job.Running, job.Canceled},
	}, reported)
	require.NoError(t, s.WaitRecorded(t.Context(), tagsOf(jobs), "", func(job.Job) { t.Error("they have ended") }))
}

func TestAWaitReadsTheRecordsOfOtherProcesses(t *testing.T) {
	s, jobs := crowd(t, 9, `x:interval="1h"`)
	s.shows(t, jobs, slices.Repeat([]job.Detail{job.Running}, len(jobs))...)
	s.whilePausing = func() error {
		if len(s.pauses) == 10 {
			for _, j := range jobs {
				_, err := s.store.Observe(t.Context(), j.Tag, s.by(job.Completed))
				require.NoError(t, err)
			}
		}
		return nil
	}
	require.NoError(t, s.WaitRecorded(t.Context(), tagsOf(jobs), "", nil))
	require.Len(t, s.pauses, 10)
	require.Equal(t, []string{"list"}, s.asked(t))
}

// What happened to a job is forgotten together with it.
func TestAWaitForAForgottenJobEnds(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1h"`)
	s.shows(t, jobs, job.Running, job.Running)
	s.whilePausing = func() error {
		if len(s.pauses) != 10 {
			return nil
		}
		_, err := s.store.Observe(t.Context(), jobs[0].Tag, s.by(job.Completed))
		require.NoError(t, err)
		count, err := s.store.Prune(t.Context(), s.options.Now().Add(time.Hour), "")
		require.Equal(t, 1, count)
		return err
	}
	begun := s.ahead
	require.ErrorIs(t, s.WaitRecorded(t.Context(), tagsOf(jobs), "", nil), jobstore.ErrNotFound)
	require.Less(t, s.ahead-begun, 2*time.Minute)
}

func TestAWaitSkipsJobsWhoseEndCannotBeSeen(t *testing.T) {
	for name, definition := range map[string]string{"listed": `x:interval="1s"`, "alone": ""} {
		t.Run(name, func(t *testing.T) {
			s, jobs := crowd(t, 2, definition)
			if name == "alone" {
				s, jobs[1] = askedSite(t)
				jobs = jobs[1:]
			}
			_, err := s.store.Dismiss(t.Context(), jobs[len(jobs)-1].Tag, "the cluster is gone")
			require.NoError(t, err)
			var missing *control.MissingError
			require.ErrorAs(t, s.WaitRecorded(t.Context(), tagsOf(jobs), "", nil), &missing)
			require.ErrorContains(t, missing, "the cluster is gone")
			require.ErrorIs(t, s.WaitRecorded(t.Context(), []string{"nobody"}, "", nil), jobstore.ErrNotFound)
			require.Empty(t, s.pauses)
		})
	}
}

func TestAWaitForAJobWithAReusedIDEnds(t *testing.T) {
	s, earlier := askedSite(t)
	later := s.submits(t, job.Submission{Executable: "x"})
	require.Equal(t, earlier.ID, later.ID)
	var missing *control.MissingError
	require.ErrorAs(t, s.WaitRecorded(t.Context(), []string{earlier.Tag}, "", nil), &missing)
	require.ErrorContains(t, missing, "another job")
}

// A repeated absence of a job is recorded, but it is not an event.
func TestAWaitForAMissingJobEndsAfterEnoughQueries(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1s"`)
	s.shows(t, jobs, job.Running, "")
	begun := s.ahead
	var missing *control.MissingError
	require.ErrorAs(t, s.WaitRecorded(t.Context(), tagsOf(jobs[1:]), "", nil), &missing)
	require.Less(t, s.ahead-begun, 30*time.Second)
	require.Greater(t, s.ahead-begun, 14*time.Second)
	require.Equal(t, 5, missing.Job.MissingCount)
}
