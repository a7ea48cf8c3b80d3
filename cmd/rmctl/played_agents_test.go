package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Each script of testdata/script-captures runs rmctl with targets that replay recorded agents:
// pe is the PE agent, which refuses submissions; pbs is the PBS agent in Java, which announces
// no job of its client.
func TestCapturedAgents(t *testing.T) {
	testAgents(t, "script-captures", map[string]string{"pe": agenttest.Capture(t, "pe-agent.txt"), "pbs": agenttest.Capture(t, "pbs-java-agent.txt")})
}

// Each script of testdata/script-agents is a conversation with rmctl whose target job is an agent
// that takes one job of two processes.
func TestAgentsOverAllTransports(t *testing.T) {
	testAgents(t, "script-agents", map[string]string{"job": filepath.Join(rmctltest.Project(t), "internal", "agentclient", "testdata", "job.txt")})
}

// testAgents runs the scripts of a folder whose targets are agents that are played: on this machine and
// behind SSH, over each way to talk to them.
func testAgents(t *testing.T, folder string, played map[string]string) {
	if testing.Short() {
		t.Skip("starts background processes")
	}
	t.Parallel()
	config := startSSHServer(t)
	for _, transport := range []string{"local", "ssh", "openssh"} {
		for _, way := range []string{"stdio", "tcp"} {
			t.Run(transport+"-"+way, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath("ssh"); err != nil && transport == "openssh" {
					t.Skip("there is no program ssh")
				}
				place := ""
				if transport != "local" {
					place = fmt.Sprintf("host = 'forwards'\nssh_config = '%s'\n", config)
				}
				var targets strings.Builder
				for name, script := range played {
					fmt.Fprintf(&targets, "[targets.%s]\nagent = ['play-agent', '%s']\nproxy = '%s'\ntransport = '%s'\n%s", name, script, way, transport, place)
				}
				configuration := t.TempDir()
				require.NoError(t, os.Mkdir(filepath.Join(configuration, "rmctl"), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(configuration, "rmctl", "targets.toml"), []byte(targets.String()), 0o600))
				rmctltest.Scripts(t, filepath.Join("testdata", folder), map[string]string{
					"XDG_CONFIG_HOME": configuration, "SSH_AUTH_SOCK": "", "RMCTL_BACKGROUND": "",
				})
			})
		}
	}
}
