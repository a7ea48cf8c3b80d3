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

func TestOnlyCompletedStatesHaveEnded(t *testing.T) {
	ended := map[job.Detail]bool{job.Completed: true, job.Failed: true, job.Canceled: true, job.OutputReady: true}
	for _, detail := range job.Details() {
		require.Equal(t, ended[detail], detail.Ended(), detail)
	}
}

func TestPeopleSeeOneWordForAState(t *testing.T) {
	words := map[string]string{}
	for _, detail := range append(job.Details(), "", "KILLING") {
		words[string(detail)] = detail.Word()
	}
	require.Equal(t, map[string]string{
		"": "UNKNOWN", "KILLING": "UNKNOWN", "UNDETERMINED": "UNKNOWN", "SUBMITTED": "QUEUED", "QUEUED_ACTIVE": "QUEUED",
		"SYSTEM_ON_HOLD": "HELD", "USER_ON_HOLD": "HELD", "USER_SYSTEM_ON_HOLD": "HELD",
		"SUSPENDED": "SUSPENDED", "SYSTEM_SUSPENDED": "SUSPENDED", "USER_SUSPENDED": "SUSPENDED", "USER_SYSTEM_SUSPENDED": "SUSPENDED",
		"RUNNING": "RUNNING", "COMPLETED": "COMPLETED", "JOB_OUTERR_READY": "COMPLETED", "FAILED": "FAILED", "CANCELED": "CANCELED",
	}, words)
}
