package tree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dialers plays many processes whose streams echo their input.
func (p part) dialers(ctx context.Context) int {
	var dialing sync.WaitGroup
	slots := make(chan struct{}, 32)
	for range p.Streams {
		slots <- struct{}{}
		dialing.Go(func() {
			defer func() { <-slots }()
			for ctx.Err() == nil {
				conn, err := dialStream(ctx, p.Private, p.Job)
				if err != nil {
					pause(ctx, 5*time.Millisecond)
					continue
				}
				go func() { _, _ = io.Copy(conn, conn) }() // it ends with this process
				return
			}
		})
	}
	dialing.Wait()
	fmt.Println("started")
	<-ctx.Done()
	return 0
}

// A farFixture is a client, and a top and dialers in processes of their own.
type farFixture struct {
	*Client
	streams []net.Conn
	top     *exec.Cmd
	idle    int // KiB of the top without streams
}

// start starts a part of a tree with pipes.
func (p part) start(t testing.TB) (*exec.Cmd, io.ReadWriteCloser) {
	t.Helper()
	launch := p.launch(t)
	command := exec.Command(launch.Words[0])
	command.Env = append(os.Environ(), played+"="+launch.Environment[played])
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()         // killed
	})
	return command, pipes{output, input}
}

// pipes are stdout and stdin of a process.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

// Close closes both.
func (p pipes) Close() error { return errors.Join(p.ReadCloser.Close(), p.WriteCloser.Close()) }

// farStreams returns a client with streams to other processes.
func farStreams(t testing.TB, count int) *farFixture {
	t.Helper()
	j := newJob(t).withSecret()
	top, stream := part{Play: "top", Node: "login", Place: "login", Job: j.job, Private: j.private}.start(t)
	client, err := Connect(t.Context(), stream, testSecret)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	f := &farFixture{Client: client, top: top}
	_, err = client.Members(t.Context())
	require.NoError(t, err)
	f.idle = resident(t, top.Process.Pid)
	_, output := part{Play: "dialers", Streams: count, Job: j.job, Private: j.private}.start(t)
	for range count {
		conn, err := client.AcceptStream(t.Context())
		require.NoError(t, err)
		f.streams = append(f.streams, conn)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	return f
}

// resident returns the memory of a process in KiB.
func resident(t testing.TB, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, behind, isFound := strings.Cut(string(text), "VmRSS:")
	require.True(t, isFound)
	value, err := strconv.Atoi(strings.Fields(behind)[0])
	require.NoError(t, err)
	return value
}

// BenchmarkIdleStreams reports the memory of streams at the top and at the client.
func BenchmarkIdleStreams(b *testing.B) {
	const count = 10000
	for b.Loop() {
		debug.FreeOSMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun := time.Now()
		f := farStreams(b, count)
		b.ReportMetric(float64(count)/time.Since(begun).Seconds(), "opened/s")
		debug.FreeOSMemory()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(f.idle)/1024, "MiB-idle-top")
		b.ReportMetric(float64(resident(b, f.top.Process.Pid)-f.idle)/count, "KiB/stream-top")
		b.ReportMetric(float64(after.Sys-after.HeapReleased-before.Sys+before.HeapReleased)/1024/count, "KiB/stream-client")
	}
}

// BenchmarkStreamRoundTrip is a message of 1 KiB to a process and back.
func BenchmarkStreamRoundTrip(b *testing.B) {
	f := farStreams(b, 1)
	message, answer := bytes.Repeat([]byte("x"), 1<<10), make([]byte, 1<<10)
	for b.Loop() {
		_, err := f.streams[0].Write(message)
		require.NoError(b, err)
		_, err = io.ReadFull(f.streams[0], answer)
		require.NoError(b, err)
	}
}

// BenchmarkStreamRoundTripBehindANode is the same through the relay of a node.
func BenchmarkStreamRoundTripBehindANode(b *testing.B) {
	j := newJob(b).withSecret()
	f := j.topOf()
	node := f.relayOf(j, "n1")
	part{Play: "dialers", Streams: 1, Job: j.job, Private: node.private}.start(b)
	conn, err := f.AcceptStream(b.Context())
	require.NoError(b, err)
	message, answer := bytes.Repeat([]byte("x"), 1<<10), make([]byte, 1<<10)
	for b.Loop() {
		_, err := conn.Write(message)
		require.NoError(b, err)
		_, err = io.ReadFull(conn, answer)
		require.NoError(b, err)
	}
}

// BenchmarkStreamMessages sends messages of 1 KiB to a process, which sends them back.
func BenchmarkStreamMessages(b *testing.B) {
	f := farStreams(b, 1)
	message := bytes.Repeat([]byte("x"), 1<<10)
	var writing sync.WaitGroup
	writing.Go(func() {
		for range b.N {
			_, _ = f.streams[0].Write(message) // the reader notices
		}
	})
	answer := make([]byte, 1<<10)
	for range b.N {
		_, err := io.ReadFull(f.streams[0], answer)
		require.NoError(b, err)
	}
	writing.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkReleaseOfStreams writes a message to each of 1,000 streams.
func BenchmarkReleaseOfStreams(b *testing.B) {
	f := farStreams(b, 1000)
	message, answer := bytes.Repeat([]byte("r"), 64), make([]byte, 64)
	var written, returned time.Duration
	rounds := 0
	for b.Loop() {
		begun := time.Now()
		for _, conn := range f.streams {
			_, err := conn.Write(message)
			require.NoError(b, err)
		}
		written += time.Since(begun)
		for _, conn := range f.streams {
			_, err := io.ReadFull(conn, answer)
			require.NoError(b, err)
		}
		returned += time.Since(begun)
		rounds++
	}
	b.ReportMetric(float64(written.Microseconds())/1000/float64(rounds), "ms-written")
	b.ReportMetric(float64(returned.Microseconds())/1000/float64(rounds), "ms-answered")
}
