package callback_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/callback"
)

// listen serves the loopback address in place of one that nodes reach.
func listen(t *testing.T, secret string) (directory string, callers <-chan callback.Caller) {
	t.Helper()
	directory = t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	found, ready := make(chan callback.Caller, 8), make(chan []string, 1)
	var running sync.WaitGroup
	running.Go(func() {
		err := callback.Listen(ctx, directory, []byte(secret), []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("203.0.113.7")},
			func(addresses []string) { ready <- addresses }, func(caller callback.Caller) { found <- caller })
		require.NoError(t, err)
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		require.NoFileExists(t, filepath.Join(directory, callback.AddressesFile))
	})
	require.Equal(t, []string{"127.0.0.1"}, <-ready, "an address of another host is not offered")
	return directory, found
}

func addressOf(t *testing.T, directory string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, callback.AddressesFile))
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(directory, callback.AddressesFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	var addresses []string
	require.NoError(t, json.Unmarshal(text, &addresses))
	return addresses[0]
}

func TestANodeWithTheSecretIsReportedAndStaysUntilTheAddressesAreRemoved(t *testing.T) {
	t.Parallel()
	directory, callers := listen(t, "s")
	done := make(chan []callback.Result, 1)
	go func() {
		results, err := callback.TryAll(context.Background(), directory, "n1", []byte("s"))
		if err != nil {
			results = nil
		}
		done <- results
	}()
	require.Equal(t, callback.Caller{Address: "127.0.0.1", Node: "n1"}, <-callers)
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(directory, callback.ResultsFile))
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	require.Empty(t, done, "the job stays, so that others can be tried on it")
	require.NoError(t, os.Remove(filepath.Join(directory, callback.AddressesFile)))
	require.Equal(t, []callback.Result{{Address: "127.0.0.1", Node: "n1"}}, <-done)
}

func TestANodeWithoutTheSecretIsNotReported(t *testing.T) {
	t.Parallel()
	directory, callers := listen(t, "s")
	require.Error(t, callback.Try(t.Context(), addressOf(t, directory), "n1", []byte("other")))
	connection, err := net.Dial("tcp", addressOf(t, directory))
	require.NoError(t, err)
	_, err = io.WriteString(connection, "GET / HTTP/1.1\n")
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, connection) // until the host closes it
	require.NoError(t, connection.Close())
	require.NoError(t, callback.Try(t.Context(), addressOf(t, directory), "n2", []byte("s")))
	require.Equal(t, "n2", (<-callers).Node, "only the one with the secret")
}

// A host with the same private address may be in the network of the nodes.
func TestAnotherHostIsNotTakenForTheJobsHost(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(connection, "220 mail.example.org\n")
			_, _ = bufio.NewReader(connection).ReadString('\n')
			_, _ = io.WriteString(connection, "500 what?\n")
			_ = connection.Close()
		}
	}()
	require.ErrorContains(t, callback.Try(t.Context(), listener.Addr().String(), "n1", []byte("s")), "does not know the secret")
}

func TestAnUnreachableAddressHasItsReason(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	require.NoError(t, os.WriteFile(filepath.Join(directory, callback.AddressesFile), []byte(`["`+address+`"]`), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	results, err := callback.TryAll(ctx, directory, "n1", []byte("s"))
	require.NoError(t, err)
	require.Contains(t, results[0].Problem, "refused")
}

func TestAddressesOfThisHostAreNoLoopback(t *testing.T) {
	t.Parallel()
	addresses, err := callback.Addresses()
	require.NoError(t, err)
	for _, address := range addresses {
		require.False(t, address.IsLoopback() || address.IsLinkLocalUnicast() || address.IsUnspecified(), "%s", address)
	}
}
