package clusters_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Each script of testdata/script-gridengine is a conversation with a real Grid
// Engine, which says itself, through qstat and qacct, what rmctl has to say. They
// are short, since rmctl lets the scheduler rest after each question of one record.
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
		for try := 1; ; try++ {
			require.LessOrEqual(t, try, 10, "qrsh loses every exit code")
			s := d.Sits("run", "-t", "gridengine-interactive", "-e", "GREETING=hello  you", "--",
				"sh", "-c", `echo "<$GREETING>"; printf "[%s]" "$@"; read -r line; echo "<$line>"; stty size; exit 4`, "x", "a  b", "$HOME", "c'd", "*", "", `"e"`)
			s.WaitFor("<hello  you>")
			s.WaitFor(`[a  b][$HOME][c'd][*][]["e"]`)
			becomes(t, d, `"state":"RUNNING"`, "jobs", "--json")
			require.Contains(t, cell.Asks(t, "qstat", "-s", "r"), " sh ")
			s.Type("typed\r")
			s.WaitFor("<typed>")
			s.WaitFor("24 80") // which may come a moment after the program has begun
			err := s.End()
			if !strings.Contains(s.Screen, "could not be scheduled") {
				var exit *exec.ExitError
				require.ErrorAs(t, err, &exit)
				require.Equal(t, 4, exit.ExitCode(), s.Screen)
				require.Contains(t, d.Does("jobs", "--all", "--json"), `"exitCode":4`)
				return
			}
			// qrsh 8.1.9 asks for its job once more when the session has ended; where the
			// qmaster has forgotten it by then, it says this and ends with 1.
			t.Log("the exit code was lost by qrsh; another try")
		}
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
