package openssh_test

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
	"github.com/rmctl/rmctl/remote/openssh"
)

// connect makes the whole: a connection for commands and files. The suite closes
// it.
func connect(t testing.TB, options openssh.Options) remote.Connection {
	t.Helper()
	connection, err := openssh.Connect(timeLimit(t), options)
	require.NoError(t, err)
	return connection
}

// What wants to end may take as long as it does on a busy machine; what does not is
// soon killed where a test asks for that, and its end is waited for.
var (
	patient   = channel.Settings{Transport: "openssh", Host: "there", Grace: 10 * time.Second}
	impatient = channel.Settings{Transport: "openssh", Host: "there", Grace: 300 * time.Millisecond, Linger: patience}
)

// connectWith is connect with other settings than users have.
func connectWith(t *testing.T, settings channel.Settings, options openssh.Options) remote.Connection {
	t.Helper()
	dialer, err := openssh.Dial(timeLimit(t), options)
	require.NoError(t, err)
	connection, err := channel.New(timeLimit(t), dialer, settings)
	require.NoError(t, err)
	return connection
}

// conforms runs the suite over connections that are made in one way.
func conforms(t *testing.T, options remotetest.Options, way func(t *testing.T) openssh.Options) {
	options.Impatient = func(t *testing.T) remote.Connection { return connectWith(t, impatient, way(t)) }
	remotetest.RunWith(t, func(t *testing.T) remote.Connection { return connectWith(t, patient, way(t)) }, options)
}

func TestConformance(t *testing.T) {
	server := startSSHD(t, "28246")
	conforms(t, remotetest.Options{}, func(t *testing.T) openssh.Options { return server.options(t, "rmtest-target") })
}

func TestConformanceOverAFaultyLine(t *testing.T) {
	server := startSSHD(t, "28248")
	conforms(t, remotetest.Options{Volume: 1 << 20, Commands: 30, Values: 100}, func(t *testing.T) openssh.Options {
		proxy := remotetest.NewProxy(t, "127.0.0.1:"+server.port, remotetest.Faults{Delay: 2 * time.Millisecond, Jitter: time.Millisecond, ChunkSize: 1000, Seed: 1})
		return server.optionsThrough(t, proxy)
	})
}

func TestLostConnections(t *testing.T) {
	server := startSSHD(t, "28250")
	remotetest.RunLost(t, func(t *testing.T) (remote.Connection, func()) {
		proxy := remotetest.NewProxy(t, "127.0.0.1:"+server.port, remotetest.Faults{})
		return connect(t, server.optionsThrough(t, proxy)), proxy.Cut
	})
}

// optionsThrough reach the target by way of a proxy.
func (s sshd) optionsThrough(t testing.TB, proxy *remotetest.Proxy) openssh.Options {
	t.Helper()
	options := s.options(t, "rmtest-target")
	content, err := os.ReadFile(s.config)
	require.NoError(t, err)
	_, port, _ := strings.Cut(proxy.Address(), ":")
	options.ConfigFile = filepath.Join(t.TempDir(), "config")
	settings := "Port " + port + "\nHostKeyAlias [127.0.0.1]:" + s.port + "\n"
	require.NoError(t, os.WriteFile(options.ConfigFile, append([]byte(settings), content...), 0o600))
	return options
}

func TestFilesWithoutSFTP(t *testing.T) {
	server := startSSHD(t, "28252", "RMCTL_SSHD_SFTP=no")
	connection := connect(t, server.options(t, "rmtest-target"))
	path := "rmctl-openssh-" + strings.ReplaceAll(t.Name(), "/", "-")
	require.NoError(t, connection.WriteFile(timeLimit(t), path, strings.NewReader("content"), 0o600))
	info, err := connection.Stat(timeLimit(t), path)
	require.NoError(t, err)
	require.Equal(t, int64(7), info.Size())
	require.NoError(t, connection.Remove(timeLimit(t), path))
	require.NoError(t, connection.Close())
}

func TestWhatRunsIsEndedWhereAllSessionsAreTaken(t *testing.T) {
	// The ssh program sends no signals: input leaves no way to where there is one session.
	for sessions, besides := range map[int]int{1: 0, 2: 2} {
		t.Run(fmt.Sprint(sessions), func(t *testing.T) {
			server := startSSHD(t, "28264", fmt.Sprintf("RMCTL_SSHD_MAXSESSIONS=%d", sessions))
			open := func(settings channel.Settings) func(t *testing.T) remote.Connection {
				return func(t *testing.T) remote.Connection {
					return connectWith(t, settings, server.options(t, "rmtest-target"))
				}
			}
			remotetest.RunFull(t, sessions, besides, open(patient), open(impatient))
		})
	}
}
