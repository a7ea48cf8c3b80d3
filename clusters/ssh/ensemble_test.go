package ssh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// If the connection of an ensemble needs a password again, an event says what to do, and after that the ensemble goes on.
func TestAnEnsembleContinuesAfterItsUserLogsInAgain(t *testing.T) {
	t.Parallel()
	daemons := rmctltest.SSHD(t, "ensemble", "RMCTL_SSHD_PASSWORDS=yes")
	password, err := os.ReadFile(filepath.Join(filepath.Dir(daemons.Configuration), "password"))
	require.NoError(t, err)
	proxy := remotetest.NewProxy(t, fmt.Sprintf("127.0.0.1:%d", daemons.Port), remotetest.Faults{})
	d := rmctltest.NewDesk(t, "")
	config := filepath.Join(d.Home, "ssh_config")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host rmtest-password\n  Port %d\n  HostKeyAlias [127.0.0.1]:%d\nHost *\n  Include %s\n", proxy.Port(), daemons.Port, daemons.Configuration), 0o600))
	d.Reaches("far", "local", "ssh", "rmtest-password", config)
	request := filepath.Join(d.Home, "request.toml")
	require.NoError(t, os.WriteFile(request, []byte("[part.a]\ntarget = \"far\"\nexecutable = \"/bin/echo\"\narguments = [\"begun\"]\n"), 0o600))
	becomes := func(wanted string, arguments ...string) {
		t.Helper()
		printed := ""
		require.Eventually(t, func() bool {
			printed = d.Does(arguments...)
			return strings.Contains(printed, wanted)
		}, 2*time.Minute, 200*time.Millisecond, "%q is not printed by %v", wanted, arguments)
	}

	submit := d.Sits("coalloc", "submit", request)
	submit.WaitFor("assword")
	submit.Type(string(password) + "\r")
	submit.Ends(0)
	becomes("CHECKED_IN", "coalloc", "status", "last")

	proxy.Cut()
	becomes("log in to far: run rmctl coalloc wait ", "coalloc", "events", "last")
	wait := d.Sits("coalloc", "wait", "last")
	wait.WaitFor("assword")
	wait.Type(string(password) + "\r")
	becomes("CHECKED_IN", "coalloc", "status", "last")
	d.Does("coalloc", "commit", "last")
	wait.Ends(0)
	require.Equal(t, "begun", d.Does("coalloc", "output", "last"))
}
