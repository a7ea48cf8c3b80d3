package remotetest_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
)

// newEchoServer sends back what it gets, until it gets no more.
func newEchoServer(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				_, _ = io.Copy(connection, connection) // tests cut it
				_ = connection.Close()
			})
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		serving.Wait()
	})
	return listener.Addr().String()
}

// stream is what both wrappers offer.
type stream interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// faultyLines makes lines to an echo server, each with what stalls, resumes and
// cuts it.
func faultyLines(t *testing.T, faults remotetest.Faults) map[string]func(t *testing.T) (line stream, stall, resume, cut func()) {
	address := newEchoServer(t)
	dial := func(t *testing.T, address string) *net.TCPConn {
		t.Helper()
		connection, err := net.Dial("tcp", address)
		require.NoError(t, err)
		require.NoError(t, connection.SetDeadline(time.Now().Add(20*time.Second)))
		return connection.(*net.TCPConn)
	}
	return map[string]func(t *testing.T) (stream, func(), func(), func()){
		"Proxy": func(t *testing.T) (stream, func(), func(), func()) {
			proxy := remotetest.NewProxy(t, address, faults)
			return dial(t, proxy.Address()), proxy.Stall, proxy.Resume, proxy.Cut
		},
		"Faulty": func(t *testing.T) (stream, func(), func(), func()) {
			faulty := remotetest.NewFaulty(dial(t, address), faults)
			return faulty, faulty.Stall, faulty.Resume, faulty.Cut
		},
	}
}

// forEachLine runs a test with each kind of line.
func forEachLine(t *testing.T, faults remotetest.Faults, test func(t *testing.T, line stream, stall, resume, cut func())) {
	for name, open := range faultyLines(t, faults) {
		t.Run(name, func(t *testing.T) {
			remotetest.GoroutinesEnd(t, func() {
				t.Run("", func(t *testing.T) {
					line, stall, resume, cut := open(t)
					test(t, line, stall, resume, cut)
					if err := line.Close(); !errors.Is(err, net.ErrClosed) {
						require.NoError(t, err)
					}
				})
			})
		})
	}
}

// echo sends data and returns what comes back until the end.
func echo(line stream, data []byte) ([]byte, error) {
	var sending sync.WaitGroup
	var sendErr error
	sending.Go(func() {
		if _, sendErr = line.Write(data); sendErr == nil {
			sendErr = line.CloseWrite()
		}
	})
	received, err := io.ReadAll(line)
	sending.Wait()
	return received, errors.Join(err, sendErr)
}

func randomData(size int) []byte {
	data := make([]byte, size)
	source := rand.NewChaCha8([32]byte{7})
	_, _ = source.Read(data) // never fails
	return data
}

func TestFaultsKeepTheBytes(t *testing.T) {
	for name, faults := range map[string]remotetest.Faults{
		"none":   {},
		"delay":  {Delay: 5 * time.Millisecond},
		"jitter": {Jitter: 5 * time.Millisecond, Seed: 3},
		"chunks": {ChunkSize: 7, Seed: 4},
		"all":    {Delay: time.Millisecond, Jitter: 2 * time.Millisecond, ChunkSize: 1000, Seed: 5},
	} {
		t.Run(name, func(t *testing.T) {
			forEachLine(t, faults, func(t *testing.T, line stream, _, _, _ func()) {
				data := randomData(100_000)
				received, err := echo(line, data)
				require.NoError(t, err)
				require.True(t, bytes.Equal(data, received))
			})
		})
	}
}

func TestDelaysLastAsLongAsSaid(t *testing.T) {
	const delay = 30 * time.Millisecond
	forEachLine(t, remotetest.Faults{Delay: delay}, func(t *testing.T, line stream, _, _, _ func()) {
		began := time.Now()
		_, err := line.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(line, make([]byte, 1))
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(began), 2*delay, "to and fro")
	})
}

func TestChunksArriveOneByOne(t *testing.T) {
	near, far := net.Pipe()
	faulty := remotetest.NewFaulty(far, remotetest.Faults{ChunkSize: 3})
	written := make(chan error, 1)
	go func() {
		_, err := faulty.Write(bytes.Repeat([]byte("x"), 30))
		written <- err
	}()
	buffer := make([]byte, 30)
	for received := 0; received < 30; {
		count, err := near.Read(buffer)
		require.NoError(t, err)
		require.LessOrEqual(t, count, 3)
		received += count
	}
	require.NoError(t, <-written)
	require.NoError(t, faulty.Close())
}

func TestALineIsCutAfterSoManyBytes(t *testing.T) {
	forEachLine(t, remotetest.Faults{CutAfterBytes: 150_000}, func(t *testing.T, line stream, _, _, _ func()) {
		received, err := echo(line, randomData(100_000))
		require.Less(t, len(received), 100_000)
		if err == nil {
			_, err = line.Write([]byte("x"))
		}
		require.Error(t, err)
	})
}

func TestALineThatIsStalledPassesNothingUntilItIsResumed(t *testing.T) {
	forEachLine(t, remotetest.Faults{StallAfterBytes: 4}, func(t *testing.T, line stream, stall, resume, _ func()) {
		_, err := line.Write([]byte("ab"))
		require.NoError(t, err)
		both := make([]byte, 2)
		_, err = io.ReadFull(line, both)
		require.NoError(t, err)
		require.Equal(t, "ab", string(both))

		requireNothing := func(expected string) {
			arrived := make(chan string, 1)
			go func() {
				buffer := make([]byte, len(expected))
				if _, err := io.ReadFull(line, buffer); err != nil {
					buffer = []byte(err.Error())
				}
				arrived <- string(buffer)
			}()
			quiet := time.NewTimer(30 * time.Millisecond)
			defer quiet.Stop()
			select {
			case text := <-arrived:
				require.FailNow(t, "something passed", text)
			case <-quiet.C:
			}
			resume()
			require.Equal(t, expected, <-arrived)
		}
		_, err = line.Write([]byte("cd"))
		require.NoError(t, err)
		requireNothing("cd")
		stall()
		_, err = line.Write([]byte("ef"))
		require.NoError(t, err)
		requireNothing("ef")
	})
}

func TestACutIsSeenAtBothEnds(t *testing.T) {
	forEachLine(t, remotetest.Faults{Delay: time.Millisecond}, func(t *testing.T, line stream, stall, _, cut func()) {
		_, err := line.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(line, make([]byte, 1))
		require.NoError(t, err)
		stall() // a line that lets nothing pass can be cut as well
		_, err = line.Write([]byte("never arrives"))
		require.NoError(t, err)
		cut()
		_, err = io.ReadFull(line, make([]byte, 1))
		require.Error(t, err)
	})
}

func TestWhatWasSentBeforeTheEndArrivesThoughTheOtherEndTakesNothingMore(t *testing.T) {
	near, far := net.Pipe()
	faulty := remotetest.NewFaulty(far, remotetest.Faults{Delay: 10 * time.Millisecond})
	_, err := near.Write([]byte("farewell"))
	require.NoError(t, err)
	require.NoError(t, near.Close())
	_, err = faulty.Write([]byte("too late"))
	require.NoError(t, err)
	received, err := io.ReadAll(faulty)
	require.NoError(t, err)
	require.Equal(t, "farewell", string(received))
	require.NoError(t, faulty.Close())
}

func TestAProxyServesFurtherConnectionsUnlessItIsToRefuseThem(t *testing.T) {
	proxy := remotetest.NewProxy(t, newEchoServer(t), remotetest.Faults{})
	for range 3 {
		connection, err := net.Dial("tcp", proxy.Address())
		require.NoError(t, err)
		received, err := echo(connection.(*net.TCPConn), []byte("x"))
		require.NoError(t, err)
		require.Equal(t, "x", string(received))
		require.NoError(t, connection.Close())
		proxy.Cut()
	}
	require.Equal(t, 3, proxy.Connections())
	proxy.Refuse()
	_, err := net.Dial("tcp", proxy.Address())
	require.Error(t, err)
}

func TestTheSameSeedIsTheSameRandom(t *testing.T) {
	sizes := func(seed uint64) (sizes []int) {
		near, far := net.Pipe()
		faulty := remotetest.NewFaulty(far, remotetest.Faults{ChunkSize: 100, Seed: seed})
		_, err := faulty.Write(make([]byte, 1000))
		require.NoError(t, err)
		buffer := make([]byte, 1000)
		for left := 1000; left > 0; {
			count, err := near.Read(buffer)
			require.NoError(t, err)
			sizes = append(sizes, count)
			left -= count
		}
		require.NoError(t, faulty.Close())
		return sizes
	}
	require.Equal(t, sizes(1), sizes(1))
	require.NotEqual(t, sizes(1), sizes(2))
}
