package tree

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProcessesWithoutTheSecretGetNoStream(t *testing.T) {
	t.Parallel()
	j := newJob(t).withSecret()
	f := j.topOf()
	require.NoError(t, f.relay.Listen(t.Context(), "127.0.0.1"))
	f.streamOf(j)
	require.NoError(t, os.WriteFile(filepath.Join(j.job, "secret"), []byte(hex.EncodeToString([]byte("another secret of the same length"))), 0o600))
	_, err := dialStream(t.Context(), j.private, j.job)
	require.ErrorIs(t, err, errSecret, "the process refuses the relay")
	socket, _ := streamFiles(j.private, j.job)
	for name, text := range map[string]string{
		"web":          "GET / HTTP/1.1\r\n\r\n",
		"a child":      `{"type":"hello","role":"child","nonce":"` + newNonce() + "\"}\n",
		"another role": `{"type":"hello","role":"x","nonce":"` + newNonce() + "\"}\n",
		"flood":        strings.Repeat("x", 1<<20),
		"no proof":     `{"type":"hello","role":"stream","nonce":"` + newNonce() + "\"}\n" + `{"type":"proof","proof":"00"}` + "\n",
		"frame":        "\x01\x00\x00\x00\x01\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("unix", socket)
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
			_, _ = io.WriteString(conn, text) // the relay hangs up
			answer, _ := io.ReadAll(conn)     // it may be reset
			require.NotContains(t, string(answer), kindOpened)
		})
	}
	require.Equal(t, 1, f.held())
}

func TestStrangersDoNotKeepProcessesOut(t *testing.T) {
	t.Parallel()
	j := newJob(t).withSecret()
	f := j.topOf()
	f.streamOf(j)
	socket, _ := streamFiles(j.private, j.job)
	for range mostStrangers {
		conn, err := net.Dial("unix", socket) // and says nothing
		require.NoError(t, err)
		defer conn.Close()
	}
	begun := time.Now()
	process, err := dialStream(t.Context(), j.private, j.job)
	require.NoError(t, err, "a process waits for its turn")
	defer process.Close()
	rmctl, err := f.AcceptStream(t.Context())
	require.NoError(t, err)
	requireExchange(t, pair{process, rmctl})
	require.Greater(t, time.Since(begun), strangerLimit/2, "there were more strangers than the bound")
}

func TestARelayHasABoundOfStreams(t *testing.T) {
	j := newJob(t).withSecret()
	f := j.topOf()
	f.streamOf(j)
	setCount := func(c *carrier, count int) {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.count = count
	}
	setCount(f.relay.carrier, mostStreams)
	_, err := dialStream(t.Context(), j.private, j.job)
	require.ErrorContains(t, err, "relay on this host: the relay has too many streams")
	setCount(f.relay.carrier, 1)
	setCount(f.top.carrier, mostStreams)
	conn := j.dial()
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	setCount(f.top.carrier, 1)
	requireExchange(t, f.streamOf(j))
}

// header is a frame without data, or the beginning of one.
func header(kind byte, stream, number uint32) string {
	text := binary.BigEndian.AppendUint32([]byte{kind}, stream)
	return string(binary.BigEndian.AppendUint32(text, number))
}

func TestRelaysThatViolateTheProtocolAreLeft(t *testing.T) {
	open := header(frameOpen, 1, 0)
	for name, text := range map[string]string{
		"a stream twice":       open + open,
		"streams backwards":    header(frameOpen, 2, 0) + open,
		"stream zero":          header(frameOpen, 0, 0),
		"a long frame":         open + header(frameData, 1, mostFrameBytes+1),
		"a long reason":        open + header(frameReset, 1, mostReasonBytes+1),
		"a wide window":        open + header(frameWindow, 1, streamWindow+1),
		"an end with a number": open + header(frameEnd, 1, 1),
		"half a frame":         open + header(frameData, 1, 5) + "abc",
	} {
		t.Run(name, func(t *testing.T) {
			near, far := streamPair(t)
			l := newLink(near)
			c := &carrier{isOpen: true, arrived: func(*stream) {}}
			l.carrier, l.isBelow = c, true
			_, err := io.WriteString(far, text)
			require.NoError(t, err)
			require.NoError(t, far.Close())
			_, err = l.receive()
			require.Error(t, err)
			require.False(t, IsEnd(err), "%v", err)
			require.Zero(t, countOf(c))
		})
	}
	t.Run("more than the window", func(t *testing.T) {
		near, _ := ends()
		var found *stream
		c := &carrier{isOpen: true, arrived: func(s *stream) { found = s }}
		near.carrier, near.isBelow = c, true
		require.NoError(t, c.handle(near, frame{kind: frameOpen, stream: 1}))
		for range streamWindow/mostFrameBytes + 1 {
			require.NoError(t, c.handle(near, frame{kind: frameData, stream: 1, data: make([]byte, mostFrameBytes)}))
		}
		_, err := io.Copy(io.Discard, found)
		require.EqualError(t, err, "the other end sent too much")
		require.Zero(t, countOf(c))
	})
	t.Run("a stream from above", func(t *testing.T) {
		near, _ := ends()
		c := &carrier{isOpen: true}
		require.EqualError(t, c.handle(near, frame{kind: frameOpen, stream: 1}), "unexpected stream")
	})
}

// A scripted is a stream of bytes to read, and takes all that is written.
type scripted struct{ io.Reader }

// Write implements [io.Writer].
func (scripted) Write(data []byte) (int, error) { return len(data), nil }

// Close implements [io.Closer].
func (scripted) Close() error { return nil }

func FuzzFrames(f *testing.F) {
	open := header(frameOpen, 1, 0)
	f.Add([]byte(open+header(frameData, 1, 3)+"abc"+header(frameEnd, 1, 0)), true)
	f.Add([]byte(open+header(frameReset, 1, 3)+"abc"+`{"type":"ping"}`+"\n"+header(frameWindow, 1, 9)), false)
	f.Add([]byte(open+header(frameOpen, 2, 0)+header(frameClose, 1, 0)), false)
	f.Fuzz(func(t *testing.T, text []byte, isClient bool) {
		l := newLink(scripted{strings.NewReader(string(text))})
		upper := newLink(scripted{strings.NewReader("")})
		c := &carrier{isOpen: true}
		if isClient {
			c.arrived = func(*stream) {}
		}
		l.carrier, upper.carrier, l.isBelow = c, c, true
		c.addUpper(upper)
		for l.isOpen() {
			_, _ = l.receive() // an error ends the link
		}
		require.Zero(t, c.count)
		require.Empty(t, l.halves)
		require.Empty(t, upper.halves)
		require.LessOrEqual(t, upper.outbox.bytes, 2*len(text)+frameHeader+mostReasonBytes*(len(text)/frameHeader+1))
	})
}
