package channel_test

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

func runTrue(b *testing.B, connection remote.Connection, command remote.Command) {
	var stdout, stderr bytes.Buffer
	command.Arguments = []string{"true"}
	command.Stdout, command.Stderr = &stdout, &stderr
	process, err := connection.Start(b.Context(), command)
	require.NoError(b, err)
	code, err := process.Wait()
	require.NoError(b, err)
	require.Zero(b, code)
}

// BenchmarkBare is what BenchmarkCommand is to be compared with: the program
// alone.
func BenchmarkBare(b *testing.B) {
	for b.Loop() {
		require.NoError(b, exec.Command("true").Run())
	}
}

// BenchmarkCommand runs a program through a shell that is ready.
func BenchmarkCommand(b *testing.B) {
	connection := connect(b, loginShell(b, "sh"), quick())
	runTrue(b, connection, remote.Command{})
	for b.Loop() {
		runTrue(b, connection, remote.Command{})
	}
}

// BenchmarkCommandAlone runs a program with input, which needs a channel.
func BenchmarkCommandAlone(b *testing.B) {
	connection := connect(b, loginShell(b, "sh"), quick())
	for b.Loop() {
		runTrue(b, connection, remote.Command{Stdin: bytes.NewReader(nil)})
	}
}

// BenchmarkParallel runs 200 programs at once.
func BenchmarkParallel(b *testing.B) {
	connection := connect(b, loginShell(b, "sh"), quick())
	for b.Loop() {
		var group sync.WaitGroup
		for range 200 {
			group.Go(func() { runTrue(b, connection, remote.Command{}) })
		}
		group.Wait()
	}
}

// BenchmarkOutput takes 1 GiB of output of a program.
func BenchmarkOutput(b *testing.B) {
	const size = 1 << 30
	connection := connect(b, loginShell(b, "sh"), quick())
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		process, err := connection.Start(b.Context(), remote.Command{Arguments: []string{"head", "-c", fmt.Sprint(size), "/dev/zero"}, Stdout: io.Discard})
		require.NoError(b, err)
		_, err = process.Wait()
		require.NoError(b, err)
	}
}
