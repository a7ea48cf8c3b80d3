package rmctltest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// NeedClusters skips a test unless real components are wanted.
func NeedClusters(t testing.TB) {
	t.Helper()
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("needs real schedulers and daemons: RMCTL_CLUSTERS=1 starts them, as root on Debian")
	}
}

// ClusterScript runs a script of testdata/clusters with settings in its
// environment, and returns what it prints.
func ClusterScript(t testing.TB, name string, settings ...string) string {
	t.Helper()
	command := exec.Command(filepath.Join(Project(t), "testdata", "clusters", name))
	command.Env = append(os.Environ(), settings...)
	var said strings.Builder
	command.Stderr = &said
	output, err := command.Output()
	require.NoError(t, err, "%s: %s", name, &said)
	return string(output)
}

// Each cluster and each pair of daemons that tests start has a number of its
// own, and by that its ports: they run at the same time. All ports are below 32768: from there
// on, the kernel gives them to clients.
var (
	slurms  = []string{"scripts", "forgetful", "interactive", "ssh", "crash", "overhead", "outages", "life", "soak", "portable", "web", "screen", "crash-interactive", "accounting", "outcomes", "outcomes-forgotten", "waits", "recover", "originals", "nodes", "stacks", "plan", "coalloc", "estimate", "at", "debug"}
	daemons = []string{"scripts", "slurm", "x11", "no-x11", "overhead", "interactive", "soak", "clock-behind", "clock-ahead", "rows", "zone", "originals", "nodes", "stacks", "coalloc", "ensemble", "at", "debug"}
)

// place returns the directory and the first port of one of several. Environment
// variables can set those of the first.
func place(t testing.TB, kind, name string, names []string, usualPort, portsOfEach int) (directory string, port int) {
	t.Helper()
	number := slices.Index(names, name)
	require.GreaterOrEqual(t, number, 0, "enter %q into the list that gives each its ports", name)
	port = usualPort
	if text := os.Getenv("RMCTL_" + strings.ToUpper(kind) + "_PORT"); text != "" {
		var err error
		port, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	directory = cmp.Or(os.Getenv("RMCTL_"+strings.ToUpper(kind)+"_DIR"), "/tmp/rmctl-test-"+kind)
	return directory + "-" + name, port + number*portsOfEach
}

// A Cluster is a real Slurm of this machine.
type Cluster struct {
	Configuration string // SLURM_CONF
	Directory     string // where everything of it is
	Port          int    // the first of its ports

	settings []string
}

// Slurm starts the cluster of a name, which knows no jobs, with settings of
// slurm-up.sh. It is stopped when the test has ended. RMCTL_SLURM_DIR and RMCTL_SLURM_PORT of the
// environment say where all of them begin.
func Slurm(t testing.TB, name string, settings ...string) *Cluster {
	t.Helper()
	NeedClusters(t)
	directory, port := place(t, "slurm", name, slurms, 27417, 200)
	c := &Cluster{Directory: directory, Port: port}
	c.settings = append([]string{"RMCTL_SLURM_DIR=" + directory, fmt.Sprintf("RMCTL_SLURM_PORT=%d", port)}, settings...)
	remove := append([]string{"RMCTL_SLURM_REMOVE=1"}, c.settings...)
	ClusterScript(t, "slurm-down.sh", remove...) // a test that was killed leaves jobs behind
	t.Cleanup(func() {
		if t.Failed() { // the logs say why
			ClusterScript(t, "slurm-down.sh", c.settings...)
		} else {
			ClusterScript(t, "slurm-down.sh", remove...)
		}
	})
	c.Start(t)
	return c
}

// Start starts the daemons that do not run, and waits until all answer.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	exports := ClusterScript(t, "slurm-up.sh", c.settings...)
	path, found := strings.CutPrefix(strings.TrimSpace(exports), "export SLURM_CONF=")
	require.True(t, found, "%s", exports)
	c.Configuration = path
}

// Stop stops one daemon: slurmctld, node1, node2, munged or, of accounting,
// slurmdbd or mariadbd.
func (c *Cluster) Stop(t testing.TB, daemon string) {
	t.Helper()
	ClusterScript(t, "slurm-down.sh", append([]string{"RMCTL_SLURM_ONLY=" + daemon}, c.settings...)...)
}

// Setting is what Slurm's programs need in their environment.
func (c *Cluster) Setting() string { return "SLURM_CONF=" + c.Configuration }

// Asks runs one of Slurm's own programs, which must succeed, and returns what
// it prints.
func (c *Cluster) Asks(t testing.TB, program string, arguments ...string) string {
	t.Helper()
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), c.Setting())
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s %s: %s", program, strings.Join(arguments, " "), output)
	return strings.TrimSpace(string(output))
}

// Daemons are real sshds of this machine: that of the target and a jump host.
type Daemons struct {
	Configuration string // an ssh_config that leads to them; sshd-up.sh lists its hosts
	Port          int    // of the target
}

// SSHD starts the daemons of a name with settings of sshd-up.sh, until the test
// has ended. RMCTL_SSHD_DIR and RMCTL_SSHD_PORT of the environment say where
// all of them begin.
func SSHD(t testing.TB, name string, settings ...string) Daemons {
	t.Helper()
	NeedClusters(t)
	directory, port := place(t, "sshd", name, daemons, 27022, 10)
	settings = append([]string{"RMCTL_SSHD_DIR=" + directory, fmt.Sprintf("RMCTL_SSHD_PORT=%d", port)}, settings...)
	t.Cleanup(func() { ClusterScript(t, "sshd-down.sh", settings...) })
	ClusterScript(t, "sshd-up.sh", settings...)
	return Daemons{Configuration: filepath.Join(directory, "client", "config"), Port: port}
}
