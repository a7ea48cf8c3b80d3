package clusters_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// originals returns the folder of a build of the programs that spoke the proxy protocol first:
//
//	classes          the client and the PBS agent (Java) with what they need
//	ptp_ibmpe_proxy  the PE agent (C), which runs the file poe of the folder in place of /usr/bin/poe
func originals(t *testing.T) string {
	t.Helper()
	rmctltest.NeedClusters(t)
	folder := os.Getenv("RMCTL_PTP_BUILD")
	if folder == "" {
		t.Skip("needs a build of the original client and agents: RMCTL_PTP_BUILD names its folder")
	}
	return folder
}

// original returns the path of a file next to these tests.
func original(t *testing.T, name string) string {
	return filepath.Join(rmctltest.Project(t), "clusters", "testdata", "originals", name)
}

func TestTheOriginalClientUsesAnAgent(t *testing.T) {
	build := originals(t)
	for name, start := range map[string]func(t *testing.T) []string{
		"local":      func(*testing.T) []string { return nil },
		"slurm":      func(t *testing.T) []string { return []string{rmctltest.Slurm(t, "originals").Setting()} },
		"gridengine": func(t *testing.T) []string { return rmctltest.GridEngine(t, "originals").Settings() },
	} {
		t.Run(name, func(t *testing.T) {
			d := rmctltest.NewDesk(t, "", start(t)...)
			agent := filepath.Join(d.Home, "agent")
			d.Does("agent", "-t", name, "--install", agent)
			c := startOriginalClient(t, d, build, agent)
			c.useAgent(t, d)
		})
	}
}

func TestTheOriginalPEAgentIsATarget(t *testing.T) {
	build := originals(t)
	require.NoError(t, exec.Command("install", "-m", "755", original(t, "poe"), filepath.Join(build, "poe")).Run())
	agent := filepath.Join(build, "ptp_ibmpe_proxy")
	for name, target := range map[string]func(t *testing.T) []string{
		"stdio": func(*testing.T) []string { return nil },
		"tcp":   func(*testing.T) []string { return []string{"--proxy", "tcp"} },
		"tcp over ssh": func(t *testing.T) []string {
			there := rmctltest.SSHD(t, "originals")
			return []string{"--proxy", "tcp", "--host", "rmtest-target", "--ssh-config", there.Configuration}
		},
		"tcp over openssh": func(t *testing.T) []string {
			there := rmctltest.SSHD(t, "originals")
			return []string{"--proxy", "tcp", "--host", "rmtest-target", "--transport", "openssh", "--ssh-config", there.Configuration}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := rmctltest.NewDesk(t, "")
			d.Does(append([]string{"targets", "add", "pe", "--agent", agent}, target(t)...)...)
			require.Contains(t, d.Does("queues", "-t", "pe"), "default")
			hosts := filepath.Join(t.TempDir(), "hosts")
			require.NoError(t, os.WriteFile(hosts, []byte("localhost\nlocalhost\n"), 0o644))
			submit := func(script string) string {
				return d.Does("submit", "-t", "pe", "-s", "MP_PROCS=2", "-s", "MP_HOSTFILE="+hosts, "-d", "/tmp", "--", "/bin/sh", "-c", script)
			}

			job := submit("echo started; sleep 3")
			d.Does("wait", "--until", "RUNNING", job)
			d.Does("wait", job)
			require.Equal(t, "started\nstarted", d.Does("output", job))

			require.Contains(t, d.Refused(3, "submit", "-t", "pe", "-d", "/nonexistent", "--", "/bin/true"), "Invalid working directory")

			job = submit("sleep 600")
			d.Does("wait", "--until", "RUNNING", job)
			d.Does("cancel", job)
			d.Refused(1, "wait", job)
			require.Contains(t, d.Does("status", "--json", job), `"detail":"CANCELED"`)

			d.Does("conn", "close", "--all")
			requireAgentEnds(t, d, "ptp_ibmpe_proxy")
		})
	}
}

func TestTheOriginalPBSAgentIsATarget(t *testing.T) {
	build := originals(t)
	d := rmctltest.NewDesk(t, "")
	jobs := filepath.Join(d.Home, "pbs")
	require.NoError(t, os.Mkdir(jobs, 0o700))
	write := func(name, script string) string {
		path := filepath.Join(d.Home, name)
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		return path
	}
	agent := write("agent", "export RMCTL_TEST_PBS='"+jobs+"' PATH='"+original(t, "pbs")+"':\"$PATH\"\n"+
		"exec java -cp '"+build+"/classes' org.eclipse.ptp.rm.pbs.jproxy.PBSProxyRuntimeServer \"$@\"")
	d.Does("targets", "add", "standin", "--agent", agent, "--proxy", "tcp")
	require.Contains(t, d.Does("nodes", "-t", "standin"), "node1")
	require.Contains(t, d.Does("queues", "-t", "standin"), "batch")

	// The agent announces a job without saying which submission it was.
	said := d.Refused(3, "submit", "-t", "standin", "-d", d.Home, "--", write("job", "sleep 600"))
	require.Contains(t, said, "did not say which job it is")
	require.Contains(t, d.Does("jobs", "--everyone", "-t", "standin"), "1.standin")
	t.Cleanup(func() {
		end := exec.Command(original(t, "pbs/qdel"), "1.standin")
		end.Env = append(os.Environ(), "RMCTL_TEST_PBS="+jobs)
		require.NoError(t, end.Run())
	})

	require.Contains(t, d.Refused(3, "submit", "-t", "standin", "-d", d.Home, "--", write("refused", "")), "Job exceeds queue limits")

	d.Does("conn", "close", "--all")
	requireAgentEnds(t, d, "PBSProxyRuntimeServer")
}

// requireAgentEnds waits until no process of a desk has a name in its command line.
func requireAgentEnds(t *testing.T, d *rmctltest.Desk, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		processes, err := filepath.Glob("/proc/[0-9]*")
		require.NoError(t, err)
		for _, process := range processes {
			line, _ := os.ReadFile(process + "/cmdline") // no more output of an ended process
			environment, _ := os.ReadFile(process + "/environ")
			if strings.Contains(string(line), name) && strings.Contains(string(environment), "HOME="+d.Home) {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond, "the agent lives on")
}
