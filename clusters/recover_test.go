package clusters_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// recovered is the time limit of recover for many submissions, on a machine that also runs
// other suites: docs/operate/reliability.md has the time of an idle one. With a search for
// each it would take minutes.
const recovered = time.Minute

// killsRmctl replaces a scheduler's submit command. It kills the rmctl that started it, before
// or after it submits the job.
const killsRmctl = `#!/bin/sh
[ "$WHEN" = before ] || PATH=${PATH#*:} %[1]s "$@"
process=$PPID
until [ "$(ps -o comm= -p $process)" = rmctl ]; do process=$(ps -o ppid= -p $process | tr -d ' '); done
kill -KILL $process
`

// recoversMany leaves fifty submissions in doubt, half of them known to the scheduler, and
// requires that one recover adopts these. Held jobs cost the scheduler no time.
func recoversMany(t *testing.T, d *rmctltest.Desk, target, submit string) {
	t.Helper()
	const each = 25
	folder := filepath.Join(d.Home, "killing")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, submit), fmt.Appendf(nil, killsRmctl, submit), 0o755))
	for range each {
		for _, when := range []string{"before", "after"} {
			submitting := d.Command(t.Context(), "submit", "-t", target, "-s", "hold=true", "-s", "wallTime=10m", "--", "true")
			submitting.Env = append(submitting.Env, "WHEN="+when, "PATH="+folder+":"+os.Getenv("PATH"))
			require.ErrorContains(t, submitting.Run(), "signal: killed")
		}
	}
	inDoubt := map[string]bool{}
	for _, j := range recordedJobs(t, d, target) {
		inDoubt[j.Tag] = true
	}
	require.Len(t, inDoubt, 2*each)
	recovering := d.Command(t.Context(), "recover", "-t", target)
	begun := time.Now()
	said, _ := recovering.CombinedOutput() // it fails while some are in doubt
	took := time.Since(begun)
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	t.Logf("%s: recover takes %s: %s", target, took.Round(10*time.Millisecond), lines[len(lines)-1])
	require.Less(t, took, recovered)
	adopted := 0
	for _, j := range recordedJobs(t, d, target) { // including jobs of other tests of this user
		if inDoubt[j.Tag] && j.ID != "" {
			adopted++
		}
	}
	require.Equal(t, each, adopted, "%s", said)
}

func TestRecoverOfManySubmissionsToGridEngine(t *testing.T) {
	t.Parallel()
	cell := rmctltest.GridEngine(t, "recover")
	recoversMany(t, rmctltest.NewDesk(t, "", cell.Settings()...), "gridengine", "qsub")
}

func TestRecoverOfManySubmissionsToSlurm(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "recover")
	recoversMany(t, rmctltest.NewDesk(t, "", cluster.Setting()), "slurm", "sbatch")
}
