package ssh

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/channel"
)

// The figures of docs/performance.md: a command over a warm connection beside
// the bare round trip. They need a real sshd: RMCTL_CLUSTERS=1.
func BenchmarkRoundTrip(b *testing.B) {
	client := dialSshd(b, startSshd(b), "rmtest-target", nil)
	for b.Loop() {
		_, _, err := client.client.SendRequest("keepalive@openssh.com", true, nil)
		require.NoError(b, err)
	}
}

func BenchmarkWarmCommand(b *testing.B) {
	connection := connectForBenchmark(b)
	for b.Loop() {
		runForBenchmark(b, connection)
	}
}

func BenchmarkThousandCommands(b *testing.B) {
	connection := connectForBenchmark(b)
	for b.Loop() {
		for range 1000 {
			runForBenchmark(b, connection)
		}
	}
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
		client, err := Dial(b.Context(), options)
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
	runForBenchmark(b, connection) // the first one starts the shell
	return connection
}

func runForBenchmark(b *testing.B, connection remote.Connection) {
	b.Helper()
	process, err := connection.Start(b.Context(), remote.Command{Arguments: []string{"true"}})
	require.NoError(b, err)
	code, err := process.Wait()
	require.NoError(b, err)
	require.Zero(b, code)
}
