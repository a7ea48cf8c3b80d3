package ssh

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
)

func TestServersThatForwardNoPorts(t *testing.T) {
	for setting, advice := range map[string]string{"no": "AllowTcpForwarding", "none": "PermitListen"} {
		t.Run(setting, func(t *testing.T) {
			directory := startSshd(t, "RMCTL_SSHD_LISTEN="+setting)
			connection := connectSshd(t, sshdOptions(t, directory, "rmtest-target"))
			remotetest.RunNoListening(t, connection, advice)
			require.NoError(t, connection.Close())
		})
	}
}

func TestOtherMachinesDoNotReachAForwardedPort(t *testing.T) {
	directory := startSshd(t, "RMCTL_SSHD_LISTEN=gateway")
	connection := connectSshd(t, sshdOptions(t, directory, "rmtest-target"))
	defer func() { require.NoError(t, connection.Close()) }()
	listener, err := connection.Listen(t.Context())
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	addresses, err := net.InterfaceAddrs()
	require.NoError(t, err)
	tried := 0
	for _, address := range addresses {
		own, isNetwork := address.(*net.IPNet)
		if !isNetwork || own.IP.IsLoopback() || own.IP.To4() == nil {
			continue
		}
		conn, err := net.Dial("tcp", net.JoinHostPort(own.IP.String(), fmt.Sprint(port)))
		require.NoError(t, err, "the server has not opened the port to other machines")
		tried++
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(testPatience)))
		_, err = conn.Read(make([]byte, 1))
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it was not refused")
		require.NoError(t, conn.Close())
	}
	if tried == 0 {
		t.Skip("this machine has no other address than that of the loopback interface")
	}
	require.NoError(t, listener.Close())
}
