package tree

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// withSecret writes the secret of a job, for processes that dial.
func (j *jobFixture) withSecret() *jobFixture {
	j.t.Helper()
	require.NoError(j.t, os.WriteFile(filepath.Join(j.job, "secret"), []byte(hex.EncodeToString(testSecret)), 0o600))
	return j
}

// topOf returns a client and a top that takes streams.
func (j *jobFixture) topOf() *fixture {
	j.t.Helper()
	return connect(j.t, Options{Node: "login", Job: j.job, Streams: j.private})
}

// pair is both ends of a stream.
type pair struct{ process, rmctl net.Conn }

// dial opens a stream as a process does. It tries until a relay serves.
func (j *jobFixture) dial() net.Conn {
	j.t.Helper()
	ctx, cancel := context.WithTimeout(j.t.Context(), 30*time.Second)
	defer cancel()
	for {
		conn, err := dialStream(ctx, j.private, j.job)
		if err == nil {
			j.t.Cleanup(func() { _ = conn.Close() }) // it may be closed
			return conn
		}
		require.NoError(j.t, ctx.Err(), "%v", err)
		pause(ctx, 5*time.Millisecond)
	}
}

// streamOf returns both ends of a new stream.
func (f *fixture) streamOf(j *jobFixture) pair {
	f.accepting(j.t)
	p := pair{process: j.dial()}
	ctx, cancel := context.WithTimeout(j.t.Context(), 30*time.Second)
	defer cancel()
	var err error
	p.rmctl, err = f.AcceptStream(ctx)
	require.NoError(j.t, err)
	j.t.Cleanup(func() { _ = p.rmctl.Close() }) // it may be closed
	return p
}

// accepting fails the test if unexpected streams wait.
func (f *fixture) accepting(t testing.TB) {
	t.Helper()
	require.Nil(t, f.streams.next())
}

func requireText(t testing.TB, from io.Reader, text string) {
	t.Helper()
	found := make([]byte, len(text))
	_, err := io.ReadFull(from, found)
	require.NoError(t, err)
	require.Equal(t, text, string(found))
}

func send(t testing.TB, to io.Writer, text string) {
	t.Helper()
	n, err := io.WriteString(to, text)
	require.NoError(t, err)
	require.Equal(t, len(text), n)
}

func halfClose(t testing.TB, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.(interface{ CloseWrite() error }).CloseWrite())
}

func requireEnd(t testing.TB, from io.Reader) {
	t.Helper()
	rest, err := io.ReadAll(from)
	require.NoError(t, err)
	require.Empty(t, rest)
}

func TestBytesOfProcessesReachRmctl(t *testing.T) {
	j := newJob(t).withSecret()
	f := j.topOf()
	first, second := f.streamOf(j), f.streamOf(j)
	for _, each := range []pair{second, first, second} {
		send(t, each.process, "question")
		requireText(t, each.rmctl, "question")
		send(t, each.rmctl, "answer")
		requireText(t, each.process, "answer")
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MiB: eight windows
	for _, way := range []struct{ from, to net.Conn }{{first.process, first.rmctl}, {first.rmctl, first.process}} {
		sent := make(chan error, 1)
		go func() {
			_, err := way.from.Write(large)
			sent <- err
		}()
		found := make([]byte, len(large))
		_, err := io.ReadFull(way.to, found)
		require.NoError(t, err)
		require.NoError(t, <-sent)
		require.True(t, bytes.Equal(large, found))
	}
	parts, err := f.Ask(t.Context(), ask("same"))
	require.NoError(t, err, "questions still pass")
	require.Empty(t, parts)
}

func TestEndsOfStreamsReachTheOtherEnd(t *testing.T) {
	j := newJob(t).withSecret()
	f := j.topOf()
	t.Run("half of a process", func(t *testing.T) {
		p := f.streamOf(j)
		send(t, p.process, "last words")
		halfClose(t, p.process)
		requireText(t, p.rmctl, "last words")
		requireEnd(t, p.rmctl)
		send(t, p.rmctl, "still heard")
		requireText(t, p.process, "still heard")
		halfClose(t, p.rmctl)
		requireEnd(t, p.process)
	})
	t.Run("half of rmctl", func(t *testing.T) {
		p := f.streamOf(j)
		send(t, p.rmctl, "all")
		halfClose(t, p.rmctl)
		requireText(t, p.process, "all")
		requireEnd(t, p.process)
		send(t, p.process, "still heard")
		require.NoError(t, p.process.Close())
		requireText(t, p.rmctl, "still heard")
		requireEnd(t, p.rmctl)
	})
	t.Run("rmctl closes", func(t *testing.T) {
		p := f.streamOf(j)
		send(t, p.rmctl, "released")
		require.NoError(t, p.rmctl.Close())
		requireText(t, p.process, "released")
		requireEnd(t, p.process)
		_, err := p.rmctl.Read(make([]byte, 1))
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = p.rmctl.Write([]byte("x"))
		require.ErrorIs(t, err, net.ErrClosed)
		require.ErrorIs(t, p.rmctl.Close(), net.ErrClosed)
		require.Eventually(t, func() bool {
			_, err := p.process.Write([]byte("x"))
			return err != nil
		}, 10*time.Second, time.Millisecond, "writes to nobody succeed")
	})
	t.Run("a process closes", func(t *testing.T) {
		p := f.streamOf(j)
		require.NoError(t, p.process.Close())
		requireEnd(t, p.rmctl)
		require.Eventually(t, func() bool {
			_, err := p.rmctl.Write([]byte("x"))
			return err != nil
		}, 10*time.Second, time.Millisecond, "writes to nobody succeed")
	})
	require.Eventually(t, func() bool { return f.held() == 0 && countOf(f.relay.carrier) <= 1 }, 10*time.Second, time.Millisecond, "streams stay")
}

// held returns how many streams end at the client.
func (f *fixture) held() int { return countOf(f.top.carrier) }

func countOf(c *carrier) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.count
}

func TestStreamsEndWithTheirLinks(t *testing.T) {
	t.Run("the relay ends", func(t *testing.T) {
		j := newJob(t).withSecret()
		f := j.topOf()
		p := f.streamOf(j)
		f.relay.Close()
		requireEnd(t, p.process)
		_, err := p.rmctl.Read(make([]byte, 1))
		require.Error(t, err)
		require.False(t, errors.Is(err, io.EOF), "a loss looks like an end: %v", err)
		_, err = p.rmctl.Write([]byte("x"))
		require.Error(t, err)
		_, err = f.AcceptStream(t.Context())
		require.Error(t, err)
		_, err = dialStream(t.Context(), j.private, j.job)
		require.ErrorContains(t, err, "connecting to rmctl: relay on this host: ")
	})
	t.Run("rmctl ends", func(t *testing.T) {
		j := newJob(t).withSecret()
		f := j.topOf()
		var all []pair
		for _, at := range []*jobFixture{j, f.relayOf(j, "n1")} {
			for range 20 {
				all = append(all, f.streamOf(at))
			}
		}
		text := strings.Repeat("last words", 1000)
		for _, p := range all {
			send(t, p.rmctl, text)
			require.NoError(t, p.rmctl.Close())
		}
		require.NoError(t, f.Close())
		for _, p := range all {
			requireText(t, p.process, text)
			requireEnd(t, p.process)
		}
	})
}

func TestDeadlinesOfStreams(t *testing.T) {
	j := newJob(t).withSecret()
	p := j.topOf().streamOf(j)
	require.NoError(t, p.rmctl.SetDeadline(time.Now().Add(20*time.Millisecond)))
	_, err := p.rmctl.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	_, err = p.rmctl.Write(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, p.rmctl.SetDeadline(time.Time{}))
	send(t, p.rmctl, "goes on")
	requireText(t, p.process, "goes on")

	err = nil
	require.NoError(t, p.rmctl.SetWriteDeadline(time.Now().Add(50*time.Millisecond)))
	for err == nil { // the process reads nothing
		_, err = p.rmctl.Write(make([]byte, streamWindow))
	}
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}
