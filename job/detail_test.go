package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

func TestEveryDetailIsParsedAndHasAPrimaryState(t *testing.T) {
	for _, detail := range job.Details() {
		parsed, known := job.ParseDetail(string(detail))
		require.True(t, known, detail)
		require.Equal(t, detail, parsed)
		if detail != job.Undetermined {
			require.NotEqual(t, job.Undetermined, detail.Primary(), detail)
		}
	}
}

func TestTextsOutsideTheVocabularyAreRefused(t *testing.T) {
	for _, text := range []string{"", "null", "HELD", "KILLING", "running", "RUNNING "} {
		detail, known := job.ParseDetail(text)
		require.False(t, known, text)
		require.Equal(t, job.Undetermined, detail, text)
	}
}

func TestNextFollowsTheSchedulerButKeepsEndings(t *testing.T) {
	cases := []struct{ current, seen, want job.Detail }{
		{job.Submitted, job.QueuedActive, job.QueuedActive},
		{job.Running, job.UserOnHold, job.UserOnHold},
		{job.Running, job.QueuedActive, job.QueuedActive},
		{job.UserOnHold, job.QueuedActive, job.QueuedActive},
		{job.Suspended, job.Running, job.Running},
		{job.Suspended, job.UserSuspended, job.UserSuspended},
		{job.Running, job.Undetermined, job.Running},
		{job.Running, "", job.Running},
		{"", job.Running, job.Running},
		{job.Completed, job.Failed, job.Failed},
		{job.Failed, job.Canceled, job.Failed},
		{job.Failed, job.Completed, job.Failed},
		{job.Completed, job.Running, job.Completed},
		{job.Canceled, job.OutputReady, job.OutputReady},
		{job.OutputReady, job.Failed, job.OutputReady},
	}
	for _, c := range cases {
		require.Equal(t, c.want, job.Next(c.current, c.seen), "%s then %s", c.current, c.seen)
	}
}

func TestOnlyCompletedStatesHaveEnded(t *testing.T) {
	ended := map[job.Detail]bool{job.Completed: true, job.Failed: true, job.Canceled: true, job.OutputReady: true}
	for _, detail := range job.Details() {
		require.Equal(t, ended[detail], detail.Ended(), detail)
	}
}
