// Package clusters_test runs rmctl against real software: schedulers, MPI and SSH
// daemons from the packages of Debian, which testdata/clusters installs, starts
// and stops.
//
//	RMCTL_CLUSTERS=1 go test ./clusters/...        # as root on Debian
//	RMCTL_CLUSTERS=1 go test ./clusters -run Slurm -v
//	RMCTL_SLURM_DIR=/tmp/mine RMCTL_SLURM_PORT=20017 RMCTL_CLUSTERS=1 go test ./clusters   # beside another run
//
// Without RMCTL_CLUSTERS=1 its tests are skipped. The command is built once for
// each package, with the race detector where the tests have it, and is the first
// rmctl of the PATH. A new suite
//
//   - begins with rmctltest.NeedClusters, or with what starts its software and
//     says so: rmctltest.Slurm, rmctltest.SSHD. What it starts has a name of its
//     own in rmctltest, and by that directories and ports: suites run at the
//     same time as those of other packages, and may run beside each other;
//   - is a folder of testscripts, testdata/script-NAME, for rmctltest.Scripts, where
//     conversations say it all; Go with rmctltest.NewDesk where it needs
//     terminals, or breaks something meanwhile;
//   - calls t.Parallel, since it mostly waits, and takes 90 s at most.
//
// Flux is in no package of Debian: its suite runs wherever flux is on the PATH, with
// RMCTL_CLUSTERS=1 and without. So does that of OpenPBS, in clusters/openpbs, where
// pbs_server is on the PATH of root.
//
// The programs that spoke the proxy protocol first are in no package either: tests of Original
// run where RMCTL_PTP_BUILD names the folder of a build of them.
//
// What breaks software, or works for long, is in clusters/outages, what needs SSH daemons
// in clusters/ssh. What kills rmctl at
// chosen points is beside the command itself, in cmd/rmctl.
package clusters_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/debugtest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The documented exit codes of rmctl.
const (
	exitDone        = 0
	exitFailed      = 1
	exitScheduler   = 3
	exitNoJob       = 4
	exitUnreachable = 5
)

// interactive holds definitions of programs with terminals.
var interactive = filepath.Join("testdata", "interactive")

// becomes waits until the output of an rmctl command matches an expression, and returns it: a
// job may print before the record shows it.
func becomes(t *testing.T, d *rmctltest.Desk, expression string, arguments ...string) (printed string) {
	t.Helper()
	wanted := regexp.MustCompile(expression)
	require.Eventually(t, func() bool {
		printed = d.Does(arguments...)
		return wanted.MatchString(printed)
	}, 5*time.Minute, 50*time.Millisecond, "%s is not printed by %v", expression, arguments)
	return printed
}

func TestMain(m *testing.M) {
	debugtest.Main()
	os.Exit(rmctltest.Main(m))
}
