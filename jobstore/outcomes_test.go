package jobstore_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// fills lets no job on record be changed, as a full disk does, until it is repaired.
func fills(t *testing.T, directory string) (repair func()) {
	t.Helper()
	change := func(statement string) {
		database, err := sql.Open("sqlite", filepath.Join(directory, "jobs.db"))
		require.NoError(t, err)
		_, err = database.Exec(statement)
		require.NoError(t, errors.Join(err, database.Close()))
	}
	change("CREATE TRIGGER full BEFORE UPDATE ON jobs BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
	return func() { change("DROP TRIGGER full") }
}

// keptFiles returns the files of outcomes next to the store.
func keptFiles(t *testing.T, directory string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "unrecorded-*"))
	require.NoError(t, err)
	return files
}

var oddOutcomes = []jobstore.Outcome{
	{Tag: "a", ID: "7\xff\x00", Accepted: &job.Observation{Evidence: strings.Repeat("e", 2*jobstore.MaximumEvidence), Observed: noon}},
	{Tag: "b", Refused: "denied"},
	{Tag: "c", Doubted: "cut off"},
}

// settleInVain makes submissions to a store that is full when their outcomes are known.
func settleInVain(t *testing.T, store *jobstore.Store, outcomes []jobstore.Outcome) {
	t.Helper()
	for _, outcome := range outcomes {
		_, err := store.Settle(t.Context(), outcome)
		require.ErrorIs(t, err, jobstore.ErrKept)
		require.ErrorContains(t, err, "the disk is full")
	}
}

func requireSettled(t *testing.T, store *jobstore.Store) {
	t.Helper()
	for tag, expected := range map[string]job.Job{
		"a": {Phase: job.PhaseSubmitted, ID: "7\xff\x00"}, "b": {Phase: job.PhaseRejected, Error: "denied"}, "c": {Phase: job.PhaseUnknown, Error: "cut off"},
	} {
		j, err := store.ByTag(t.Context(), tag)
		require.NoError(t, err)
		require.Equal(t, expected, job.Job{Phase: j.Phase, ID: j.ID, Error: j.Error})
	}
}

const storeOfKilled = "RMCTL_TEST_STORE_OF_KILLED"

func TestOutcomesThatAKilledProcessCouldNotRecordAreRecordedByAnother(t *testing.T) {
	t.Parallel()
	if directory, isKilled := os.LookupEnv(storeOfKilled); isKilled {
		store := openStore(t, directory)
		for _, outcome := range oddOutcomes {
			intend(t, store, outcome.Tag, "big")
		}
		fills(t, directory)
		settleInVain(t, store, oddOutcomes)
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
		select {}
	}
	directory := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	command := exec.CommandContext(ctx, program, "-test.run", "^"+t.Name()+"$")
	command.Env = append(os.Environ(), storeOfKilled+"="+directory)
	printed, err := command.CombinedOutput()
	var ended *exec.ExitError
	require.ErrorAs(t, err, &ended, "%s", printed)
	require.Equal(t, syscall.SIGKILL, ended.Sys().(syscall.WaitStatus).Signal(), "%s", printed)
	require.Len(t, keptFiles(t, directory), 1)

	store := openStore(t, directory)
	require.ErrorContains(t, store.SettleLate(t.Context()), "the disk is full")
	require.Len(t, keptFiles(t, directory), 1)
	database, err := sql.Open("sqlite", filepath.Join(directory, "jobs.db"))
	require.NoError(t, err)
	_, err = database.Exec("DROP TRIGGER full")
	require.NoError(t, errors.Join(err, database.Close()))
	require.NoError(t, store.SettleLate(t.Context()))
	requireSettled(t, store)
	require.Empty(t, keptFiles(t, directory))
}

func TestTheEndThatOnlyAProcessHasSeenIsRecordedByALaterOne(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	ending, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	intend(t, ending, "a", "big")
	repair := fills(t, directory)
	settleInVain(t, ending, []jobstore.Outcome{{Tag: "a", ID: "a", Accepted: &job.Observation{Detail: job.Running}}})
	end := job.Observation{Detail: job.Completed, ExitCode: new(int), Reason: strings.Repeat("r", 1000), Observed: time.Now()}
	settleInVain(t, ending, []jobstore.Outcome{{Tag: "a", Ended: &end}})
	require.NoError(t, ending.Close())
	repair()

	later := openStore(t, directory)
	require.NoError(t, later.SettleLate(t.Context()))
	j, err := later.ByTag(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "a", j.ID)
	require.Equal(t, job.Completed, j.Detail)
	require.Equal(t, 0, *j.ExitCode)
	require.Empty(t, keptFiles(t, directory))
}

func TestWhatCameBeforeIsRecordedBeforeWhatComesNow(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := openStore(t, directory)
	intend(t, store, "a", "big")
	repair := fills(t, directory)
	settleInVain(t, store, []jobstore.Outcome{{Tag: "a", ID: "a", Accepted: &job.Observation{Detail: job.Running}}})
	repair()
	j, err := store.Settle(t.Context(), jobstore.Outcome{Tag: "a", Ended: &job.Observation{Detail: job.Failed, ExitCode: number(7)}})
	require.NoError(t, err)
	require.Equal(t, job.PhaseSubmitted, j.Phase)
	require.Equal(t, "a", j.ID)
	require.Equal(t, 7, *j.ExitCode)
}

func TestOutcomesOfALivingProcessAreItsOwn(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	living, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	other := openStore(t, directory)
	for _, outcome := range oddOutcomes {
		intend(t, living, outcome.Tag, "big")
	}
	repair := fills(t, directory)
	settleInVain(t, living, oddOutcomes)
	require.ErrorContains(t, living.SettleLate(t.Context()), "the disk is full")
	repair()
	require.NoError(t, other.SettleLate(t.Context()))
	j, err := other.ByTag(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, job.PhaseIntended, j.Phase)
	require.Len(t, keptFiles(t, directory), 1)

	require.NoError(t, living.Close())
	require.NoError(t, other.SettleLate(t.Context()))
	requireSettled(t, other)
	require.Empty(t, keptFiles(t, directory))
}

func TestOutcomesThatAreRecordedLateAreForgotten(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	for _, outcome := range oddOutcomes {
		intend(t, store, outcome.Tag, "big")
	}
	repair := fills(t, directory)
	settleInVain(t, store, oddOutcomes)
	repair()
	require.NoError(t, store.SettleLate(t.Context()))
	requireSettled(t, store)
	intend(t, store, "d", "big")
	repair = fills(t, directory)
	settleInVain(t, store, []jobstore.Outcome{{Tag: "d", ID: "8", Accepted: &job.Observation{}}})
	repair()
	require.NoError(t, store.Close())
	other := openStore(t, directory)
	require.NoError(t, other.SettleLate(t.Context()))
	requireSettled(t, other)
	job, err := other.ByTag(t.Context(), "d")
	require.NoError(t, err)
	require.Equal(t, "8", job.ID)
}

func TestWhatWasFoundOutOtherwiseMeanwhileCounts(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := openStore(t, directory)
	intend(t, store, "b", "big")
	repair := fills(t, directory)
	settleInVain(t, store, []jobstore.Outcome{{Tag: "b", Refused: "denied"}, {Tag: "gone", Doubted: "x"}}[:1])
	repair()
	_, err := openStore(t, directory).Accept(t.Context(), "b", job.Job{ID: "9"})
	require.NoError(t, err)
	require.NoError(t, store.SettleLate(t.Context()))
	job, err := store.ByTag(t.Context(), "b")
	require.NoError(t, err)
	require.Equal(t, "9", job.ID)
	_, err = store.Settle(t.Context(), jobstore.Outcome{Tag: "nobody", Refused: "x"})
	require.ErrorIs(t, err, jobstore.ErrNotFound)
	require.NotErrorIs(t, err, jobstore.ErrKept)
}

// A store has room for what many submissions at once want to keep, whatever was printed.
func TestTheRoomForOutcomesIsForManyAndDoesNotGrow(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	var outcomes []jobstore.Outcome
	for i := range 64 {
		tag := strings.Repeat("t", i+1)
		intend(t, store, tag, "big")
		outcomes = append(outcomes, jobstore.Outcome{Tag: tag, ID: tag, Accepted: &job.Observation{Evidence: strings.Repeat("e", jobstore.MaximumEvidence)}})
	}
	repair := fills(t, directory)
	settleInVain(t, store, outcomes)
	info, err := os.Stat(keptFiles(t, directory)[0])
	require.NoError(t, err)
	require.EqualValues(t, 64<<10, info.Size(), "it does not grow")
	for range 200 {
		_, err = store.Settle(t.Context(), outcomes[0])
	}
	require.ErrorContains(t, err, "has no room for more")
	repair()
	require.NoError(t, store.Close())
	other := openStore(t, directory)
	require.NoError(t, other.SettleLate(t.Context()))
	for _, outcome := range outcomes {
		job, err := other.ByTag(t.Context(), outcome.Tag)
		require.NoError(t, err)
		require.Equal(t, outcome.Tag, job.ID)
	}
}

func TestNothingStaysBesideAStoreThatRecordsAll(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	submit(t, store, "a", "big", "7")
	require.Len(t, keptFiles(t, directory), 1)
	require.NoError(t, store.Close())
	require.Empty(t, keptFiles(t, directory))

	store, err = jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	submit(t, store, "b", "big", "8")
	require.NoError(t, os.Remove(keptFiles(t, directory)[0]))
	require.NoError(t, store.Close())
}

func TestTheRoomOfProcessesThatHaveEndedIsTakenOver(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for _, name := range []string{"unrecorded-1", "unrecorded-2"} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), make([]byte, 64<<10), 0o600))
	}
	cutOff := filepath.Join(directory, "unrecorded-3")
	require.NoError(t, os.WriteFile(cutOff, make([]byte, 1<<10), 0o600))

	store := openStore(t, directory)
	require.NoError(t, store.SettleLate(t.Context()))
	require.NoFileExists(t, cutOff, "it was not written to its end")
	submit(t, store, "a", "big", "7")
	require.Len(t, keptFiles(t, directory), 1)
	require.Contains(t, []string{"unrecorded-1", "unrecorded-2"}, filepath.Base(keptFiles(t, directory)[0]))

	other := openStore(t, directory)
	submit(t, other, "b", "big", "8")
	require.Len(t, keptFiles(t, directory), 2, "that of a living process is not taken")
}
