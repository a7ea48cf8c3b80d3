package selection_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/job"
)

func TestJobsAreChosenByAnyNameOfAState(t *testing.T) {
	for text, want := range map[string][]job.Detail{
		"":                 job.Details(),
		"queued":           {job.Submitted, job.QueuedActive},
		"HELD,running":     {job.SystemOnHold, job.UserOnHold, job.UserSystemOnHold, job.Running},
		"user_on_hold":     {job.UserOnHold},
		"SUBMITTED":        {job.Submitted, job.QueuedActive, job.SystemOnHold, job.UserOnHold, job.UserSystemOnHold},
		"Completed":        {job.Completed, job.OutputReady},
		"failed, canceled": {job.Failed, job.Canceled},
		"unknown":          {job.Undetermined},
	} {
		filter, err := selection.NewFilter(text, "")
		require.NoError(t, err, text)
		var chosen []job.Detail
		for _, detail := range job.Details() {
			if filter.Matches(&job.Job{Observation: job.Observation{Detail: detail}}) {
				chosen = append(chosen, detail)
			}
		}
		require.Equal(t, want, chosen, text)
	}
	filter, err := selection.NewFilter("unknown", "")
	require.NoError(t, err)
	require.True(t, filter.Matches(&job.Job{}), "a job that was never seen is in an unknown state")
	_, err = selection.NewFilter("running,pendng", "")
	require.EqualError(t, err, `--state "pendng": unknown state; use one of UNKNOWN, QUEUED, HELD, SUSPENDED, RUNNING, COMPLETED, FAILED, CANCELED`)
}

func TestJobsAreChosenByAGlobOverTheirNames(t *testing.T) {
	filter, err := selection.NewFilter("", "run*-?")
	require.NoError(t, err)
	for name, isChosen := range map[string]bool{"run-1": true, "run/a/b-2": true, "run-12": false, "a run-1": false, "": false} {
		require.Equal(t, isChosen, filter.Matches(&job.Job{Observation: job.Observation{Name: name}}), name)
	}
	_, err = selection.NewFilter("", "[")
	require.EqualError(t, err, `--name "[": invalid glob; use * for any text and ? for a character`)
}
