package clusters_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// noticed is the time within which a wait must notice the end of a job that the scheduler
// shows, on a machine that also runs other suites: docs/operate/performance.md has that of an
// idle one.
const noticed = 15 * time.Second

// noticesEnds waits for one job after the other and requires that each wait ends soon after
// the scheduler shows the end. RMCTL_WAITS has their run times, in seconds.
func noticesEnds(t *testing.T, d *rmctltest.Desk, target string, hasEnded func(id string) bool) {
	t.Helper()
	runTimes := "1,3"
	if text := os.Getenv("RMCTL_WAITS"); text != "" {
		runTimes = text
	}
	for text := range strings.SplitSeq(runTimes, ",") {
		seconds, err := strconv.Atoi(text)
		require.NoError(t, err)
		id := d.Does("submit", "-t", target, "-s", "wallTime=10m", "--", "sleep", text)
		waiting := d.Command(t.Context(), "wait", "--timeout", "9m", id)
		require.NoError(t, waiting.Start())
		over := make(chan time.Time, 1)
		go func() {
			_ = waiting.Wait() // its exit code is checked below
			over <- time.Now()
		}()
		require.Eventually(t, func() bool { return hasEnded(id) }, 9*time.Minute, 50*time.Millisecond)
		shown := time.Now()
		late := max(0, (<-over).Sub(shown))
		require.Zero(t, waiting.ProcessState.ExitCode())
		t.Logf("%s: the wait for a job of %d s ends %s after the scheduler shows the end", target, seconds, late.Round(10*time.Millisecond))
		require.Less(t, late, noticed)
	}
}

func TestWaitNoticesTheEndOfAJobOfSlurm(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "waits")
	noticesEnds(t, rmctltest.NewDesk(t, "", cluster.Setting()), "slurm", func(id string) bool {
		return cluster.Asks(t, "squeue", "--noheader", "--jobs="+id) == ""
	})
}

func TestWaitNoticesTheEndOfAJobOfGridEngine(t *testing.T) {
	t.Parallel()
	cell := rmctltest.GridEngine(t, "waits")
	noticesEnds(t, rmctltest.NewDesk(t, "", cell.Settings()...), "gridengine", func(string) bool { return cell.Asks(t, "qstat", "-u", "*") == "" })
}
