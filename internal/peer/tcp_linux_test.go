package peer_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/remote"
)

// connected returns both ends of a TCP connection.
func connected(t *testing.T, address string) (dialed, accepted net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("this machine has no %s: %v", address, err)
	}
	dialed, err = net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	accepted, err = listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(dialed.Close(), accepted.Close(), listener.Close())) })
	return dialed, accepted
}

func TestBothEndsOfAConnectionOfThisUserAreChecked(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		dialed, accepted := connected(t, address)
		require.NoError(t, peer.CheckTCP(t.Context(), dialed))
		require.NoError(t, peer.CheckTCP(t.Context(), accepted))
	}
}

func TestAnIPv4ConnectionToAnIPv6SocketIsChecked(t *testing.T) {
	listener, err := net.Listen("tcp", ":0") // for both families, so its sockets are in tcp6
	require.NoError(t, err)
	dialed, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", portOf(t, listener.Addr())))
	require.NoError(t, err)
	accepted, err := listener.Accept()
	require.NoError(t, err)
	require.NoError(t, peer.CheckTCP(t.Context(), dialed))
	require.NoError(t, peer.CheckTCP(t.Context(), accepted))
	require.NoError(t, errors.Join(dialed.Close(), accepted.Close(), listener.Close()))
}

func portOf(t *testing.T, address net.Addr) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address.String())
	require.NoError(t, err)
	return port
}

func TestAListenerThatDoesNotAcceptHasNoUser(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dialed, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var failure *peer.TCPError
	require.ErrorAs(t, peer.CheckTCP(ctx, dialed), &failure)
	require.ErrorIs(t, failure, context.DeadlineExceeded)
	require.NoError(t, errors.Join(dialed.Close(), listener.Close()))
}

// listensAsAnother is the variable that makes this program listen and accept one connection.
const listensAsAnother = "RMCTL_TEST_LISTENS"

func TestMain(m *testing.M) {
	if os.Getenv(listensAsAnother) == "" {
		os.Exit(m.Run())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(2)
	}
	os.Stdout.WriteString(listener.Addr().String() + "\n")
	conn, err := listener.Accept()
	if err != nil {
		os.Exit(3)
	}
	_, _ = conn.Read(make([]byte, 1)) // until the test closes it
}

func TestAProcessOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	self, err := os.Open("/proc/self/exe") // the other user need not reach its folder
	require.NoError(t, err)
	defer self.Close()
	child := exec.Command("/proc/self/fd/3")
	child.ExtraFiles = []*os.File{self}
	child.Env = append(os.Environ(), listensAsAnother+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65533, Gid: 65533}}
	output, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	address, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	dialed, err := net.Dial("tcp", address[:len(address)-1])
	require.NoError(t, err)

	local, err := remote.NewLocal()
	require.NoError(t, err)
	failure := peer.CheckForwarded(t.Context(), local, dialed)
	require.ErrorContains(t, failure, "runs as user 65533")
	failure = peer.CheckTCP(t.Context(), dialed)
	require.ErrorContains(t, failure, "runs as user 65533")
	require.NotErrorIs(t, failure, peer.ErrUncheckable)
	require.NoError(t, dialed.Close())
	require.NoError(t, child.Wait())
}

func TestAConnectionThatIsNotOverLoopbackCannotBeChecked(t *testing.T) {
	a, b := net.Pipe()
	require.ErrorIs(t, peer.CheckTCP(t.Context(), a), peer.ErrUncheckable)
	require.NoError(t, errors.Join(a.Close(), b.Close()))

	require.ErrorIs(t, peer.CheckTCP(t.Context(), elsewhere{}), peer.ErrUncheckable)
}

// elsewhere is a connection to another machine.
type elsewhere struct{ net.Conn }

func (elsewhere) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }
func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 2} }

func TestTheUserOfAForwardedConnectionIsLookedUpAtThePlace(t *testing.T) {
	local, err := remote.NewLocal()
	require.NoError(t, err)
	_, accepted := connected(t, "127.0.0.1:0")
	require.NoError(t, peer.CheckForwarded(t.Context(), local, accepted))
	a, b := net.Pipe()
	require.ErrorIs(t, peer.CheckForwarded(t.Context(), local, a), peer.ErrUncheckable)
	require.NoError(t, errors.Join(a.Close(), b.Close()))
}
