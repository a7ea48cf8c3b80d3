package clusters_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cmd/rmctl/rmctltest"
)

// Each script of testdata/script-gridengine is a conversation with a real Grid
// Engine, which says itself, through qstat and qacct, what rmctl has to say.
func TestGridEngine(t *testing.T) {
	t.Parallel()
	cell := rmctltest.GridEngine(t, "scripts")
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
		require.Contains(t, d.Does("jobs", "--json"), `"state":"RUNNING"`)
		require.Contains(t, cell.Asks(t, "qstat", "-s", "r"), " sh ")
		s.Type("typed\r")
		s.WaitFor("<typed>")
		s.WaitFor("24 80") // which may come a moment after the program has begun
		s.Ends(4)
		require.Contains(t, d.Does("jobs", "--all", "--json"), `"exitCode":4`)
	})

	t.Run("one that waits is canceled", func(t *testing.T) {
		d := desk(t)
		id := d.Does("run", "--detach", "-t", "gridengine-interactive", "-s", "queue=closed.q", "--", "true")
		require.Regexp(t, `^\d+$`, id)
		require.Contains(t, cell.Asks(t, "qstat", "-s", "p"), " "+id+" ")
		d.Does("cancel", id)
		require.Contains(t, d.Does("status", "--json", id), `"detail":"CANCELED"`)
		require.NotContains(t, cell.Asks(t, "qstat"), " "+id+" ")
	})

	t.Run("none is submitted", func(t *testing.T) {
		d := desk(t)
		require.Contains(t, d.Refused(exitScheduler, "run", "-t", "gridengine-interactive", "-s", "queue=nope.q", "--", "true"), `unknown queue "nope.q"`)
	})
}
