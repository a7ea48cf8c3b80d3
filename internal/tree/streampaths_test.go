package tree

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// on returns the job as processes of a node see it, with the sockets of that node.
func (j *jobFixture) on(node string) *jobFixture {
	j.t.Helper()
	here := *j
	here.private = filepath.Join(j.private, node)
	require.NoError(j.t, os.MkdirAll(here.private, 0o700))
	return &here
}

// relayOf has the top launch a relay with streams on a node.
func (f *fixture) relayOf(j *jobFixture, node string) *jobFixture {
	j.t.Helper()
	here := j.on(node)
	launch := part{Play: "top", Node: node, Place: node, Job: j.job, Private: here.private}.launch(j.t)
	problems, err := f.Launch(j.t.Context(), []Launch{launch}, Launching{})
	require.NoError(j.t, err)
	require.Empty(j.t, problems)
	return here
}

// relayProcess returns the process of the relay of a node.
func (f *fixture) relayProcess(t testing.TB, node string) *os.Process {
	t.Helper()
	f.relay.mutex.Lock()
	defer f.relay.mutex.Unlock()
	for c := range f.relay.children {
		if c.node == node {
			return c.process.command.Process
		}
	}
	require.Fail(t, "no relay on "+node)
	return nil
}

func requireExchange(t testing.TB, p pair) {
	t.Helper()
	send(t, p.process, "question")
	requireText(t, p.rmctl, "question")
	send(t, p.rmctl, "answer")
	requireText(t, p.process, "answer")
}

func TestStreamsOfNodesPassTheTop(t *testing.T) {
	j := newJob(t).withSecret()
	f := j.topOf()
	node := f.relayOf(j, "n1")
	far, near := f.streamOf(node), f.streamOf(j)
	requireExchange(t, far)
	requireExchange(t, near)

	require.NoError(t, f.relayProcess(t, "n1").Kill())
	_, err := far.rmctl.Read(make([]byte, 1))
	require.ErrorContains(t, err, "stream lost: ")
	_, err = far.process.Read(make([]byte, 1))
	require.Error(t, err)
	requireExchange(t, near)

	f.relayOf(j, "n1") // its socket replaces the stale one
	requireExchange(t, f.streamOf(node))
	require.Eventually(t, func() bool { return f.held() == countOf(f.relay.carrier) }, 10*time.Second, time.Millisecond)
}

func TestStreamsPassOverTheNetwork(t *testing.T) {
	j := newJob(t).withSecret()
	f := j.topOf()
	other := j.on("elsewhere")
	_, err := dialStream(t.Context(), other.private, j.job)
	require.ErrorContains(t, err, "no address of another one in "+j.job)
	require.NoError(t, f.relay.Listen(t.Context(), "127.0.0.1"))
	p := f.streamOf(other)
	require.Equal(t, "tcp", p.process.RemoteAddr().Network())
	requireExchange(t, p)
	halfClose(t, p.process)
	requireEnd(t, p.rmctl)
	send(t, p.rmctl, "last words")
	require.NoError(t, p.rmctl.Close())
	requireText(t, p.process, "last words")
	requireEnd(t, p.process)
}

func TestAnotherRelayOfTheDirectoryTakesOver(t *testing.T) {
	j := newJob(t).withSecret()
	first := j.topOf()
	requireExchange(t, first.streamOf(j))
	second := j.topOf()
	requireExchange(t, first.streamOf(j)) // the first serves
	require.NoError(t, first.Close())
	first.relay.Close()
	requireExchange(t, second.streamOf(j))
	socket, _ := streamFiles(j.private, j.job+"/.")
	info, err := os.Stat(socket)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	second.relay.Close()
	left, err := filepath.Glob(filepath.Join(j.private, "*.lock"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestARelayWithoutRmctlRefusesStreams(t *testing.T) {
	j := newJob(t).withSecret()
	relay := NewRelay(Options{Secret: testSecret, Node: "n1", Job: j.job, Streams: j.private})
	defer relay.Close()
	require.Eventually(t, func() bool {
		_, err := dialStream(t.Context(), j.private, j.job)
		return err != nil && bytes.Contains([]byte(err.Error()), []byte("relay on this host: the relay has no connection to rmctl"))
	}, 10*time.Second, time.Millisecond)

	f := connect(t, Options{Node: "login", Job: j.job}) // it takes no streams
	node := f.relayOf(j, "n1").on("own")
	launch := part{Play: "top", Node: "n2", Place: "n2", Job: j.job, Private: node.private}.launch(t)
	problems, err := f.Launch(t.Context(), []Launch{launch}, Launching{})
	require.NoError(t, err)
	require.Empty(t, problems)
	conn := node.dial()
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

// An unread stream holds up to a window of bytes at each end.
func TestAStreamThatNobodyReadsBlocksNoOther(t *testing.T) {
	j := newJob(t).withSecret()
	f := j.topOf()
	node := f.relayOf(j, "n1")
	large := make([]byte, 4<<20)
	for i := range large {
		large[i] = byte(i / 1000)
	}
	for name, at := range map[string]*jobFixture{"at the top": j, "behind a node": node} {
		t.Run(name, func(t *testing.T) {
			slow, other := f.streamOf(at), f.streamOf(at)
			for _, way := range []struct{ from, to net.Conn }{{slow.process, slow.rmctl}, {slow.rmctl, slow.process}} {
				var writing sync.WaitGroup
				var failed error
				writing.Go(func() { _, failed = way.from.Write(large) })
				for range 100 {
					requireExchange(t, other)
				}
				parts, err := f.Ask(t.Context(), ask("same"))
				require.NoError(t, err)
				require.Empty(t, parts)
				found := make([]byte, len(large))
				_, err = io.ReadFull(way.to, found)
				require.NoError(t, err)
				require.True(t, bytes.Equal(large, found))
				writing.Wait()
				require.NoError(t, failed)
			}
		})
	}
	f.top.carrier.mutex.Lock()
	defer f.top.carrier.mutex.Unlock()
	require.Len(t, f.top.halves, f.top.carrier.count)
}

// Data that waits for a link is bounded: the streams that send further data fail.
func TestALinkThatReadsTooSlowlyLosesStreamsNotMemory(t *testing.T) {
	t.Parallel()
	near, far := ends()
	below, _ := ends()
	c := &carrier{isOpen: true}
	near.carrier, below.carrier, below.isBelow = c, c, true
	c.addUpper(near)
	require.NoError(t, c.handle(below, frame{kind: frameOpen, stream: 1}))
	data := frame{kind: frameData, stream: 1, number: mostFrameBytes, data: make([]byte, mostFrameBytes)}
	for range mostPending/mostFrameBytes + 10 {
		require.NoError(t, c.handle(below, data)) // a child that heeds no window
	}
	require.LessOrEqual(t, near.outbox.bytes, mostPending+mostFrameBytes)
	require.Zero(t, countOf(c))
	require.True(t, near.isOpen())
	lost, err := parseHeader(below.outbox.take())
	require.NoError(t, err)
	require.Equal(t, frameReset, lost.kind)

	for id := uint32(2); near.isOpen(); id++ { // opened and never read
		require.NoError(t, c.handle(below, frame{kind: frameOpen, stream: id}))
		require.NoError(t, c.handle(below, frame{kind: frameReset, stream: id, number: mostReasonBytes, data: data.data[:mostReasonBytes]}))
	}
	require.ErrorIs(t, near.reason, errNotReading)
	require.True(t, errors.Is(c.handle(near, data), errGone))
	far.end(nil)
}
