package openssh_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/openssh"
)

// withoutMaster makes options with which each channel is a connection.
func withoutMaster(t *testing.T, options openssh.Options) openssh.Options {
	options.Program = wrapper(t, `exec ssh -o ControlMaster=no "$@"`)
	return options
}

func TestListenersOfAllWays(t *testing.T) {
	server := startSSHD(t, "28266")
	for name, way := range map[string]func(t *testing.T) openssh.Options{
		"UsersMaster": func(t *testing.T) openssh.Options {
			options := server.options(t, "rmtest-target")
			options.ConfigFile = startUsersMaster(t, server)
			return options
		},
		"WithoutMaster": func(t *testing.T) openssh.Options {
			return withoutMaster(t, server.options(t, "rmtest-target"))
		},
		"WithoutMasterWhereOthersAreForwarded": func(t *testing.T) openssh.Options {
			taken, err := net.Listen("tcp", "127.0.0.1:0") // so that a forwarding of the user fails
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, taken.Close()) })
			port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
			return withoutMaster(t, withSettings(t, server, "rmtest-target", "LocalForward "+port+" 127.0.0.1:1\nExitOnForwardFailure yes\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			remotetest.RunListeners(t, func(t *testing.T) remote.Connection { return connectWith(t, patient, way(t)) })
		})
	}
	t.Run("ForwardingsOfTheUserStay", func(t *testing.T) { testUsersForwardingsStay(t, server) })
}

// testUsersForwardingsStay listens while a port is forwarded that the user's own master forwards.
func testUsersForwardingsStay(t *testing.T, server sshd) {
	options := server.options(t, "rmtest-target")
	options.ConfigFile = startUsersMaster(t, server)
	content, err := os.ReadFile(options.ConfigFile)
	require.NoError(t, err)
	socket := filepath.Join(stateFolder(t), "own")
	forwarded := append([]byte("RemoteForward 127.0.0.1:28299 "+socket+"\n"), content...)
	options.ConfigFile = filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(options.ConfigFile, forwarded, 0o600))
	connection := connectWith(t, patient, options)
	defer func() { require.NoError(t, connection.Close()) }()
	listener, err := connection.Listen(timeLimit(t))
	require.NoError(t, err)
	_, err = net.Dial("tcp", "127.0.0.1:28299")
	require.Error(t, err, "the user's configuration was forwarded as well")
	require.NoError(t, listener.Close())
}

func TestServersThatForwardNoPorts(t *testing.T) {
	for setting, advice := range map[string]string{"no": "AllowTcpForwarding", "none": "PermitListen", "gateway": "GatewayPorts"} {
		t.Run(setting, func(t *testing.T) {
			server := startSSHD(t, "28268", "RMCTL_SSHD_LISTEN="+setting)
			for _, options := range []openssh.Options{
				server.options(t, "rmtest-target"), withoutMaster(t, server.options(t, "rmtest-target")),
			} {
				connection := connectWith(t, patient, options)
				remotetest.RunNoListening(t, connection, advice)
				require.NoError(t, connection.Close())
			}
		})
	}
}
