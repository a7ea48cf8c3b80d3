package ssh

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

func TestOpeningWhileTheConnectionEndsIsNotHeld(t *testing.T) {
	s := serve(t, &server{rejects: true})
	p := newPlace(t)
	p.knows(s.port, "host")
	options := p.options(s.port)
	const rounds, openers = 50, 10
	for range rounds {
		client, err := dial(t.Context(), options)
		require.NoError(t, err)
		var work sync.WaitGroup
		for range openers {
			work.Go(func() {
				for err := error(nil); !errors.Is(err, remote.ErrUnreachable); {
					_, err = client.Open(t.Context(), "true", channel.Options{})
				}
			})
		}
		work.Go(func() { _ = client.wire.Conn.Close() }) // as a network that breaks down
		ended := make(chan struct{})
		go func() {
			work.Wait()
			_ = client.Close()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(testPatience):
			require.FailNow(t, "an answer is waited for that cannot come any more")
		}
	}
}

func TestNothingIsWrittenAfterReadingTheEnd(t *testing.T) {
	conn := &halfOpen{}
	w := &wire{Conn: conn}
	reported := 0
	w.beforeEnd(func() {
		reported++
		_, err := w.Write([]byte("x"))
		require.Error(t, err)
		require.True(t, conn.closed, "who writes already is not waited for")
	})
	_, err := w.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, 1, reported)
	w.beforeEnd(func() { reported++ })
	require.Equal(t, 2, reported, "it had ended before")
}

// halfOpen is a connection whose other side sends no more, but would take more.
type halfOpen struct {
	net.Conn
	closed bool
}

func (c *halfOpen) Read([]byte) (int, error)    { return 0, io.EOF }
func (c *halfOpen) Write(p []byte) (int, error) { return len(p), nil }
func (c *halfOpen) Close() error {
	c.closed = true
	return nil
}
