package control_test

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// leaves records an interrupted submission with its files in place; a file "stays:NAME" must
// not be removed.
func (s *site) leaves(t *testing.T, tag string, files ...string) job.Job {
	t.Helper()
	staged := make([]jobstore.Staged, len(files))
	for i, file := range files {
		staged[i].Path, staged[i].Stays = s.path(strings.TrimPrefix(file, "stays:")), strings.HasPrefix(file, "stays:")
	}
	job := job.Job{Tag: tag, Target: "here", Created: time.Now(), Submitter: "0 gone nowhere"}
	require.NoError(t, s.store.Intend(t.Context(), job, staged...))
	return job
}

func TestFilesOfAnInterruptedSubmissionAreRemovedLater(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	s.write(t, "staged/cut/script", "exit")
	s.leaves(t, "cut", "staged/cut/script", "staged/cut")

	s.ahead += time.Hour
	require.NoError(t, s.Tidy(t.Context()))
	require.Equal(t, []string{"script"}, s.files(t, "staged"), "what became of the submission is not known")

	_, err := s.store.Accept(t.Context(), "cut", job.Job{ID: "8"})
	require.NoError(t, err)
	s.ahead = 0
	require.NoError(t, s.Tidy(t.Context()))
	require.Equal(t, []string{"script"}, s.files(t, "staged"), "its submit command may still read them")

	s.ahead += time.Hour
	s.submits(t, job.Submission{Executable: "x"})
	require.False(t, s.exists("staged/cut"), "the next submission tidies up")
	left, err := s.store.Leftovers(t.Context(), "here")
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAFileOfALaterSubmissionStays(t *testing.T) {
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
	var recorded []job.Job
	var s *site
	s = newSite(t, define(t, `<script deleteAfterSubmit="true"><line><arg>true</arg></line></script>`+submitting(`echo job 7`, "")), func(o *control.Options) {
		o.Connection = &faultyConnection{Connection: o.Connection, remove: func(string) error {
			var err error
			recorded, err = s.store.Find(t.Context(), "7", "here")
			return err
		}}
	})
	s.submits(t, job.Submission{Executable: "x"})
	require.Len(t, recorded, 1)
}

// breaksOff leaves the files of a program that was killed while it wrote one.
func (s *site) breaksOff(t *testing.T, file string) (partial string) {
	t.Helper()
	partial = path.Join(path.Dir(file), files.PartialName(file, "1234"))
	s.write(t, partial, "begin of the con")
	return partial
}

func TestPartialFilesAreRemoved(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	s.leaves(t, "cut", "staged/cut/script", "staged/cut", "stays:input.dat")
	s.write(t, "input.dat", "whole")
	inFolder, beside, ofOther := s.breaksOff(t, "staged/cut/script"), s.breaksOff(t, "input.dat"), s.breaksOff(t, "other.dat")
	require.NoError(t, s.store.Reject(t.Context(), "cut", "refused"))
	require.NoError(t, s.Tidy(t.Context()))
	require.True(t, s.exists(beside), "its writer may be at it")

	s.ahead += time.Hour
	require.NoError(t, s.Tidy(t.Context()))
	require.False(t, s.exists(inFolder))
	require.False(t, s.exists("staged/cut"))
	require.False(t, s.exists(beside))
	require.True(t, s.exists("input.dat"), "the file itself stays")
	require.True(t, s.exists(ofOther), "it is of nobody who is known to be gone")
	left, err := s.store.Leftovers(t.Context(), "here")
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFilesOfARunningSubmissionStay(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	s.leaves(t, "dead", "stays:input.dat")
	require.NoError(t, s.store.Reject(t.Context(), "dead", "refused"))
	s.leaves(t, "alive", "stays:input.dat")
	partial := s.breaksOff(t, "input.dat")
	s.ahead += time.Hour
	require.NoError(t, s.Tidy(t.Context()))
	require.True(t, s.exists(partial))

	require.NoError(t, s.store.Reject(t.Context(), "alive", "refused"))
	require.NoError(t, s.Tidy(t.Context()))
	require.False(t, s.exists(partial))
}

func TestASuccessfulSubmissionRemovesTheRecordOfItsFiles(t *testing.T) {
	s := newSite(t, define(t, `<script><line><arg>true</arg></line></script>`+submitting(`echo job 7`, "")))
	s.submits(t, job.Submission{Executable: "x"})
	left, err := s.store.Leftovers(t.Context(), "here")
	require.NoError(t, err)
	require.Empty(t, left)
}
