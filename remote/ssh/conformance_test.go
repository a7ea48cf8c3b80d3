package ssh

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// sshdOptions lead to a host of the configuration of sshd-up.sh, with lines of
// ssh_config that come before its own.
func sshdOptions(t *testing.T, directory, host string, lines ...string) Options {
	t.Helper()
	config := filepath.Join(directory, "client", "config")
	content := fmt.Sprintf("Host %s\n    %s\nHost *\n    Include %s\n", host, strings.Join(lines, "\n    "), config)
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return Options{Host: host, ConfigFile: path}
}

// connectSshd connects as users do.
func connectSshd(t *testing.T, options Options) remote.Connection {
	t.Helper()
	connection, err := Connect(t.Context(), options)
	require.NoError(t, err)
	return connection
}

// What wants to end may take as long as it does on a busy machine; what does not is
// soon killed where a test asks for that, and its end is waited for.
var (
	patient   = channel.Settings{Transport: "ssh", Host: "there", Grace: 10 * time.Second}
	impatient = channel.Settings{Transport: "ssh", Host: "there", Grace: 300 * time.Millisecond, Linger: testPatience}
)

// connectWith connects with other settings than users have.
func connectWith(t *testing.T, settings channel.Settings, options Options) remote.Connection {
	t.Helper()
	client, err := dial(t.Context(), options)
	require.NoError(t, err)
	connection, err := channel.New(t.Context(), client, settings)
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
	conforms := func(t *testing.T, options remotetest.Options, way func(t *testing.T) Options) {
		options.Impatient = func(t *testing.T) remote.Connection { return connectWith(t, impatient, way(t)) }
		remotetest.RunWith(t, func(t *testing.T) remote.Connection { return connectWith(t, patient, way(t)) }, options)
	}
	// The figures are for the way that is straight; the others show that they change nothing.
	modest := remotetest.Options{Volume: 1 << 20, Commands: 30, Values: 100}

	t.Run("straight", func(t *testing.T) {
		conforms(t, remotetest.Options{}, func(t *testing.T) Options { return sshdOptions(t, directory, "rmtest-target") })
	})
	t.Run("over a jump host", func(t *testing.T) {
		conforms(t, modest, func(t *testing.T) Options { return sshdOptions(t, directory, "rmtest-behind") })
	})
	t.Run("over a slow line", func(t *testing.T) {
		conforms(t, modest, func(t *testing.T) Options {
			proxy := remotetest.NewProxy(t, target, remotetest.Faults{Delay: 2 * time.Millisecond, Jitter: 3 * time.Millisecond, ChunkSize: 1000})
			return sshdOptions(t, directory, "rmtest-target", proxied(proxy)...)
		})
	})
	t.Run("cut off", func(t *testing.T) {
		remotetest.RunLost(t, func(t *testing.T) (remote.Connection, func()) {
			proxy := remotetest.NewProxy(t, target, remotetest.Faults{})
			return connectSshd(t, sshdOptions(t, directory, "rmtest-target", proxied(proxy)...)), proxy.Cut
		})
	})
	t.Run("silent", func(t *testing.T) {
		remotetest.RunSilent(t, func(t *testing.T) (remote.Connection, func()) {
			proxy := remotetest.NewProxy(t, target, remotetest.Faults{})
			options := sshdOptions(t, directory, "rmtest-target", proxied(proxy, "ServerAliveInterval 1", "ServerAliveCountMax 3")...)
			return connectSshd(t, options), proxy.Stall
		})
	})
}

func TestWhatRunsIsEndedWhereAllSessionsOfARealServerAreTaken(t *testing.T) {
	for _, sessions := range []int{1, 2} {
		t.Run(fmt.Sprint(sessions), func(t *testing.T) {
			directory := startSshd(t, fmt.Sprintf("RMCTL_SSHD_MAXSESSIONS=%d", sessions))
			open := func(settings channel.Settings) func(t *testing.T) remote.Connection {
				return func(t *testing.T) remote.Connection {
					return connectWith(t, settings, sshdOptions(t, directory, "rmtest-target"))
				}
			}
			remotetest.RunFull(t, sessions, sessions, open(patient), open(impatient))
		})
	}
}
