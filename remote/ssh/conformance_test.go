package ssh

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/remotetest"
)

// connectSshd connects to a host of the configuration of sshd-up.sh, with
// lines of ssh_config that come before its own.
func connectSshd(t *testing.T, directory, host string, lines ...string) remote.Connection {
	t.Helper()
	config := filepath.Join(directory, "client", "config")
	content := fmt.Sprintf("Host %s\n    %s\nHost *\n    Include %s\n", host, strings.Join(lines, "\n    "), config)
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	connection, err := Connect(t.Context(), Options{Host: host, ConfigFile: path})
	require.NoError(t, err)
	return connection
}

// proxied returns the lines of ssh_config that lead through a proxy, besides others.
func proxied(proxy *remotetest.Proxy, others ...string) []string {
	return append(others, fmt.Sprintf("Port %d", proxy.Port()), fmt.Sprintf("HostKeyAlias [127.0.0.1]:%d", sshdPort))
}

func TestConnectionsOfARealServerBehaveAsAllDo(t *testing.T) {
	directory := startSshd(t)
	target := fmt.Sprintf("127.0.0.1:%d", sshdPort)
	// The figures are for the way that is straight; the others show that they change nothing.
	modest := remotetest.Options{Volume: 1 << 20, Commands: 30, Values: 100}

	t.Run("straight", func(t *testing.T) {
		remotetest.Run(t, func(t *testing.T) remote.Connection { return connectSshd(t, directory, "rmtest-target") })
	})
	t.Run("over a jump host", func(t *testing.T) {
		remotetest.RunWith(t, func(t *testing.T) remote.Connection { return connectSshd(t, directory, "rmtest-behind") }, modest)
	})
	t.Run("over a slow line", func(t *testing.T) {
		remotetest.RunWith(t, func(t *testing.T) remote.Connection {
			proxy := remotetest.NewProxy(t, target, remotetest.Faults{Delay: 2 * time.Millisecond, Jitter: 3 * time.Millisecond, ChunkSize: 1000})
			return connectSshd(t, directory, "rmtest-target", proxied(proxy)...)
		}, modest)
	})
	t.Run("cut off", func(t *testing.T) {
		remotetest.RunLost(t, func(t *testing.T) (remote.Connection, func()) {
			proxy := remotetest.NewProxy(t, target, remotetest.Faults{})
			return connectSshd(t, directory, "rmtest-target", proxied(proxy)...), proxy.Cut
		})
	})
	t.Run("silent", func(t *testing.T) {
		remotetest.RunSilent(t, func(t *testing.T) (remote.Connection, func()) {
			proxy := remotetest.NewProxy(t, target, remotetest.Faults{})
			return connectSshd(t, directory, "rmtest-target", proxied(proxy, "ServerAliveInterval 1", "ServerAliveCountMax 3")...), proxy.Stall
		})
	})
}

func TestWhatRunsIsEndedWhereAllSessionsOfARealServerAreTaken(t *testing.T) {
	for _, sessions := range []int{1, 2} {
		t.Run(fmt.Sprint(sessions), func(t *testing.T) {
			directory := startSshd(t, fmt.Sprintf("RMCTL_SSHD_MAXSESSIONS=%d", sessions))
			open := func(t *testing.T) remote.Connection { return connectSshd(t, directory, "rmtest-target") }
			remotetest.RunFull(t, sessions, sessions, open, open)
		})
	}
}
