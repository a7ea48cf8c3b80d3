package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/remote"
)

// lateReader is the connection of a client that does not read until it is resumed, although
// the data is taken from the line.
type lateReader struct {
	net.Conn
	mutex  sync.Mutex
	come   bytes.Buffer
	failed error
	wake   chan struct{} // holds something when there may be more
	resume chan struct{}
}

func readLate(conn net.Conn) *lateReader {
	r := &lateReader{Conn: conn, wake: make(chan struct{}, 1), resume: make(chan struct{})}
	go func() {
		buffer := make([]byte, 4096)
		for {
			count, err := conn.Read(buffer)
			r.mutex.Lock()
			r.come.Write(buffer[:count])
			r.failed = err
			r.mutex.Unlock()
			execution.Offer(r.wake, struct{}{})
			if err != nil {
				return
			}
		}
	}()
	return r
}

func (r *lateReader) has(text string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return bytes.Contains(r.come.Bytes(), []byte(text))
}

func (r *lateReader) Read(buffer []byte) (int, error) {
	<-r.resume
	for {
		r.mutex.Lock()
		count, _ := r.come.Read(buffer)
		failed := r.failed
		r.mutex.Unlock()
		if count > 0 {
			return count, nil
		}
		if failed != nil {
			return 0, failed
		}
		<-r.wake
	}
}

func TestClientsGetTheFinalOutputWhenTheProcessEnds(t *testing.T) {
	folder, err := os.MkdirTemp("", "words")
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

	place := Place{Host: "there"}.pack()
	type late struct {
		*link
		conn *lateReader
		hear func(l *link) error
	}
	var all []late
	for range 5 {
		for operation, said := range map[string]struct {
			asked request
			last  string // of the data
			hear  func(l *link) error
		}{
			operationConnections: {request{}, "[", func(l *link) error { return l.receiveAnswer(&[]ConnectionInfo{}) }},
			operationEnd:         {request{Name: "none"}, "no-session", func(l *link) error { return refusedFor(l.receiveAnswer(), ErrNoSession) }},
			operationStat:        {request{Place: place, Path: []byte(".")}, "FileMode", func(l *link) error { return l.receiveAnswer(&files.Info{}) }},
			operationStart: {newStartRequest(Place{Host: "there"}, remote.Command{Arguments: []string{"sh", "-c", "exit 7"}}), `"Code":7`, func(l *link) error {
				var how exit
				if err := l.receiveAnswer(&how); err != nil || how.Code != 7 {
					return fmt.Errorf("code %d: %w", how.Code, err)
				}
				return nil
			}},
		} {
			conn, err := client.dialLiving(t.Context())
			require.NoError(t, err)
			require.NoError(t, greet(conn, header{Protocol: protocolVersion, Operation: operation}, &struct{}{}))
			reader := readLate(conn)
			l, err := openLink(reader)
			require.NoError(t, err)
			require.NoError(t, l.send(said.asked))
			require.Eventually(t, func() bool { return reader.has(said.last) }, longWait, time.Millisecond, "%s", operation)
			all = append(all, late{l, reader, said.hear})
		}
	}
	held, err := client.Connect(t.Context(), Place{Host: "there"}, nil)
	require.NoError(t, err)
	end()
	// Clients that hold a connection are disconnected.
	<-held.(*connection).hold.session.CloseChan()
	for _, one := range all {
		// If a client sends before it reads, for example a window update, its link ends when
		// the other end is gone.
		require.NoError(t, one.send(instruction{}))
	}
	for _, one := range all {
		close(one.conn.resume)
		require.NoError(t, one.hear(one.link))
		one.close()
	}
	require.NoError(t, held.Close())
	require.NoError(t, <-ended)
}

// refusedFor returns nil for a refusal that matches an error.
func refusedFor(err, wanted error) error {
	if errors.Is(err, wanted) {
		return nil
	}
	return fmt.Errorf("it is not refused as it should be: %w", err)
}
