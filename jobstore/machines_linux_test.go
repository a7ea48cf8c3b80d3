package jobstore_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The server of a GlusterFS, for a folder and a port, and a client of it, for the port.
const (
	serverVolume = `volume brick
  type storage/posix
  option directory %s
end-volume
volume locks
  type features/locks
  subvolumes brick
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.address-family inet
  option transport.socket.bind-address 127.0.0.1
  option transport.socket.listen-port %d
  option auth.addr.locks.allow 127.0.0.1
  subvolumes locks
end-volume
`
	clientVolume = `volume remote
  type protocol/client
  option transport-type tcp
  option transport.address-family inet
  option remote-host 127.0.0.1
  option remote-port %d
  option remote-subvolume locks
end-volume
`
)

// mountTwice mounts one folder of a file server at two places, which are two machines
// as far as locks and kept pages are concerned.
func mountTwice(t *testing.T) (places [2]string) {
	t.Helper()
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("needs a file server: RMCTL_CLUSTERS=1 starts a GlusterFS, as root on Debian")
	}
	for _, program := range []string{"glusterfsd", "glusterfs"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program, "is not installed")
		}
	}
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Geteuid() != 0 {
		t.Skip("only root can mount, and only with FUSE")
	}
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	brick := filepath.Join(folder, "brick")
	require.NoError(t, os.Mkdir(brick, 0o700))
	port := freePort(t)
	start(t, "glusterfsd", "-N", "-f", file("server.vol", fmt.Sprintf(serverVolume, brick, port)), "-l", file("server.log", ""))
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		return err == nil && connection.Close() == nil
	}, patience, 10*time.Millisecond, "the server does not listen")
	client := file("client.vol", fmt.Sprintf(clientVolume, port))
	for i, name := range []string{"one", "other"} {
		places[i] = filepath.Join(folder, name)
		require.NoError(t, os.Mkdir(places[i], 0o700))
		start(t, "glusterfs", "-N", "-f", client, "-l", file(name+".log", ""), "--direct-io-mode=enable", places[i])
		if !isMountedSoon(places[i]) {
			said, err := os.ReadFile(filepath.Join(folder, name+".log"))
			require.NoError(t, err)
			t.Skipf("this machine lets GlusterFS mount nothing: %s", said)
		}
		t.Cleanup(func() { require.NoError(t, unix.Unmount(places[i], unix.MNT_DETACH)) })
	}
	return places
}

// isMountedSoon waits until a file system of FUSE shows at a place: containers may not
// mount any, and some folders cannot be served.
func isMountedSoon(place string) bool {
	const longest = 20 * time.Second
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for begun := time.Now(); time.Since(begun) < longest; <-look.C {
		var status unix.Statfs_t
		if unix.Statfs(place, &status) == nil && uint32(status.Type) == unix.FUSE_SUPER_MAGIC {
			return true
		}
	}
	return false
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	address, isTCP := listener.Addr().(*net.TCPAddr)
	require.True(t, isTCP)
	return address.Port
}

// start starts a program that goes on until the test ends.
func start(t *testing.T, program string, arguments ...string) {
	t.Helper()
	var printed strings.Builder
	command := exec.Command(program, arguments...)
	command.Stdout, command.Stderr = &printed, &printed
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		require.NoError(t, command.Process.Signal(unix.SIGTERM))
		kill := time.AfterFunc(patience, func() { _ = command.Process.Kill() }) // it may have ended
		defer kill.Stop()
		_ = command.Wait() // which reports that it was ended
		if t.Failed() {
			t.Log(program, printed.String())
		}
	})
}

func TestMachinesThatShareAFileSystemLoseNothing(t *testing.T) {
	t.Parallel()
	places := mountTwice(t)
	const processes = 4
	program, err := os.Executable()
	require.NoError(t, err)
	var commands []*exec.Cmd
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for process := range processes {
		command := exec.CommandContext(ctx, program)
		command.Env = append(os.Environ(), fmt.Sprintf("%s=%d", workVariable, process), workPlace+"="+filepath.Join(places[process%2], "state"))
		command.Stderr = os.Stderr
		require.NoError(t, command.Start())
		commands = append(commands, command)
	}
	for _, command := range commands {
		require.NoError(t, command.Wait())
	}
	for _, place := range places {
		requireWork(t, filepath.Join(place, "state"), processes*workAmount)
	}
}
