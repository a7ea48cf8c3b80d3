package remotetest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// RunSilent tests what becomes of work when its place does not answer any more
// though the line to it stands: whoever cancels is not held. Open returns a
// connection for itself, and what silences its place; the suite closes it.
func RunSilent(t *testing.T, open func(t *testing.T) (connection remote.Connection, silence func())) {
	HeedHangUps()
	tests := []struct {
		name string
		test func(t *testing.T, connection remote.Connection, silence func())
	}{
		{"commands can be canceled", testSilentCommands},
		{"calls end with their context", testSilentCalls},
		{"closing it is not held, nor is what waits for it", testSilentClose},
	}
	goroutinesEnd(t)
	for _, one := range tests {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			connection, silence := open(t)
			one.test(t, connection, silence)
			requireSoon(t, "closing", func() { requireLostOrNil(t, connection.Close()) })
		})
	}
}

// requireGivenUp wants an error that says that the place was not waited for.
func requireGivenUp(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		require.ErrorIs(t, err, remote.ErrUnreachable)
	}
}

func testSilentCommands(t *testing.T, connection remote.Connection, silence func()) {
	ctx, cancel := context.WithCancel(timeLimit(t))
	defer cancel()
	var talks []*conversation
	for _, terminal := range []*remote.Terminal{nil, {}} {
		command := shellCommand("echo ready; exec sleep 20")
		command.Terminal = terminal
		talk := (&suite{connection: connection}).converseWith(t, ctx, command)
		talk.expect(t, "ready")
		talks = append(talks, talk)
	}
	silence()
	cancel()
	for _, talk := range talks {
		require.NoError(t, talk.output.Close()) // the end of the line is not to hold it
		code, err := waitSoon(t, talk.process)
		require.Equal(t, -1, code)
		requireGivenUp(t, err)
	}
}

func testSilentCalls(t *testing.T, connection remote.Connection, silence func()) {
	place := (&suite{connection: connection}).shell(t, "mktemp -d")
	directory := strings.TrimSuffix(place.stdout, "\n")
	require.NoError(t, connection.Remove(timeLimit(t), directory))
	silence()
	for name, call := range map[string]func(ctx context.Context) error{
		"Start": func(ctx context.Context) error { return startAndWait(ctx, connection) },
		"Stat":  func(ctx context.Context) error { _, err := connection.Stat(ctx, "."); return err },
		"Open":  func(ctx context.Context) error { _, err := connection.Open(ctx, directory); return err },
		"WriteFile": func(ctx context.Context) error {
			return connection.WriteFile(ctx, directory, strings.NewReader("x"), 0o600)
		},
		"MkdirAll": func(ctx context.Context) error { return connection.MkdirAll(ctx, directory, 0o700) },
		"Chmod":    func(ctx context.Context) error { return connection.Chmod(ctx, directory, 0o700) },
		"Remove":   func(ctx context.Context) error { return connection.Remove(ctx, directory) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			var err error
			requireSoon(t, name, func() { err = call(ctx) })
			requireGivenUp(t, err)
		})
	}
}

func testSilentClose(t *testing.T, connection remote.Connection, silence func()) {
	s := &suite{connection: connection}
	talk := s.converseWith(t, timeLimit(t), shellCommand("echo ready; exec sleep 20"))
	talk.expect(t, "ready\n")
	path := strings.TrimSuffix(s.shell(t, "mktemp").stdout, "\n")
	s.makeLargeFile(t, path, 1<<30)
	file, err := connection.Open(timeLimit(t), path)
	require.NoError(t, err)
	require.NoError(t, connection.Remove(timeLimit(t), path)) // later nobody could
	silence()
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, file)
		read <- err
	}()
	requireSoon(t, "closing", func() { requireLostOrNil(t, connection.Close()) })
	code, err := waitSoon(t, talk.process)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Equal(t, -1, code)
	requireSoon(t, "reading", func() { require.Error(t, <-read) })
	requireSoon(t, "closing the file", func() { _ = file.Close() }) // it may say that the connection is gone
}
