package remotetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// listener is a listener of a connection, closed after the test.
type listener struct {
	net.Listener
	port string
}

func (s *suite) listen(t *testing.T, ctx context.Context) listener {
	t.Helper()
	opened, err := s.connection.Listen(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, opened.Close()) })
	address, isTCP := opened.Addr().(*net.TCPAddr)
	require.True(t, isTCP, "%T", opened.Addr())
	require.True(t, address.IP.IsLoopback(), "%s", address)
	require.NotZero(t, address.Port)
	return listener{opened, fmt.Sprint(address.Port)}
}

// connect starts a process that connects to the port $1, as descriptor 3, and runs a script.
func (s *suite) connect(t *testing.T, l listener, script string) *conversation {
	t.Helper()
	command := remote.Command{Arguments: []string{"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$1 || exit 77; " + script, "bash", l.port}}
	return s.converseWith(t, timeLimit(t), command)
}

// accept accepts a connection, which is closed after the test.
func (l listener) accept(t *testing.T) net.Conn {
	t.Helper()
	conn, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // unless the test has
	require.Equal(t, l.Addr().String(), conn.LocalAddr().String())
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// requireClosed connects to a port that nobody listens on any more: the connection is
// refused, or ends at once.
func (s *suite) requireClosed(t *testing.T, l listener) {
	t.Helper()
	left := s.run(t, remote.Command{Arguments: []string{"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$1 || exit 77; cat <&3", "bash", l.port}})
	require.Empty(t, left.stdout)
}

func testListeners(t *testing.T, s *suite) {
	t.Run("processes of the place connect", func(t *testing.T) {
		l := s.listen(t, t.Context())
		talk := s.connect(t, l, `read -r line <&3; echo "got $line"; echo answer >&3; read -r line <&3; echo "got $line"`)
		conn := l.accept(t)
		_, err := io.WriteString(conn, "first\n")
		require.NoError(t, err)
		talk.expect(t, "got first\n")
		answer := make([]byte, len("answer\n"))
		_, err = io.ReadFull(conn, answer)
		require.NoError(t, err)
		require.Equal(t, "answer\n", string(answer))
		_, err = io.WriteString(conn, "second\n")
		require.NoError(t, err)
		talk.expect(t, "got second\n")
		talk.ends(t, 0)
		_, err = conn.Read(answer)
		require.ErrorIs(t, err, io.EOF)
	})
	t.Run("what was written before Close arrives", func(t *testing.T) {
		l := s.listen(t, t.Context())
		talk := s.connect(t, l, `cat <&3 | wc -c | tr -d ' '`)
		conn := l.accept(t)
		require.NoError(t, l.Close())
		_, err := conn.Write(make([]byte, 3<<20))
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		talk.expect(t, fmt.Sprintln(3<<20))
		talk.ends(t, 0)
	})
	t.Run("much arrives unchanged, both ways at once", func(t *testing.T) {
		l := s.listen(t, t.Context())
		talk := s.connect(t, l, `cat <&3 >&3`)
		conn := l.accept(t)
		sent := bytes.Repeat([]byte("\x00\xff\r\n0123456789"), 200_000)
		written := make(chan error, 1)
		go func() {
			_, err := conn.Write(sent)
			written <- errors.Join(err, conn.(interface{ CloseWrite() error }).CloseWrite())
		}()
		received, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.NoError(t, <-written)
		require.True(t, bytes.Equal(sent, received), "%d of %d bytes", len(received), len(sent))
		talk.ends(t, 0)
	})
	t.Run("several connect at once", func(t *testing.T) {
		l := s.listen(t, t.Context())
		talk := s.converseWith(t, timeLimit(t), remote.Command{Arguments: []string{"bash", "-c",
			`for i in 0 1 2 3 4; do (exec 3<>/dev/tcp/127.0.0.1/$1 || exit 77; echo $i >&3; cat <&3) & done | sort; wait`, "bash", l.port}})
		for range 5 {
			conn := l.accept(t)
			name := make([]byte, 2)
			_, err := io.ReadFull(conn, name)
			require.NoError(t, err)
			_, err = conn.Write(append([]byte("you are "), name...))
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
		talk.expect(t, "you are 0\nyou are 1\nyou are 2\nyou are 3\nyou are 4\n")
		talk.ends(t, 0)
	})
	t.Run("connections that nobody accepts block nothing", func(t *testing.T) {
		l := s.listen(t, t.Context())
		made := s.shell(t, `bash -c 'for i in $(seq 100); do exec {fd}<>/dev/tcp/127.0.0.1/$1 || break; done; echo done' bash "$1" 2>/dev/null`, l.port)
		require.Equal(t, "done\n", made.stdout)
		require.NoError(t, l.Close())
	})
	testListenersEnd(t, s)
}

func testListenersEnd(t *testing.T, s *suite) {
	t.Run("Close ends them, but not what they accepted", func(t *testing.T) {
		l := s.listen(t, t.Context())
		talk := s.connect(t, l, `cat <&3`)
		conn := l.accept(t)
		waiting := make(chan error, 1)
		go func() {
			_, err := l.Accept()
			waiting <- err
		}()
		require.NoError(t, l.Close())
		require.ErrorIs(t, <-waiting, net.ErrClosed)
		_, err := l.Accept()
		require.ErrorIs(t, err, net.ErrClosed)
		s.requireClosed(t, l)
		_, err = io.WriteString(conn, "still here\n")
		require.NoError(t, err)
		talk.expect(t, "still here\n")
		require.NoError(t, conn.Close())
		talk.ends(t, 0)
	})
	t.Run("the context ends them", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		l := s.listen(t, ctx)
		stop := time.AfterFunc(10*time.Millisecond, func() { cancel(context.DeadlineExceeded) })
		defer stop.Stop()
		_, err := l.Accept()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, l.Close())
		s.requireClosed(t, l)
	})
	t.Run("a context that is done begins none", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.connection.Listen(ctx)
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("reading has deadlines", func(t *testing.T) {
		l := s.listen(t, t.Context())
		talk := s.connect(t, l, `cat <&3`)
		conn := l.accept(t)
		require.NoError(t, conn.SetReadDeadline(time.Now()))
		_, err := conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, conn.Close())
		_, err = conn.Read(make([]byte, 1))
		require.Error(t, err)
		talk.ends(t, 0)
	})
}

// RunListeners runs the part of the suite about listeners, for one more way to connect.
func RunListeners(t *testing.T, open func(t *testing.T) remote.Connection) {
	goroutinesEnd(t)
	connection := open(t)
	t.Cleanup(func() { require.NoError(t, connection.Close()) })
	testListeners(t, &suite{connection: connection})
}

// RunNoListening requires that a place that forwards no ports says so.
func RunNoListening(t *testing.T, connection remote.Connection, advice string) {
	t.Helper()
	for range 2 {
		_, err := connection.Listen(timeLimit(t))
		var refused *remote.ListenError
		require.ErrorAs(t, err, &refused)
		require.Contains(t, refused.Help, advice)
		require.NotErrorIs(t, err, remote.ErrUnreachable)
	}
	require.Equal(t, "still here\n", (&suite{connection: connection}).shell(t, "echo still here").stdout)
}

// testLostListener loses a connection that listens, and has accepted a connection.
func testLostListener(t *testing.T, l *loss) {
	lost := &suite{connection: l.connection}
	opened := lost.listen(t, t.Context())
	process, err := l.connection.Start(timeLimit(t), remote.Command{Arguments: []string{
		"bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/$1; read -r line <&3`, "bash", opened.port,
	}})
	require.NoError(t, err)
	conn := opened.accept(t)
	l.lose()
	requireSoon(t, "reading", func() {
		_, err := conn.Read(make([]byte, 1))
		require.Error(t, err)
	})
	requireSoon(t, "accepting", func() {
		_, err := opened.Accept()
		require.ErrorIs(t, err, remote.ErrUnreachable)
	})
	_, _ = waitSoon(t, process)
	requireSoon(t, "closing", func() { requireLostOrNil(t, opened.Close()) })
	l.tryFurther(t)
}
