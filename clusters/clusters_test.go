// Package clusters_test runs rmctl against real software: schedulers, MPI and SSH
// daemons from the packages of Debian, which testdata/clusters installs, starts
// and stops.
//
//	RMCTL_CLUSTERS=1 go test ./clusters            # as root on Debian
//	RMCTL_CLUSTERS=1 go test ./clusters -run Slurm -v
//	RMCTL_SLURM_DIR=/tmp/mine RMCTL_SLURM_PORT=20017 RMCTL_CLUSTERS=1 go test ./clusters   # beside another run
//
// Without RMCTL_CLUSTERS=1 its tests are skipped. The command is built once for
// all of them, with the race detector where the tests have it, and is the first
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
// What kills rmctl at chosen points is beside the command itself, in cmd/rmctl.
package clusters_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The exit codes of rmctl that its documentation tells.
const (
	exitDone        = 0
	exitFailed      = 1
	exitScheduler   = 3
	exitNoJob       = 4
	exitUnreachable = 5
)

// interactive holds definitions of programs that have terminals.
var interactive = filepath.Join("testdata", "interactive")

// becomes waits until a command of rmctl prints what matches an expression, and returns
// that: what a job prints may be faster than the record of it.
func becomes(t *testing.T, d *rmctltest.Desk, expression string, arguments ...string) (printed string) {
	t.Helper()
	wanted := regexp.MustCompile(expression)
	require.Eventually(t, func() bool {
		printed = d.Does(arguments...)
		return wanted.MatchString(printed)
	}, 5*time.Minute, 50*time.Millisecond, "%s is not printed by %v", expression, arguments)
	return printed
}

// atOnce is how many tests run at once unless -parallel tells: they wait for
// schedulers, and hardly need a processor.
const atOnce = "8"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	code, err := runWithCommand(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// runWithCommand builds rmctl, runs the tests with it and removes it.
func runWithCommand(m *testing.M) (int, error) {
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		return m.Run(), nil // all are skipped
	}
	folder, err := os.MkdirTemp("", "rmctl-built-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	build := exec.Command("go", slices.Concat([]string{"build", "-o", folder}, flagsOfBuild(), []string{"./cmd/rmctl"})...)
	build.Dir = ".."
	if output, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building rmctl: %w: %s", err, output)
	}
	if err := os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// flagsOfBuild returns the flags that the tests were built with and rmctl needs, too: with the
// same ones, what was compiled for the tests is compiled for rmctl.
func flagsOfBuild() []string {
	information, known := debug.ReadBuildInfo()
	if !known {
		return nil
	}
	var flags []string
	for _, setting := range information.Settings {
		if setting.Key == "-race" || setting.Key == "-gcflags" {
			flags = append(flags, setting.Key+"="+setting.Value)
		}
	}
	return flags
}
