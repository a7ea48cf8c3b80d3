package daemon_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/daemon"
)

func TestOnlyOneOfTwoStartingProcessesServes(t *testing.T) {
	folder := shortFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	const contenders = 6
	ended := make(chan error, contenders)
	var group sync.WaitGroup
	for range contenders {
		group.Go(func() {
			ended <- daemon.Serve(ctx, daemon.Options{Folder: folder, Connect: (&connector{}).connect})
		})
	}
	for range contenders - 1 {
		require.ErrorIs(t, await(t, ended, "the end of a process"), daemon.ErrRunning)
	}
	_, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: folder, Start: func() error { return nil }})
	require.NoError(t, err)
	cancel()
	require.NoError(t, await(t, ended, "the end of a process"))
	group.Wait()
}

func TestTheSocketIsPrivate(t *testing.T) {
	s := serve(t, daemon.Options{})
	folder, err := os.Stat(s.options.Folder)
	require.NoError(t, err)
	require.EqualValues(t, 0o700, folder.Mode().Perm())
	socket, err := os.Lstat(filepath.Join(s.options.Folder, "socket"))
	require.NoError(t, err)
	require.EqualValues(t, 0o600, socket.Mode().Perm())
}

func TestTheSocketOfADeadProcessIsTakenOver(t *testing.T) {
	folder := shortFolder(t)
	require.NoError(t, os.Mkdir(folder, 0o700))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, "socket"), Net: "unix"})
	require.NoError(t, err)
	listener.SetUnlinkOnClose(false)
	require.NoError(t, listener.Close())
	_, err = daemon.Open(t.Context(), daemon.ClientOptions{Folder: folder})
	require.ErrorIs(t, err, daemon.ErrNotRunning)
	require.NoError(t, connect(t, serve(t, daemon.Options{Folder: folder}).client(t)).Close())
}

// serveUnused serves in a directory until the process finds itself unused, which is at once,
// and returns why it ended: nil if it has served.
func serveUnused(t *testing.T, folder string) error {
	t.Helper()
	return daemon.Serve(t.Context(), daemon.Options{Folder: folder, Idle: time.Millisecond, Connect: (&connector{}).connect})
}

func TestAPlaceThatIsNotPrivateIsRefused(t *testing.T) {
	t.Run("open to others", func(t *testing.T) {
		folder := shortFolder(t)
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.Chmod(folder, 0o750))
		require.ErrorContains(t, serveUnused(t, folder), "0750")
	})
	t.Run("a symbolic link", func(t *testing.T) {
		folder := shortFolder(t)
		elsewhere := t.TempDir()
		require.NoError(t, os.Chmod(elsewhere, 0o700))
		require.NoError(t, os.Symlink(elsewhere, folder))
		require.ErrorContains(t, serveUnused(t, folder), "checking the private directory")
	})
	t.Run("a file in the place of the socket", func(t *testing.T) {
		folder := shortFolder(t)
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "socket"), []byte("precious"), 0o600))
		require.ErrorContains(t, serveUnused(t, folder), "is not a socket")
		kept, err := os.ReadFile(filepath.Join(folder, "socket"))
		require.NoError(t, err)
		require.Equal(t, "precious", string(kept))
	})
	t.Run("a link in the place of the lock", func(t *testing.T) {
		folder := shortFolder(t)
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.Symlink("/dev/null", filepath.Join(folder, "lock")))
		require.Error(t, serveUnused(t, folder))
	})
}

// In another user's directory the socket could be replaced.
func TestTheFolderOfAShortSocketIsPrivateToo(t *testing.T) {
	runtime := shortFolder(t)
	above := filepath.Join(runtime, "rmctl")
	require.NoError(t, os.MkdirAll(above, 0o700))
	require.NoError(t, os.Chmod(above, 0o777))
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	folder := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	require.ErrorContains(t, serveUnused(t, folder), "has mode 0777: run chmod 700")
}

func TestALongPathGetsAShortSocket(t *testing.T) {
	runtime := shortFolder(t)
	require.NoError(t, os.Mkdir(runtime, 0o700))
	for name, variable := range map[string]string{"in the runtime folder": runtime, "in the temporary one": ""} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", variable)
			folder := filepath.Join(t.TempDir(), strings.Repeat("long", 20), strings.Repeat("path", 20))
			require.NoError(t, connect(t, serve(t, daemon.Options{Folder: folder}).client(t)).Close())
			_, err := os.Lstat(filepath.Join(folder, "socket"))
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

func TestAnotherBuildTakesOver(t *testing.T) {
	old := serve(t, daemon.Options{Build: "old"})
	held := connect(t, old.client(t))
	asking := daemon.Find(old.options.Folder)
	greeting, err := asking.Greet(t.Context())
	require.NoError(t, err, "who only asks makes nobody leave")
	require.Equal(t, "old", greeting.Build)
	require.Positive(t, greeting.Goroutines)
	started := 0
	client, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: old.options.Folder, Build: "new", Start: func() error {
		started++
		serve(t, daemon.Options{Folder: old.options.Folder, Build: "new"})
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, 1, started)
	greeting, err = client.Greet(t.Context())
	require.NoError(t, err)
	require.Equal(t, "new", greeting.Build)
	require.False(t, old.isOver(), "the old one ended although a client uses it")
	require.NoError(t, held.Close())
	old.wait(t)
}

// Clients of two builds that come at the same time start a process each. The first process
// stays.
func TestAClientEndsTheProcessOfAnotherBuildOnce(t *testing.T) {
	old := serve(t, daemon.Options{Build: "old"})
	client, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: old.options.Folder, Build: "new", Start: func() error {
		serve(t, daemon.Options{Folder: old.options.Folder, Build: "third"}) // of a client that was faster
		return nil
	}})
	require.NoError(t, err)
	old.wait(t)
	greeting, err := daemon.Find(old.options.Folder).Greet(t.Context())
	require.NoError(t, err)
	require.Equal(t, "third", greeting.Build)
	require.NotNil(t, client)
}

// Or the process of the next client is the one that ends. It repeats, since a client was
// rarely disconnected too early.
func TestTheSocketIsRemovedBeforeClientsAreClosed(t *testing.T) {
	for range 50 {
		s := serve(t, daemon.Options{})
		socket := daemon.SocketPath(s.options.Folder)
		conn, err := net.Dial("unix", socket)
		require.NoError(t, err)
		s.end()
		_, err = conn.Read(make([]byte, 1))
		require.Error(t, err)
		_, err = os.Lstat(socket)
		require.ErrorIs(t, err, os.ErrNotExist)
		require.NoError(t, conn.Close())
		s.wait(t)
	}
}

func TestTheWaitForAProcessToStartIsBounded(t *testing.T) {
	failure := errors.New("no")
	_, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: shortFolder(t), Start: func() error { return failure }})
	require.ErrorIs(t, err, failure)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = daemon.Open(ctx, daemon.ClientOptions{Folder: shortFolder(t), Start: func() error { cancel(); return nil }})
	require.ErrorIs(t, err, context.Canceled)
}

func TestTheLogIsPrivateAndBounded(t *testing.T) {
	folder := shortFolder(t)
	log, err := daemon.OpenLog(folder)
	require.NoError(t, err)
	line := []byte(strings.Repeat("x", 1<<16) + "\n")
	for range 40 {
		_, err := log.Write(line)
		require.NoError(t, err)
	}
	info, err := os.Stat(filepath.Join(folder, daemon.LogName))
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	require.LessOrEqual(t, info.Size(), int64(1<<20))
	require.NoError(t, log.Close())
}
