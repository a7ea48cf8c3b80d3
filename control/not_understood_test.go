package control_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/jobstore"
)

func counts(t *testing.T, s *site) []jobstore.NotUnderstood {
	t.Helper()
	counts, err := s.NotUnderstood(t.Context())
	require.NoError(t, err)
	return counts
}

func TestAnswersThatAreNotUnderstoodAreCounted(t *testing.T) {
	s, job := asked(t, "", "")
	s.answering(t, `echo native NOVEL`)
	s.status(t, job)
	s.answering(t, `echo native NEWER`)
	s.status(t, job)
	require.Len(t, counts(t, s), 1)
	require.Equal(t, 2, counts(t, s)[0].Count)
	require.Equal(t, "get-job-status:get-job-status", counts(t, s)[0].Command)
	require.Equal(t, `unknown state "NEWER"`, counts(t, s)[0].Seen)

	s, job = asked(t, "", "")
	s.answering(t, `echo "Novel report 1.0"; echo of a job`)
	_, err := s.Status(t.Context(), job, true)
	require.Error(t, err)
	require.Len(t, counts(t, s), 1)
	require.Equal(t, `output that begins with "Novel report 1.0"`, counts(t, s)[0].Seen)
}

func TestWhatIsUnderstoodIsNotCounted(t *testing.T) {
	for _, script := range []string{
		`echo RUNNING`, `echo what is this; echo RUNNING`, `echo UNDETERMINED; echo native X`, `exit 44`, `exit 45`, `:`, `echo "" `,
		`echo "cannot connect" >&2; exit 1`, `echo "what is this"; exit 1`, `echo native NOVEL; exit 1`, `echo native NOVEL; exit 44`,
	} {
		s, job := asked(t, "", "")
		s.answering(t, script)
		_, _ = s.Status(t.Context(), job, true) // some fail, which is not tested here
		require.Empty(t, counts(t, s), script)
	}
}
