package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote/remotetest"
)

// An interactive job whose connection is lost has no end that anybody saw. It
// is not said to run for ever, and does not keep the next one out.
func TestAJobWhoseConnectionIsLostIsMissing(t *testing.T) {
	sshConfig := startDaemons(t)
	for _, transport := range []string{"ssh", "openssh"} {
		for _, environment := range []string{"RMCTL_BACKGROUND=", foreground} {
			t.Run(transport+" "+environment, func(t *testing.T) {
				proxy := remotetest.NewProxy(t, "127.0.0.1:28522", remotetest.Faults{})
				d := newDesk(t, environment)
				config := filepath.Join(d.home, "ssh_config")
				require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host rmtest-cut\n  Port %d\n  HostKeyAlias [127.0.0.1]:28522\nHost *\n  Include %s\n", proxy.Port(), sshConfig), 0o600))
				d.reaches("far", "opened.xml", transport, "rmtest-cut", config)
				run := func(script string) *terminalSession {
					arguments := queued(script)
					arguments[2] = "far" // instead of the target on this machine
					return d.sits(arguments...)
				}
				s := run(`echo begun on $(id -un); while read -r line; do :; done`)
				s.waitFor("begun on rmtest")
				proxy.Cut()
				s.ends(exitUnreachable)
				require.Contains(t, s.screen, "lost")

				said := d.does("status", "--json", "7")
				require.Contains(t, said, `"state":"RUNNING"`, "the last that was seen")
				require.Contains(t, said, `"missing":true`)
				require.Contains(t, said, "lost")
				require.Contains(t, d.refused(exitFailed, "wait", "7"), "lost")
				require.Contains(t, d.refused(exitFailed, "attach", "7"), "lost")

				s = run(`exit 4`)
				s.waitFor("job 7 ready")
				s.typeKeys("\r")
				s.ends(4)
			})
		}
	}
}
