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
