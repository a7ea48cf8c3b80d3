package control_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// fills lets nothing that is known of a submission be changed on record, as a full
// disk does, from the start of its submit command on, until repair is called.
func (s *site) fills(t *testing.T) (repair func()) {
	t.Helper()
	database, err := sql.Open("sqlite", filepath.Join(s.state, "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	isFull := false
	full := s.options
	full.Connection = &faultyConnection{Connection: full.Connection, start: startHook(func() {
		if !isFull {
			_, err := database.Exec("CREATE TRIGGER full BEFORE UPDATE ON jobs BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
			require.NoError(t, err)
			isFull = true
		}
	})}
	s.Controller = control.New(full)
	return func() {
		_, err := database.Exec("DROP TRIGGER full")
		require.NoError(t, err)
	}
}

// A submission does not count as in progress because its process continues with other work.
func TestAnUnrecordedOutcomeIsRecordedLater(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		phase  job.Phase
	}{
		"a doubt":   {`echo "connection lost"`, job.PhaseRejected}, // once the scheduler was queried
		"a refusal": {`echo "denied" >&2; exit 1`, job.PhaseRejected},
		"a job":     {`echo job 7`, job.PhaseSubmitted},
	} {
		t.Run(name, func(t *testing.T) {
			s := forgetful(t, c.script, "")
			repair := s.fills(t)
			_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
			require.ErrorContains(t, err, "the disk is full")
			s.ahead += time.Minute
			open := s.unresolved(t)
			require.Len(t, open, 1, "it is tried again while the disk is full")
			_, err = s.Recover(t.Context(), open[0])
			require.Error(t, err)
			repair()
			job, err := s.Recover(t.Context(), open[0])
			require.NoError(t, err)
			require.Equal(t, c.phase, job.Phase)
			open = s.unresolved(t)
			require.Empty(t, open)
		})
	}
}

func TestAnUnrecordedEndOfAnInteractiveJobIsRecordedLater(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `exit 7`, `waitForId="false"`, "")))
	repair := s.fills(t)
	_, _, err := s.interactively(t, t.Context(), "")
	require.ErrorContains(t, err, "the job has ended (FAILED, exit code 7); this is kept next to the record until there is room")
	require.ErrorContains(t, err, "the disk is full")
	require.Equal(t, job.PhaseIntended, s.onlyJob(t).Phase)
	repair()
	_, err = s.Recover(t.Context(), s.onlyJob(t))
	require.NoError(t, err)
	j := s.onlyJob(t)
	require.Equal(t, job.PhaseSubmitted, j.Phase)
	require.Equal(t, job.Failed, j.Detail)
	require.Equal(t, 7, *j.ExitCode)
}

func TestALaterOutcomeIsNotReplaced(t *testing.T) {
	s := forgetful(t, `echo "denied" >&2; exit 1`, "")
	repair := s.fills(t)
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
	require.ErrorContains(t, err, "the disk is full")
	repair()
	open, err := s.store.Unresolved(t.Context(), "here")
	require.NoError(t, err)
	require.Len(t, open, 1)
	_, err = s.store.Accept(t.Context(), open[0].Tag, job.Job{ID: "9"})
	require.NoError(t, err)
	for range 2 {
		job, err := s.Recover(t.Context(), open[0])
		require.NoError(t, err)
		require.Equal(t, "9", job.ID)
	}
}
