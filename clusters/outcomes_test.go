package clusters_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The time after the last end within which all outcomes must be known, on a machine that also
// runs other suites: docs/operate/performance.md has that of an idle one. One by one it would
// take minutes.
const outcomesKnown = time.Minute

// knowsOutcomes submits many short jobs; half of them fail. Soon after all have left the
// scheduler, rmctl must know how each ended, even if it queries none of them earlier.
// RMCTL_OUTCOMES replaces their number.
func knowsOutcomes(t *testing.T, d *rmctltest.Desk, target string, count int, isLate bool, hasLeft func(ids []string) bool) {
	t.Helper()
	if text := os.Getenv("RMCTL_OUTCOMES"); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	var jobs strings.Builder
	for i := range count {
		fmt.Fprintf(&jobs, `{"executable": "/bin/sh", "arguments": ["-c", "exit %d"]}`+"\n", i%2*3)
	}
	batch := filepath.Join(d.Home, "jobs.jsonl")
	require.NoError(t, os.WriteFile(batch, []byte(jobs.String()), 0o644))
	d.Does("submit", "-t", target, "--batch", batch)

	var ids, named []string
	for _, j := range recordedJobs(t, d, target) {
		ids, named = append(ids, j.ID), append(named, target+"/"+j.ID)
	}
	waiting := d.Command(t.Context(), append([]string{"wait", "--timeout", "10m"}, named...)...)
	if !isLate {
		require.NoError(t, waiting.Start())
	}
	require.Eventually(t, func() bool { return hasLeft(ids) }, 10*time.Minute, 100*time.Millisecond)
	if isLate {
		require.NoError(t, waiting.Start())
	}
	ended, waited := time.Now(), make(chan error, 1)
	go func() { waited <- waiting.Wait() }()
	select {
	case <-waited:
	case <-time.After(outcomesKnown):
		t.Logf("the state of the jobs:\n%s", d.Does("jobs", "--all", "--json", "-t", target))
		require.NoError(t, waiting.Process.Kill())
		<-waited
		require.Fail(t, "the outcomes are not known in time")
	}
	require.Equal(t, 3, waiting.ProcessState.ExitCode(), "the code of a job that failed")
	t.Logf("%s: the outcomes of %d jobs are known %s after the last end", target, count, time.Since(ended).Round(10*time.Millisecond))
	outcomes := map[string]int{}
	for _, j := range recordedJobs(t, d, target) {
		outcomes[fmt.Sprint(j.Detail, " ", *j.ExitCode)]++
	}
	require.Equal(t, map[string]int{"COMPLETED 0": (count + 1) / 2, "FAILED 3": count / 2}, outcomes)
}

// recordedJobs returns the jobs of a target on record.
func recordedJobs(t *testing.T, d *rmctltest.Desk, target string) []jobStatus {
	t.Helper()
	var jobs []jobStatus
	for line := range strings.Lines(d.Does("jobs", "--all", "--json", "-t", target)) {
		var j jobStatus
		require.NoError(t, json.Unmarshal([]byte(line), &j))
		jobs = append(jobs, j)
	}
	return jobs
}

func TestOutcomesOfManyJobsOfSlurm(t *testing.T) {
	t.Parallel()
	t.Run("remembered", func(t *testing.T) {
		t.Parallel()
		cluster := rmctltest.Slurm(t, "outcomes")
		knowsOutcomes(t, rmctltest.NewDesk(t, "", cluster.Setting()), "slurm", 100, false, func([]string) bool { return cluster.Asks(t, "squeue", "--noheader") == "" })
	})
	t.Run("forgotten", func(t *testing.T) {
		t.Parallel()
		cluster := rmctltest.Slurm(t, "outcomes-forgotten", "RMCTL_SLURM_MINJOBAGE=2", "RMCTL_SLURM_ACCOUNTING=yes")
		knowsOutcomes(t, rmctltest.NewDesk(t, "", cluster.Setting()), "slurm", 100, true, func([]string) bool { return cluster.Asks(t, "squeue", "--noheader", "--states=all") == "" })
	})
}

func TestOutcomesOfManyJobsOfGridEngine(t *testing.T) {
	t.Parallel()
	cell := rmctltest.GridEngine(t, "outcomes", "RMCTL_GRIDENGINE_SLOTS=32")
	knowsOutcomes(t, rmctltest.NewDesk(t, "", cell.Settings()...), "gridengine", 100, false, func([]string) bool { return cell.Asks(t, "qstat", "-u", "*") == "" })
}
