package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/jobstore"
)

// leaves records a submission that was cut off with its files in place.
func (s *site) leaves(t *testing.T, tag string, files ...string) jobstore.Job {
	t.Helper()
	paths := make([]string, len(files))
	for i, file := range files {
		paths[i] = s.path(file)
	}
	job := jobstore.Job{Tag: tag, Target: "here", Created: time.Now(), Submitter: "0 gone nowhere"}
	require.NoError(t, s.store.Intend(t.Context(), job, paths...))
	return job
}

func TestFilesOfASubmissionThatWasCutOffAreRemovedOnceItMustHaveEnded(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	s.write(t, "staged/cut/script", "exit")
	s.leaves(t, "cut", "staged/cut/script", "staged/cut")

	s.ahead += time.Hour
	require.NoError(t, s.Tidy(t.Context()))
	require.Equal(t, []string{"script"}, s.files(t, "staged"), "what became of the submission is not known")

	_, err := s.store.Accept(t.Context(), "cut", jobstore.Accepted{ID: "8"})
	require.NoError(t, err)
	s.ahead = 0
	require.NoError(t, s.Tidy(t.Context()))
	require.Equal(t, []string{"script"}, s.files(t, "staged"), "its submit command may still read them")

	s.ahead += time.Hour
	s.submits(t, control.Submission{Executable: "x"})
	require.False(t, s.exists("staged/cut"), "the next submission tidies up")
	left, err := s.store.Leftovers(t.Context(), "here")
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAFileThatALaterSubmissionHasPutInPlaceStays(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	s.write(t, "program", "exit")
	s.leaves(t, "earlier", "program")
	s.leaves(t, "later", "program")
	require.NoError(t, s.store.Reject(t.Context(), "earlier", "refused"))
	s.ahead += time.Hour
	require.NoError(t, s.Tidy(t.Context()))
	require.True(t, s.exists("program"))
	require.NoError(t, s.store.Reject(t.Context(), "later", "refused"))
	require.NoError(t, s.Tidy(t.Context()))
	require.False(t, s.exists("program"))
}

func TestTheIdIsOnRecordBeforeFilesAreRemoved(t *testing.T) {
	var recorded []jobstore.Job
	var s *site
	s = newSite(t, define(t, `<script deleteAfterSubmit="true"><line><arg>true</arg></line></script>`+submitting(`echo job 7`, "")), func(o *control.Options) {
		o.Connection = &faultyConnection{Connection: o.Connection, remove: func(string) error {
			var err error
			recorded, err = s.store.Find(t.Context(), "7", "here")
			return err
		}}
	})
	s.submits(t, control.Submission{Executable: "x"})
	require.Len(t, recorded, 1)
}
