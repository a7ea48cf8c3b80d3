package rmctltest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// OARUser is the user who submits jobs to OAR, which refuses those of root.
const OARUser = "rmtest"

// oars are the suites that start an OAR, one after the other: a machine has one at a time.
var oars = []string{"suite"}

// An OAR is a real OAR of this machine.
type OAR struct{ settings []string }

// StartOAR starts the OAR of a name, which knows no jobs. It is stopped when the test has
// ended. RMCTL_OAR_DIR and RMCTL_OAR_PORT of the environment say where it is.
func StartOAR(t testing.TB, name string) *OAR {
	t.Helper()
	NeedClusters(t)
	directory, port := place(t, "oar", name, oars, 25817, 3)
	o := &OAR{[]string{"RMCTL_OAR_DIR=" + directory, fmt.Sprintf("RMCTL_OAR_PORT=%d", port), "RMCTL_OAR_USER=" + OARUser}}
	remove := append([]string{"RMCTL_OAR_REMOVE=1"}, o.settings...)
	ClusterScript(t, "oar-down.sh", remove...) // a test that was killed leaves jobs behind
	t.Cleanup(func() { ClusterScript(t, "oar-down.sh", remove...) })
	o.Start(t)
	return o
}

// Start starts the daemons that do not run, and waits until all answer.
func (o *OAR) Start(t testing.TB) {
	t.Helper()
	ClusterScript(t, "oar-up.sh", o.settings...)
}

// Stop stops one daemon: almighty or postgres.
func (o *OAR) Stop(t testing.TB, daemon string) {
	t.Helper()
	ClusterScript(t, "oar-down.sh", append([]string{"RMCTL_OAR_ONLY=" + daemon}, o.settings...)...)
}

// Asks runs one of OAR's own programs, which must succeed, and returns what it prints.
func (o *OAR) Asks(t testing.TB, program string, arguments ...string) string {
	t.Helper()
	output, err := exec.Command(program, arguments...).CombinedOutput()
	require.NoError(t, err, "%s %s: %s", program, strings.Join(arguments, " "), output)
	return strings.TrimSpace(string(output))
}
