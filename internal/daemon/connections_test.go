package daemon_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/remote"
)

func TestAConnectionIsMadeOnceAndKept(t *testing.T) {
	made := &connector{}
	client := serve(t, daemon.Options{Connect: made.connect}).client(t)
	for range 3 {
		connection := connect(t, client)
		code, err := run(t, connection, "sh", "-c", "exit 3")
		require.NoError(t, err)
		require.Equal(t, 3, code)
		require.NoError(t, connection.Close())
	}
	require.Len(t, made.all(), 1)

	listed, err := client.Connections(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, place, daemon.Place{Transport: listed[0].Transport, Host: listed[0].Host, SSHConfig: listed[0].SSHConfig})
	require.Equal(t, 3, listed[0].Commands)
	require.False(t, listed[0].Connecting)
	require.False(t, listed[0].Used.Before(listed[0].Since))
}

func TestClientsThatCameTogetherShareAConnection(t *testing.T) {
	release := make(chan struct{})
	made := &connector{wait: func(context.Context, daemon.Place, remote.Prompter) error {
		<-release
		return nil
	}}
	client := serve(t, daemon.Options{Connect: made.connect}).client(t)
	var group sync.WaitGroup
	failures := make([]error, 8)
	for i := range failures {
		group.Go(func() {
			connection, err := client.Connect(t.Context(), place, nil)
			if err == nil {
				err = connection.Close()
			}
			failures[i] = err
		})
	}
	close(release)
	group.Wait()
	require.NoError(t, errors.Join(failures...))
	require.Len(t, made.all(), 1)
}

func TestALostConnectionIsMadeAgainByTheNextRequest(t *testing.T) {
	made := &connector{}
	client := serve(t, daemon.Options{Connect: made.connect}).client(t)
	connection := connect(t, client)
	close(made.all()[0].broken)
	_, err := run(t, connection, "true")
	require.ErrorIs(t, err, remote.ErrUnreachable)
	code, err := run(t, connection, "true")
	require.NoError(t, err)
	require.Zero(t, code)
	require.Len(t, made.all(), 2)
	require.NoError(t, connection.Close())
	await(t, made.all()[0].closed, "the end of a connection")
}

func TestALostConnectionIsNotReused(t *testing.T) {
	made := &connector{}
	client := serve(t, daemon.Options{Connect: made.connect}).client(t)
	connection := connect(t, client)
	_, err := run(t, connection, "true")
	require.NoError(t, err)
	close(made.all()[0].broken)
	close(made.all()[0].ended)
	code, err := run(t, connection, "true")
	require.NoError(t, err)
	require.Zero(t, code)
	require.Len(t, made.all(), 2)
	require.NoError(t, connection.Close())
	await(t, made.all()[0].closed, "the end of a connection")
}

func TestAFailedConnectionIsNotCached(t *testing.T) {
	failing := true
	made := &connector{wait: func(context.Context, daemon.Place, remote.Prompter) error {
		if failing {
			failing = false
			return &remote.ConnectError{Host: "there", Reason: remote.Refused, Err: errors.New("no")}
		}
		return nil
	}}
	client := serve(t, daemon.Options{Connect: made.connect}).client(t)
	_, err := client.Connect(t.Context(), place, nil)
	var refused *remote.ConnectError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, remote.Refused, refused.Reason)
	require.NoError(t, connect(t, client).Close())
}

// askingConnector returns a connector that connects once it gets a password.
func askingConnector() *connector {
	return &connector{wait: func(ctx context.Context, _ daemon.Place, prompter remote.Prompter) error {
		answer, err := prompter.Ask(ctx, remote.Question{Host: "there", Text: "Password:", Secret: true})
		if err == nil && answer != "secret" {
			err = errors.New("wrong password")
		}
		return err
	}}
}

func TestTheFirstClientGetsThePromptAndThenTheNext(t *testing.T) {
	client := serve(t, daemon.Options{Connect: askingConnector().connect}).client(t)

	asked := make(chan struct{})
	firstCtx, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := client.Connect(firstCtx, place, prompterFunc(func(ctx context.Context, _ remote.Question) (string, error) {
			close(asked)
			<-ctx.Done()
			return "", ctx.Err()
		}))
		first <- err
	}()
	select {
	case <-asked:
	case err := <-first:
		require.FailNow(t, "the first client is not asked", "%v", err)
	}
	silent := make(chan error, 1) // has no user to prompt, and waits for the others
	go func() {
		connection, err := client.Connect(t.Context(), place, nil)
		if err == nil {
			err = connection.Close()
		}
		silent <- err
	}()
	second := make(chan error, 1)
	go func() {
		connection, err := client.Connect(t.Context(), place, prompterFunc(func(context.Context, remote.Question) (string, error) {
			return "secret", nil
		}))
		if err == nil {
			err = connection.Close()
		}
		second <- err
	}()
	require.Eventually(t, func() bool {
		listed, err := client.Connections(t.Context())
		return err == nil && len(listed) == 1 && listed[0].Connecting && listed[0].Waiting == 3
	}, patience, time.Millisecond)
	leave()
	require.ErrorIs(t, await(t, first, "the first client"), context.Canceled)
	require.NoError(t, await(t, second, "the second client"))
	require.NoError(t, await(t, silent, "the client with nobody to ask"))
}

func TestConnectingEndsWithoutClients(t *testing.T) {
	ended := make(chan error, 1)
	began := make(chan struct{})
	made := &connector{wait: func(ctx context.Context, _ daemon.Place, _ remote.Prompter) error {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}}
	client := serve(t, daemon.Options{Connect: made.connect}).client(t)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := client.Connect(ctx, place, nil)
		failed <- err
	}()
	await(t, began, "the making of the connection")
	cancel()
	require.ErrorIs(t, await(t, failed, "the client"), context.Canceled)
	require.ErrorIs(t, await(t, ended, "the end of the making"), context.Canceled)
}

func TestConnectionsAreClosedOnRequest(t *testing.T) {
	made := &connector{}
	s := serve(t, daemon.Options{Connect: made.connect})
	client := s.client(t)
	require.NoError(t, connect(t, client).Close())
	other := daemon.Place{Transport: "ssh", Host: "elsewhere"}
	closed, err := client.CloseConnections(t.Context(), other)
	require.NoError(t, err)
	require.Empty(t, closed)
	closed, err = client.CloseConnections(t.Context(), place)
	require.NoError(t, err)
	require.Len(t, closed, 1)
	await(t, made.all()[0].closed, "the end of a connection")

	require.NoError(t, connect(t, client).Close())
	closed, err = client.Stop(t.Context())
	require.NoError(t, err)
	require.Len(t, closed, 1)
	s.wait(t)
	_, err = client.Connections(t.Context())
	require.ErrorIs(t, err, daemon.ErrNotRunning)
}

func TestTheProcessEndsWhenUnused(t *testing.T) {
	made := &connector{}
	s := serve(t, daemon.Options{Connect: made.connect, Idle: 50 * time.Millisecond})
	s.wait(t)
	require.NoError(t, s.err)
	_, err := os.Lstat(filepath.Join(s.options.Folder, "socket"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestOnlyUnusedIdleConnectionsAreClosed(t *testing.T) {
	made := &connector{}
	var client *daemon.Client
	var held remote.Connection
	serveUsed(t, daemon.Options{Connect: made.connect, Idle: 500 * time.Millisecond}, func(first *daemon.Client) (err error) {
		client = first
		held, err = client.Connect(t.Context(), place, nil)
		return err
	})
	idle, err := client.Connect(t.Context(), daemon.Place{Transport: "ssh", Host: "idle"}, nil)
	require.NoError(t, err)
	require.NoError(t, idle.Close())
	await(t, made.all()[1].closed, "the end of a connection")
	code, err := run(t, held, "true")
	require.NoError(t, err)
	require.Zero(t, code)
	require.Len(t, made.all(), 2)
	require.NoError(t, held.Close())
}

func TestAClientThatOutlivesTheProcessStartsAnother(t *testing.T) {
	folder := shortFolder(t)
	var s *served
	start := func() error {
		s = serve(t, daemon.Options{Folder: folder})
		return nil
	}
	client, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: folder, Start: start})
	require.NoError(t, err)
	connection := connect(t, client)
	s.end()
	s.wait(t)
	code, err := run(t, connection, "true")
	require.NoError(t, err)
	require.Zero(t, code)
	require.NoError(t, connection.Close())
}

func TestAClientThatComesAsTheProcessEndsStartsAnother(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, listener net.Listener){
		"before it takes the client": func(t *testing.T, listener net.Listener) {
			require.NoError(t, listener.Close())
		},
		"before it answers": func(t *testing.T, listener net.Listener) {
			taken, err := listener.Accept()
			require.NoError(t, err)
			require.NoError(t, errors.Join(listener.Close(), taken.Close()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := shortFolder(t)
			first := serve(t, daemon.Options{Folder: folder})
			client, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: folder, Start: func() error {
				serve(t, daemon.Options{Folder: folder})
				return nil
			}})
			require.NoError(t, err)
			first.end()
			first.wait(t)
			listener, held, err := daemon.Occupy(folder)
			require.NoError(t, err)
			connecting := make(chan error, 1)
			go func() {
				connection, err := client.Connect(t.Context(), place, nil)
				if err == nil {
					err = connection.Close()
				}
				connecting <- err
			}()
			awaitClient(t, listener)
			end(t, listener)
			require.NoError(t, held.Close())
			require.NoError(t, await(t, connecting, "the client"))
		})
	}
}

// awaitClient waits until a client has connected, without accepting the connection.
func awaitClient(t *testing.T, listener net.Listener) {
	t.Helper()
	connection, err := listener.(*net.UnixListener).SyscallConn()
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var count int
		controlErr := connection.Control(func(descriptor uintptr) {
			count, err = unix.Poll([]unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}, 0)
		})
		return errors.Join(controlErr, err) == nil && count == 1
	}, patience, time.Millisecond)
}
