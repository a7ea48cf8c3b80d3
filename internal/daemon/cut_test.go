package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

func TestAProcessEndsWithItsClient(t *testing.T) {
	folder, err := os.MkdirTemp("", "cut")
	require.NoError(t, err)
	defer os.RemoveAll(folder)
	options := Options{Folder: filepath.Join(folder, "host"), Connect: func(context.Context, Place, remote.Prompter) (remote.Connection, error) {
		return remote.NewLocal()
	}}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, options) }()
	client := Find(options.Folder)
	require.Eventually(t, func() bool { _, err := client.Greet(t.Context()); return err == nil }, longWait, time.Millisecond)
	inUse := func(users int) func() bool {
		return func() bool {
			kept, err := client.Connections(t.Context())
			return err == nil && len(kept) == 1 && kept[0].Users == users
		}
	}

	connection, err := client.Connect(t.Context(), Place{Host: "there"}, nil)
	require.NoError(t, err)
	var cut net.Conn // of the last conversation
	cutting, err := connect(t.Context(), func(ctx context.Context) (net.Conn, error) {
		var err error
		cut, err = client.dialLiving(ctx)
		return cut, err
	}, Place{Host: "there"}, nil)
	require.NoError(t, err)
	reader, writer := io.Pipe()
	process, err := cutting.Start(t.Context(), remote.Command{Arguments: []string{"sh", "-c", "echo $$; exec sleep 300"}, Stdout: writer})
	require.NoError(t, err)
	id := make([]byte, 32)
	impatience := time.AfterFunc(longWait, func() { reader.CloseWithError(errors.New("the process prints nothing")) })
	count, err := reader.Read(id)
	impatience.Stop()
	require.NoError(t, err)
	require.NoError(t, cut.Close())

	code, err := process.Wait()
	require.Equal(t, -1, code)
	var lost *remote.ConnectError
	require.ErrorAs(t, err, &lost)
	require.Equal(t, remote.Disconnected, lost.Reason)
	require.NoError(t, cutting.Close())
	require.Eventually(t, inUse(1), longWait, 5*time.Millisecond, "the process was not given up")
	kill, err := connection.Start(t.Context(), remote.Command{Arguments: []string{"kill", "-0", strings.TrimSpace(string(id[:count]))}})
	require.NoError(t, err)
	code, err = kill.Wait()
	require.NoError(t, err)
	require.Equal(t, 1, code, "the process lives on")
	require.NoError(t, connection.Close())
	require.Eventually(t, inUse(0), longWait, 5*time.Millisecond, "the connection is still held")
	end()
	require.NoError(t, <-ended)
}
