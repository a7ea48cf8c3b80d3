package ssh

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// The figures of docs/operate/performance.md need a real sshd: RMCTL_CLUSTERS=1. This is
// the round trip of the protocol alone.
func BenchmarkRoundTrip(b *testing.B) {
	client := dialSshd(b, startSshd(b), "rmtest-target", nil)
	for b.Loop() {
		_, _, err := client.client.SendRequest("keepalive@openssh.com", true, nil)
		require.NoError(b, err)
	}
}

func BenchmarkCommands(b *testing.B) {
	remotetest.Figures(b, connectForBenchmark(b))
}

// Without a kept shell, each command costs a channel and a login shell.
func BenchmarkChannelPerCommand(b *testing.B) {
	client := dialSshd(b, startSshd(b), "rmtest-target", nil)
	for b.Loop() {
		ran, err := client.Open(b.Context(), "exec true", channel.Options{})
		require.NoError(b, err)
		code, err := ran.Wait()
		require.NoError(b, err)
		require.Zero(b, code)
		require.NoError(b, ran.Close())
	}
}

func BenchmarkDial(b *testing.B) {
	directory := startSshd(b)
	options := Options{Host: "rmtest-target", ConfigFile: filepath.Join(directory, "client", "config")}
	for b.Loop() {
		client, err := dial(b.Context(), options)
		require.NoError(b, err)
		require.NoError(b, client.Close())
	}
}

func connectForBenchmark(b *testing.B) remote.Connection {
	b.Helper()
	directory := startSshd(b)
	connection, err := Connect(b.Context(), Options{Host: "rmtest-target", ConfigFile: filepath.Join(directory, "client", "config")})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, connection.Close()) })
	return connection
}
