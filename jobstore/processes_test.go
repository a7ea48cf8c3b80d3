package jobstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func TestProcessesAreKeptAsTheyWereLastSeen(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "parallel", "mpi", "7")
	three, nine := 3, 9
	before := []job.Process{{Rank: 10, Node: "n1", PID: 12, State: "RUNNING"}, {Rank: 2, Node: "n0", PID: 11, State: "RUNNING", Output: "hello \xff\n", ErrorOutput: "oops \xff\n"}}
	require.NoError(t, store.RecordProcesses(t.Context(), "parallel", before))
	after := []job.Process{{Rank: 10, Node: "n1", PID: 12, State: "EXITED", ExitCode: &three}, {Rank: 11, State: "EXITED_SIGNALLED", Signal: &nine}}
	require.NoError(t, store.RecordProcesses(t.Context(), "parallel", after))
	kept, err := store.Processes(t.Context(), "parallel")
	require.NoError(t, err)
	require.Equal(t, []job.Process{before[1], after[0], after[1]}, kept)
	none, err := store.Processes(t.Context(), "another")
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestTheProcessesOfAllJobsOfATargetAreRead(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "a", "mpi", "7")
	submit(t, store, "b", "mpi", "8")
	submit(t, store, "c", "other", "9")
	three := 3
	require.NoError(t, store.RecordProcesses(t.Context(), "a", []job.Process{{Rank: 1, Node: "n1", PID: 12, State: "EXITED", ExitCode: &three, Output: "hello", ErrorOutput: "oops"}, {State: "RUNNING"}}))
	require.NoError(t, store.RecordProcesses(t.Context(), "b", []job.Process{{State: "RUNNING"}}))
	require.NoError(t, store.RecordProcesses(t.Context(), "c", []job.Process{{State: "RUNNING"}}))
	var tags []string
	var processes []job.Process
	require.NoError(t, store.EachProcess(t.Context(), "mpi", func(tag string, p job.Process) error {
		tags, processes = append(tags, tag), append(processes, p)
		return nil
	}))
	require.Equal(t, []string{"a", "a", "b"}, tags)
	require.Equal(t, []job.Process{{State: "RUNNING"}, {Rank: 1, Node: "n1", PID: 12, State: "EXITED", ExitCode: &three, Output: "hello", ErrorOutput: "oops"}, {State: "RUNNING"}}, processes)
	require.ErrorIs(t, store.EachProcess(t.Context(), "mpi", func(string, job.Process) error { return jobstore.ErrNotFound }), jobstore.ErrNotFound)
}

func TestTheEndOfTheOutputOfAProcessIsKept(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "parallel", "mpi", "7")
	require.NoError(t, store.RecordProcesses(t.Context(), "parallel", []job.Process{{State: "RUNNING",
		Output: strings.Repeat("x", 2*jobstore.MaximumEvidence) + "end", ErrorOutput: strings.Repeat("é", jobstore.MaximumEvidence) + "failed"}}))
	kept, err := store.Processes(t.Context(), "parallel")
	require.NoError(t, err)
	require.Len(t, kept[0].Output, jobstore.MaximumEvidence)
	require.True(t, strings.HasSuffix(kept[0].Output, "xend"))
	require.Len(t, kept[0].ErrorOutput, jobstore.MaximumEvidence)
	require.True(t, strings.HasSuffix(kept[0].ErrorOutput, "éfailed"))
	require.NoError(t, store.EachProcess(t.Context(), "mpi", func(_ string, p job.Process) error {
		require.Equal(t, []string{strings.Repeat("x", 509) + "end", strings.Repeat("é", 253) + "failed"}, []string{p.Output, p.ErrorOutput}, "views show the end of that")
		return nil
	}))
}

func TestProcessesAreForgottenWithTheirJob(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	submit(t, store, "parallel", "mpi", "7")
	require.NoError(t, store.RecordProcesses(t.Context(), "parallel", []job.Process{{State: "EXITED"}}))
	_, err := store.Observe(t.Context(), "parallel", job.Observation{Detail: "COMPLETED", Observed: noon})
	require.NoError(t, err)
	count, err := store.Prune(t.Context(), time.Now().Add(time.Hour), "")
	require.NoError(t, err)
	require.Equal(t, 1, count)
	left, err := store.Processes(t.Context(), "parallel")
	require.NoError(t, err)
	require.Empty(t, left)
}
