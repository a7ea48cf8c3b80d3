package rmctltest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// openPBSHost is the variable of the environment in which openpbs-host.sh names the host that
// its command runs on.
const openPBSHost = "RMCTL_OPENPBS_HOST"

// openPBSServers each have a number, and by that their ports.
var openPBSServers = []string{"scripts", "forgetful", "interactive"}

// An OpenPBSServer is a real OpenPBS with one node.
type OpenPBSServer struct {
	Environment map[string]string // what OpenPBS's programs need, and UP, which starts it again
}

// OpenPBSMain is Main for a package that needs a real OpenPBS: its tests run on a host of
// their own, which ends with them. Without OpenPBS they run here, and [OpenPBS] skips them.
// The folder is the project's, relative to the package.
func OpenPBSMain(m *testing.M, project string) int {
	if os.Getenv(openPBSHost) != "" {
		return Main(m)
	}
	scripts := filepath.Join(project, "testdata", "clusters")
	if exec.Command(filepath.Join(scripts, "openpbs-find.sh")).Run() != nil {
		return m.Run()
	}
	command := exec.Command(filepath.Join(scripts, "openpbs-host.sh"), os.Args...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return command.ProcessState.ExitCode()
}

// OpenPBS starts the server of a name, which knows no jobs, with settings of openpbs-up.sh.
// Where OpenPBS is not installed the test is skipped.
func OpenPBS(t testing.TB, name string, settings ...string) *OpenPBSServer {
	t.Helper()
	if os.Getenv(openPBSHost) == "" {
		needPrograms(t, "pbs_server") // seen by go test, too, which repeats a test when the PATH is another
		reason, err := exec.Command(filepath.Join(Project(t), "testdata", "clusters", "openpbs-find.sh")).CombinedOutput()
		require.Error(t, err, "OpenPBSMain does not run the tests")
		t.Skipf("needs OpenPBS: %s", strings.TrimSpace(string(reason)))
	}
	number := slices.Index(openPBSServers, name)
	require.GreaterOrEqual(t, number, 0, "enter %q into the list that gives each its ports", name)
	settings = append([]string{"RMCTL_OPENPBS_DIR=/mnt/" + name, fmt.Sprintf("RMCTL_OPENPBS_PORT=%d", 15001+10*number)}, settings...)
	environment := exports(t, ClusterScript(t, "openpbs-up.sh", settings...))
	environment[openPBSHost] = os.Getenv(openPBSHost)
	environment["UP"] = "env " + strings.Join(settings, " ") + " " + filepath.Join(Project(t), "testdata", "clusters", "openpbs-up.sh")
	return &OpenPBSServer{environment}
}

// exports returns the variables that a script prints as commands of a shell.
func exports(t testing.TB, printed string) map[string]string {
	t.Helper()
	environment := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(printed), "\n") {
		name, value, found := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		require.True(t, found, "%s", line)
		environment[name] = value
	}
	return environment
}
