package clusters_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Each script of testdata/script-gridengine runs rmctl with a real Grid Engine, and compares
// it with qstat and qacct. The scripts are short, since rmctl pauses after each query of one
// record.
func TestGridEngine(t *testing.T) {
	t.Parallel()
	cell := rmctltest.GridEngine(t, "scripts", "RMCTL_GRIDENGINE_SLOTS=32") // all scripts run at once
	sees, err := filepath.Abs(filepath.Join("testdata", "sees.sh"))
	require.NoError(t, err)
	cell.Environment["SEES"] = sees
	rmctltest.Scripts(t, filepath.Join("testdata", "script-gridengine"), cell.Environment)
}

// Programs on terminals of a real Grid Engine, through qrsh.
func TestInteractiveGridEngine(t *testing.T) {
	t.Parallel()
	cell := rmctltest.GridEngine(t, "interactive")
	desk := func(t *testing.T) *rmctltest.Desk { return rmctltest.NewDesk(t, interactive, cell.Settings()...) }

	t.Run("a program has a terminal, its words and variables, and its exit code is passed on", func(t *testing.T) {
		d := desk(t)
		s := d.Sits("run", "-t", "gridengine-interactive", "-e", "GREETING=hello  you", "--",
			"sh", "-c", `echo "<$GREETING>"; printf "[%s]" "$@"; read -r line; echo "<$line>"; stty size; exit 4`, "x", "a  b", "$HOME", "c'd", "*", "", `"e"`)
		s.WaitFor("<hello  you>")
		s.WaitFor(`[a  b][$HOME][c'd][*][]["e"]`)
		becomes(t, d, `"state":"RUNNING"`, "jobs", "--json")
		require.Contains(t, cell.Asks(t, "qstat", "-s", "r"), " sh ")
		s.Type("typed\r")
		s.WaitFor("<typed>")
		s.WaitFor("24 80") // which may appear shortly after the program has begun
		s.Ends(4)          // even if qrsh has lost the exit code
		require.Contains(t, d.Does("jobs", "--all", "--json"), `"exitCode":4`)
		require.NotContains(t, s.Screen, "@rmctl")
	})

	t.Run("Ctrl-C is for the program", func(t *testing.T) {
		d := desk(t)
		s := d.Sits("run", "-t", "gridengine-interactive", "--", "sh", "-c", `trap 'echo interrupted; exit 5' INT; echo begun; while :; do sleep 0.2; done`)
		s.WaitFor("begun")
		s.Type("\x03")
		s.WaitFor("interrupted")
		s.Ends(5)
	})

	for _, environment := range []string{"", rmctltest.Foreground} {
		t.Run("without a terminal streams are passed on as they are "+environment, func(t *testing.T) {
			d := rmctltest.NewDesk(t, interactive, append(cell.Settings(), environment)...)
			passesStreams(t, d, anyBytes, "run", "-t", "gridengine-interactive")
		})
	}

	t.Run("what Grid Engine does not start has not completed", func(t *testing.T) {
		d := desk(t)
		stdout, stderr, code := runsWithout(t, d, nil, false, "run", "-t", "gridengine-interactive", "-s", "queue=closed.q", "-s", "wait=n", "--", "touch", "ran")
		require.Equal(t, exitScheduler, code, stderr)
		require.Contains(t, stderr, "could not be scheduled")
		require.Empty(t, stdout)
		require.NotContains(t, d.Does("jobs", "--all", "--json"), `"detail":"COMPLETED"`)
		require.NoFileExists(t, filepath.Join(d.Home, "ran"))
	})

	t.Run("a job that Grid Engine ends has not completed", func(t *testing.T) {
		d := desk(t)
		_, stderr, code := runsWithout(t, d, nil, false, "run", "-t", "gridengine-interactive", "--", "sh", "-c", `qdel "$JOB_ID"; sleep 600`)
		require.NotZero(t, code, stderr)
		id := regexp.MustCompile(`job (\d+) runs`).FindStringSubmatch(stderr)[1]
		require.Eventually(t, func() bool {
			found, err := exec.Command("env", append(cell.Settings(), "qacct", "-j", id)...).CombinedOutput()
			return err == nil && strings.Contains(string(found), "failed       100")
		}, 5*time.Minute, 200*time.Millisecond)
		require.Contains(t, d.Does("jobs", "--all", "--json"), `"detail":"FAILED"`)
	})

	t.Run("one that waits is canceled", func(t *testing.T) {
		d := desk(t)
		id := d.Does("run", "--detach", "-t", "gridengine-interactive", "-s", "queue=closed.q", "--", "true")
		require.Regexp(t, `^\d+$`, id)
		require.Regexp(t, `(?m)^ *`+id+` `, cell.Asks(t, "qstat", "-s", "p"))
		d.Does("cancel", id)
		require.Contains(t, d.Does("status", "--json", id), `"detail":"CANCELED"`)
		require.NotRegexp(t, `(?m)^ *`+id+` `, cell.Asks(t, "qstat"))
	})

	t.Run("none is submitted", func(t *testing.T) {
		d := desk(t)
		require.Contains(t, d.Refused(exitScheduler, "run", "-t", "gridengine-interactive", "-s", "queue=nope.q", "--", "true"), `unknown queue "nope.q"`)
	})
}
