package clusters_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// A plan has the start time that a real Slurm expects, and the reason if the job can never
// start.
func TestPlansHaveTheStartThatSlurmExpects(t *testing.T) {
	cluster := rmctltest.Slurm(t, "plan")
	_, file, _ := strings.Cut(cluster.Setting(), "=")
	t.Setenv("SLURM_CONF", file)
	folder := t.TempDir()
	client := rmctl.New(rmctl.Options{ConfigFolder: folder, SiteFolder: filepath.Join(folder, "none"), StateFolder: filepath.Join(folder, "state")})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	request, err := coalloc.ReadRequest(context.Background(), []byte(`+(&(resourceManagerContact=slurm)(label=now)(executable=/bin/true)(arguments="a b"))
		(&(resourceManagerContact=slurm)(label=never)(executable=/bin/true)(rm.nodes=9999))`), coalloc.Sources{})
	require.NoError(t, err)
	plans := coalloc.Plan(context.Background(), client, request, true)
	require.NoError(t, plans[0].Problem)
	require.NoError(t, plans[0].NoStart)
	require.WithinDuration(t, time.Now(), plans[0].Start, time.Hour)
	require.NoError(t, plans[1].Problem)
	require.ErrorContains(t, plans[1].NoStart, "allocation failure")
	require.Zero(t, plans[1].Start)
}

// The plan of a part behind another job has the reason of a real Slurm, and the start that its
// backfill scheduler expects.
func TestPartsInTheQueueOfSlurmHaveAnExpectedStart(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "estimate")
	v := venue{desk: rmctltest.NewDesk(t, "", cluster.Setting()), slurm: "slurm"}
	ahead := cluster.Asks(t, "sbatch", "--parsable", "--exclusive", "--nodes=2", "--time=30", "--output=/dev/null", "--wrap=sleep 1000")
	t.Cleanup(func() { cluster.Asks(t, "scancel", ahead) })
	require.Eventually(t, func() bool {
		return cluster.Asks(t, "squeue", "--noheader", "--jobs="+ahead, "--format=%T") == "RUNNING"
	}, time.Minute, 100*time.Millisecond)
	id := v.desk.Does("coalloc", "submit", v.request(t, v.printing("late", v.slurm, `attributes.wallTime = "5m"`)))
	t.Cleanup(func() { v.desk.Does("coalloc", "cancel", id) })
	v.reaches(t, id, coalloc.PartPending)
	var status coalloc.Status
	require.Eventually(t, func() bool {
		status = coalloc.Status{}
		require.NoError(t, json.Unmarshal([]byte(v.desk.Does("coalloc", "status", "--start", "--json", id)), &status))
		require.Empty(t, status.Parts[0].StartProblem)
		return !status.Parts[0].ExpectedStart.IsZero() && status.Parts[0].Reason != ""
	}, 2*time.Minute, time.Second, "Slurm expects no start")
	require.WithinDuration(t, time.Now().Add(30*time.Minute), status.Parts[0].ExpectedStart, 5*time.Minute)
	require.Regexp(t, `late: job \d+ waits in the queue of slurm: \w+; expected start 2`, v.desk.Does("coalloc", "explain", id))
}
