package ssh

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// dialServer connects to a server of this process.
func dialServer(t testing.TB, s *server, lines ...string) *dialer {
	t.Helper()
	p := newPlace(t)
	p.knows(s.port, "host")
	return dialled(t, p.options(s.port, lines...))
}

func TestSessionsHaveStreamsAndCodes(t *testing.T) {
	client := dialServer(t, serve(t, &server{}))
	require.Equal(t, result{"in", "err", 7}, run(t, client, "cat; printf err >&2; exit 7", channel.Options{}, "in"))
	require.Equal(t, 128+15, run(t, client, "signal", channel.Options{}, "").code)
}

func TestACommandWithoutACodeIsAnError(t *testing.T) {
	client := dialServer(t, serve(t, &server{}))
	opened, err := client.Open(t.Context(), "vanish", channel.Options{})
	require.NoError(t, err)
	_, err = io.ReadAll(opened.Stdout())
	require.NoError(t, err)
	code, err := opened.Wait()
	require.Equal(t, -1, code)
	require.ErrorContains(t, err, "without an exit code")
	require.NotErrorIs(t, err, remote.ErrUnreachable)
}

func TestALostConnectionEndsItsSessions(t *testing.T) {
	connections := make(chan ssh.Conn, 1)
	client := dialServer(t, serve(t, &server{connects: func(c ssh.Conn) { connections <- c }}))
	opened, err := client.Open(t.Context(), "cat", channel.Options{})
	require.NoError(t, err)
	require.NoError(t, (<-connections).Close())
	_, err = io.ReadAll(opened.Stdout())
	require.NoError(t, err)
	code, err := opened.Wait()
	require.Equal(t, -1, code)
	var lost *remote.ConnectError
	require.ErrorAs(t, err, &lost)
	require.Equal(t, remote.Disconnected, lost.Reason)
	require.EqualError(t, err, "the connection to place was lost: the other side closed it")
	_, err = client.Open(t.Context(), "true", channel.Options{})
	require.ErrorAs(t, err, &lost)
	require.ErrorAs(t, opened.Resize(remote.Size{Columns: 1, Rows: 1}), &lost)
}

func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	s := serve(t, &server{ignores: true})
	proxy := remotetest.NewProxy(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), remotetest.Faults{})
	p := newPlace(t)
	p.knows(proxy.Port(), "host")
	client := dialled(t, p.options(proxy.Port(), "ServerAliveInterval 1", "ServerAliveCountMax 2"))
	opened, err := client.Open(t.Context(), "cat", channel.Options{})
	require.NoError(t, err)
	proxy.Stall()
	code, err := opened.Wait()
	require.Equal(t, -1, code)
	require.ErrorContains(t, err, "the server has not answered for 3s")
}

func TestAServerThatAnswersIsKept(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	client := dialServer(t, serve(t, &server{asked: asked}), "ServerAliveInterval 1", "ServerAliveCountMax 3")
	for range 2 {
		select {
		case <-asked:
		case <-client.ended:
			require.Fail(t, "a server that answers was given up")
		}
	}
	require.Zero(t, run(t, client, "true", channel.Options{}, "").code)
}

func TestARefusedChannelIsDistinguished(t *testing.T) {
	client := dialServer(t, serve(t, &server{rejects: true}))
	_, err := client.Open(t.Context(), "true", channel.Options{})
	require.ErrorIs(t, err, channel.ErrTooManyChannels)
	require.ErrorContains(t, err, `no \x1b[31mroom`)
	require.NotErrorIs(t, err, remote.ErrUnreachable)
}

func TestRefusedRequestsAreDistinguished(t *testing.T) {
	client := dialServer(t, serve(t, &server{refuses: []string{"subsystem", "pty-req", "exec"}}))
	_, err := client.Open(t.Context(), "sftp", channel.Options{Subsystem: true})
	require.ErrorIs(t, err, channel.ErrNoSubsystem)
	_, err = client.Open(t.Context(), "true", channel.Options{Terminal: &remote.Terminal{}})
	require.ErrorContains(t, err, "refuses a terminal")
	_, err = client.Open(t.Context(), "true", channel.Options{})
	require.ErrorContains(t, err, "refuses to run commands")
}

func TestOpeningIsCanceled(t *testing.T) {
	s := serve(t, &server{})
	proxy := remotetest.NewProxy(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), remotetest.Faults{})
	p := newPlace(t)
	p.knows(proxy.Port(), "host")
	client := dialled(t, p.options(proxy.Port()))
	proxy.Stall()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Open(ctx, "true", channel.Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, client.Close())
	_, err = client.Open(t.Context(), "true", channel.Options{})
	require.ErrorIs(t, err, remote.ErrUnreachable)
}

func TestWhatASessionAsksFor(t *testing.T) {
	requests := make(chan *ssh.Request, 10)
	client := dialServer(t, serve(t, &server{requests: requests}), "SetEnv ONE=1")
	opened, err := client.Open(t.Context(), "cat", channel.Options{Terminal: &remote.Terminal{Type: "vt220", Size: remote.Size{Columns: 80, Rows: -1}}})
	require.NoError(t, err)
	require.NoError(t, opened.Resize(remote.Size{Columns: 1 << 20, Rows: 25}))
	require.NoError(t, opened.Signal(syscall.SIGUSR1))
	require.Error(t, opened.Signal(syscall.Signal(200)))
	require.NoError(t, opened.Stdin().Close())
	var names []string
	for range 5 {
		request := <-requests
		names = append(names, request.Type)
		switch request.Type {
		case "env":
			require.Equal(t, "\x00\x00\x00\x03ONE\x00\x00\x00\x011", string(request.Payload))
		case "pty-req":
			require.True(t, strings.HasPrefix(string(request.Payload), "\x00\x00\x00\x05vt220\x00\x00\x00\x50\x00\x00\x00\x00"), "%q", request.Payload)
		case "window-change":
			require.Equal(t, "\x00\x00\xff\xff\x00\x00\x00\x19\x00\x00\x00\x00\x00\x00\x00\x00", string(request.Payload))
		case "signal":
			require.Equal(t, "\x00\x00\x00\x04USR1", string(request.Payload))
		}
	}
	// Agents are never forwarded unless ssh_config says so.
	require.Equal(t, []string{"env", "pty-req", "exec", "window-change", "signal"}, names)
}

func TestAgentsAreForwardedIfAskedTo(t *testing.T) {
	requests := make(chan *ssh.Request, 10)
	client := dialServer(t, serve(t, &server{requests: requests}), "ForwardAgent "+serveAgent(t, "mine"))
	run(t, client, "true", channel.Options{}, "")
	require.Equal(t, "auth-agent-req@openssh.com", (<-requests).Type)
}

func TestNothingIsLeftBehind(t *testing.T) {
	s := serve(t, &server{})
	p := newPlace(t)
	p.knows(s.port, "host")
	remotetest.GoroutinesEnd(t, func() {
		client, err := dial(t.Context(), p.options(s.port))
		require.NoError(t, err)
		run(t, client, "true", channel.Options{}, "")
		_, err = client.Open(t.Context(), "exec cat", channel.Options{})
		require.NoError(t, err)
		require.NoError(t, client.Close())
		require.NoError(t, client.Close())
	})
}

func TestWritingToALostConnectionSaysSo(t *testing.T) {
	connections := make(chan ssh.Conn, 1)
	client := dialServer(t, serve(t, &server{connects: func(c ssh.Conn) { connections <- c }}))
	opened, err := client.Open(t.Context(), "cat", channel.Options{})
	require.NoError(t, err)
	require.NoError(t, (<-connections).Close())
	<-client.ended
	_, err = opened.Stdin().Write([]byte("x"))
	require.ErrorIs(t, err, remote.ErrUnreachable)
}
