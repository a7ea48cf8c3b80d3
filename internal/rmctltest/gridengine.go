package rmctltest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each cell that tests start has a number of its own, and by that its ports.
var cells = []string{"scripts", "interactive", "portable", "outcomes", "waits", "recover", "originals", "nodes", "stacks", "coalloc"}

// A Cell is a real Grid Engine of this machine.
type Cell struct {
	Directory   string            // where everything of it is
	Environment map[string]string // what Grid Engine's programs need

	settings []string
}

// GridEngine starts the cell of a name, which knows no jobs, with settings of
// gridengine-up.sh. It is stopped when the test has ended. RMCTL_GRIDENGINE_DIR and
// RMCTL_GRIDENGINE_PORT of the environment say where all of them begin.
func GridEngine(t testing.TB, name string, settings ...string) *Cell {
	t.Helper()
	NeedClusters(t)
	directory, port := place(t, "gridengine", name, cells, 26817, 2)
	c := &Cell{Directory: directory}
	c.settings = append([]string{"RMCTL_GRIDENGINE_DIR=" + directory, fmt.Sprintf("RMCTL_GRIDENGINE_PORT=%d", port)}, settings...)
	remove := append([]string{"RMCTL_GRIDENGINE_REMOVE=1"}, c.settings...)
	ClusterScript(t, "gridengine-down.sh", remove...) // a test that was killed leaves jobs behind
	t.Cleanup(func() { ClusterScript(t, "gridengine-down.sh", remove...) })
	c.Environment = exports(t, ClusterScript(t, "gridengine-up.sh", c.settings...))
	return c
}

// Settings are the variables of the cell, as NAME=VALUE.
func (c *Cell) Settings() []string {
	var settings []string
	for name, value := range c.Environment {
		settings = append(settings, name+"="+value)
	}
	return settings
}

// Asks runs one of Grid Engine's own programs, which must succeed, and returns
// what it prints.
func (c *Cell) Asks(t testing.TB, program string, arguments ...string) string {
	t.Helper()
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), c.Settings()...)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s %s: %s", program, strings.Join(arguments, " "), output)
	return strings.TrimSpace(string(output))
}
