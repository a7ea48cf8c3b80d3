package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Agents that were recorded are targets of this machine and behind SSH, over each way to talk to them.
// Each script of testdata/script-captures is a conversation with rmctl whose targets are:
//
//	pe    the PE agent, which refuses submissions
//	pbs   the PBS agent in Java, which announces no job of its client
//	job   an agent whose client may submit one job of two processes
func TestCapturedAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("starts background processes")
	}
	scripts := map[string]string{
		"pe": agenttest.Capture(t, "pe-agent.txt"), "pbs": agenttest.Capture(t, "pbs-java-agent.txt"),
		"job": filepath.Join(rmctltest.Project(t), "internal", "agentclient", "testdata", "job.txt"),
	}
	t.Parallel()
	config := startSSHServer(t)
	for _, transport := range []string{"local", "ssh", "openssh"} {
		for _, way := range []string{"stdio", "tcp"} {
			t.Run(transport+"-"+way, func(t *testing.T) {
				t.Parallel()
				place := ""
				if transport != "local" {
					place = fmt.Sprintf("host = 'forwards'\nssh_config = '%s'\n", config)
				}
				var targets strings.Builder
				for name, script := range scripts {
					fmt.Fprintf(&targets, "[targets.%s]\nagent = ['play-agent', '%s']\nproxy = '%s'\ntransport = '%s'\n%s", name, script, way, transport, place)
				}
				folder := t.TempDir()
				require.NoError(t, os.Mkdir(filepath.Join(folder, "rmctl"), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(folder, "rmctl", "targets.toml"), []byte(targets.String()), 0o600))
				rmctltest.Scripts(t, filepath.Join("testdata", "script-captures"), map[string]string{
					"XDG_CONFIG_HOME": folder, "SSH_AUTH_SOCK": "", "RMCTL_BACKGROUND": "",
				})
			})
		}
	}
}
