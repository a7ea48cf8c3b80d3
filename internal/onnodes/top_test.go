package onnodes_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/internal/tree"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// dialed names the variable that makes the test binary a process of a job.
const dialed = "RMCTL_TEST_DIALS"

func TestMain(m *testing.M) {
	if directory := os.Getenv(dialed); directory != "" {
		dialUntilServed(directory)
		return
	}
	os.Exit(m.Run())
}

// dialUntilServed opens a stream, sends the name of its node, and sends back what it reads.
func dialUntilServed(directory string) {
	for {
		conn, err := tree.DialStream(context.Background(), directory)
		if err != nil {
			<-time.After(20 * time.Millisecond)
			continue
		}
		fmt.Fprintln(conn, os.Getenv("NODE"))
		_, _ = io.Copy(conn, conn) // until rmctl ends
		return
	}
}

// Each node is a namespace of processes with a /tmp of its own, in which a process dials.
const dialingNodes = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="dialing">
  <control-data>
    <submit-batch name="submit"><arg>true</arg></submit-batch>
    <x:on-nodes name="enter">
      <arg resolve="false">PLACE</arg>
      <arg>${ptp_rm:node.name#value} ${ptp_rm:node.command#value}</arg>
    </x:on-nodes>
  </control-data>
</resource-manager-builder>`

const dialingPlace = `#!/bin/sh
node=$1; shift
case $node in n3) echo no route to n3 >&2; exit 7;; esac
exec unshare --mount --pid --fork --kill-child --mount-proc sh -c '
  mount -t tmpfs none /tmp && node=$1 && shift || exit 1
  NODE=$node RMCTL_TEST_DIALS=DIRECTORY DIALER </dev/null >/dev/null &
  "$@"' sh "$node" "$@"
`

// topFixture is a top and its parts.
type topFixture struct {
	folder    string
	local     remote.Connection
	directory *nodes.Directory
	top       *onnodes.Top
}

func openTop(t *testing.T, relayAddress string) *topFixture {
	t.Helper()
	folder, err := os.MkdirTemp("/var/tmp", "rmctl-top-") // nodes have another /tmp
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	rmctltest.NodeProgram(t, folder)
	f := &topFixture{folder: folder}
	f.local, err = remote.NewLocal()
	require.NoError(t, err)
	f.directory, err = nodes.NewDirectory(f.local, filepath.Join(folder, "node"), filepath.Join(folder, "rmctl"))
	require.NoError(t, err)
	f.top, err = onnodes.OpenTop(t.Context(), f.local, f.directory, "ensemble-1", relayAddress)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.top.Close()) })
	return f
}

// jobOn returns a running job whose processes dial on the nodes.
func (f *topFixture) jobOn(t *testing.T, names string) *onnodes.Reachable {
	t.Helper()
	executable, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	dialer, place, file := filepath.Join(f.folder, "dialer"), filepath.Join(f.folder, "place"), filepath.Join(f.folder, "dialing.xml")
	require.NoError(t, os.WriteFile(dialer, executable, 0o700))
	require.NoError(t, os.WriteFile(place, []byte(strings.NewReplacer("DIRECTORY", f.top.Directory, "DIALER", dialer).Replace(dialingPlace)), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(dialingNodes, "PLACE", place)), 0o600))
	usable, _, err := check.UsableDefinition(file)
	require.NoError(t, err)
	return &onnodes.Reachable{
		Job:        job.Job{ID: "7", Target: "dialing", Observation: job.Observation{Detail: job.Running, Nodes: names}},
		Definition: usable, Environment: attribute.NewEnvironment(), Connection: f.local, Directory: f.directory,
	}
}

// accept returns the next stream and the line that its process sends first.
func (f *topFixture) accept(t *testing.T) (net.Conn, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := f.top.AcceptStream(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // it may be closed
	var line strings.Builder
	for next := make([]byte, 1); next[0] != '\n'; line.Write(next) {
		_, err = io.ReadFull(conn, next)
		require.NoError(t, err)
	}
	return conn, strings.TrimSpace(line.String())
}

func TestProcessesOnTheTargetReachTheTop(t *testing.T) {
	t.Parallel()
	f := openTop(t, "127.0.0.1")
	address, err := os.ReadFile(filepath.Join(f.top.Directory, "address"))
	require.NoError(t, err)
	require.Contains(t, string(address), "127.0.0.1:")
	var dialing sync.WaitGroup
	dialing.Go(func() { dialFrom(t.Context(), f.top.Directory) })
	conn, line := f.accept(t)
	require.Equal(t, "process", line)
	require.NoError(t, conn.Close())
	dialing.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.top.AcceptStream(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func dialFrom(ctx context.Context, directory string) {
	for ctx.Err() == nil {
		if conn, err := tree.DialStream(ctx, directory); err == nil {
			fmt.Fprintln(conn, "process")
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close() // rmctl has closed it
			return
		}
	}
}

func TestProcessesOnNodesReachTheTopThroughRelaysThere(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("namespaces need root")
	}
	f := openTop(t, "")
	reached := f.jobOn(t, "n[1-3]")
	problems, err := f.top.LaunchFor(t.Context(), reached)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Contains(t, problems["n3"], "no route to n3")
	found := map[string]bool{}
	for range 2 {
		conn, line := f.accept(t)
		found[line] = true
		_, err := conn.Write([]byte("release"))
		require.NoError(t, err)
		back := make([]byte, 7)
		_, err = io.ReadFull(conn, back)
		require.NoError(t, err)
		require.Equal(t, "release", string(back))
	}
	require.Equal(t, map[string]bool{"n1": true, "n2": true}, found)
	names, err := f.top.Nodes(t.Context())
	require.NoError(t, err)
	require.Subset(t, names, []string{"n1", "n2"})

	reached.Nodes = "n[1-2]"
	problems, err = f.top.LaunchFor(t.Context(), reached)
	require.NoError(t, err)
	require.Empty(t, problems)
	again, err := f.top.Nodes(t.Context())
	require.NoError(t, err)
	require.Equal(t, names, again, "nodes get a second relay")
}

func TestATopNeedsAnAddressOfTheTarget(t *testing.T) {
	t.Parallel()
	f := openTop(t, "")
	_, err := onnodes.OpenTop(t.Context(), f.local, f.directory, "ensemble-2", "192.0.2.1")
	require.ErrorContains(t, err, "check relay_address of the target, which is 192.0.2.1")
}
