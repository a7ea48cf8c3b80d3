package ssh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// If the connection of an interactive job is lost, its end is unknown. The job is not shown as
// running for ever, and does not block the next one.
func TestAJobWhoseConnectionIsLostIsMissing(t *testing.T) {
	t.Parallel()
	daemons := rmctltest.SSHD(t, "interactive")
	for _, transport := range []string{"ssh", "openssh"} {
		for _, environment := range []string{rmctltest.Background, rmctltest.Foreground} {
			t.Run(transport+" "+environment, func(t *testing.T) {
				proxy := remotetest.NewProxy(t, fmt.Sprintf("127.0.0.1:%d", daemons.Port), remotetest.Faults{})
				d := rmctltest.NewDesk(t, interactive, environment)
				config := filepath.Join(d.Home, "ssh_config")
				require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host rmtest-cut\n  Port %d\n  HostKeyAlias [127.0.0.1]:%d\nHost *\n  Include %s\n", proxy.Port(), daemons.Port, daemons.Configuration), 0o600))
				d.Reaches("far", filepath.Join(rmctltest.Project(t), "cmd", "rmctl", "testdata", "interactive", "opened.xml"), transport, "rmtest-cut", config)
				run := func(script string) *rmctltest.Terminal {
					return d.Sits("run", "-t", "far", "--", "sh", "-c", `echo waiting for job 7; echo job 7 ready; read -r input; eval "$input"; `+script)
				}
				s := run(`echo begun on $(id -un); while read -r line; do :; done`)
				s.WaitFor("begun on rmtest")
				proxy.Cut()
				s.Ends(exitUnreachable)
				require.Contains(t, s.Screen, "lost")

				said := d.Does("status", "--json", "7")
				require.Contains(t, said, `"state":"RUNNING"`, "the last that was seen")
				require.Contains(t, said, `"missing":true`)
				require.Contains(t, said, "lost")
				require.Contains(t, d.Refused(exitFailed, "wait", "7"), "lost")
				require.Contains(t, d.Refused(exitFailed, "attach", "7"), "lost")

				s = run(`exit 4`)
				s.WaitFor("job 7 ready")
				s.Type("\r")
				s.Ends(4)
			})
		}
	}
}
