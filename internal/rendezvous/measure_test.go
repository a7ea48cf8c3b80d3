package rendezvous_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// passOfProcesses names the pass of processes that a benchmark starts separately, to measure the memory and time
// of the server alone.
const passOfProcesses = "RMCTL_MEASURED_PASS"

func TestMain(m *testing.M) {
	if path := os.Getenv(passOfProcesses); path != "" {
		if err := runProcesses(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runProcesses runs all processes of a part until they are released, and prints how many were.
func runProcesses(path string) error {
	pass, err := rendezvous.ReadPass(path)
	if err != nil {
		return err
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(filepath.Dir(path), "s"))
	}
	var running sync.WaitGroup
	var released atomic.Int64
	for rank := range pass.Count {
		running.Go(func() {
			session, err := rendezvous.CheckIn(context.Background(), dial, pass, process(rank), rendezvous.Vote{})
			if err == nil {
				released.Add(1)
				_ = session.Close() // nothing more is to come
			}
		})
	}
	running.Wait()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return err
	}
	fmt.Println(released.Load(), time.Duration(used.Utime.Nano()+used.Stime.Nano()))
	return nil
}

// A crowd is a server that processes in another operating system process connect to.
type crowd struct {
	b        *testing.B
	folder   string
	key      *rendezvous.Key
	server   *rendezvous.Server
	listener net.Listener
	served   sync.WaitGroup
	written  atomic.Int64 // when the last frame was written
	accepted atomic.Int64 // connections
	first    atomic.Int64 // when the first process checked in
	command  *exec.Cmd    // the processes
	changed  chan struct{}
	count    int
}

func newCrowd(b *testing.B, count int) *crowd {
	b.Helper()
	folder, err := os.MkdirTemp("", "rmctl-")
	require.NoError(b, err)
	key, err := rendezvous.NewKey()
	require.NoError(b, err)
	c := &crowd{b: b, folder: folder, key: key, changed: make(chan struct{}, 1), count: count}
	b.Cleanup(func() {
		c.stop()
		require.NoError(b, os.RemoveAll(folder))
	})
	c.start()
	return c
}

func (c *crowd) start() {
	c.b.Helper()
	c.accepted.Store(0)
	c.first.Store(0)
	c.server = rendezvous.NewServer(c.key, "e", func(e rendezvous.ProcessEvent) {
		if e.Kind == rendezvous.CheckedIn {
			c.first.CompareAndSwap(0, time.Now().UnixNano())
		}
		if e.Complete {
			select {
			case c.changed <- struct{}{}:
			default:
			}
		}
	})
	c.server.Admit(part(1, c.count))
	listener, err := net.Listen("unix", filepath.Join(c.folder, "s"))
	require.NoError(c.b, err)
	c.listener = listener
	server := c.server
	queue := make(chan net.Conn, 2*c.count) // as relays accept connections, and pass them on
	c.served.Go(func() {
		defer close(queue)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.accepted.Add(1)
			queue <- timed{conn, &c.written}
		}
	})
	c.served.Go(func() {
		_ = server.Serve(context.Background(), func(context.Context) (net.Conn, error) {
			conn, isOpen := <-queue
			if !isOpen {
				return nil, net.ErrClosed
			}
			return conn, nil
		}, func(error) {})
	})
}

func (c *crowd) stop() {
	_ = c.listener.Close()
	c.server.Close()
}

// processes starts the processes, which print their result at the end. Those that are elsewhere use
// another core.
func (c *crowd) processes(areElsewhere bool) (wait func() (released int, used time.Duration)) {
	c.b.Helper()
	pass := (&place{key: c.key}).pass(1, c.count)
	text, err := pass.Encode()
	require.NoError(c.b, err)
	path := filepath.Join(c.folder, "pass")
	require.NoError(c.b, os.WriteFile(path, text, 0o600))
	command := exec.Command(os.Args[0])
	if areElsewhere {
		command = exec.Command("taskset", "-c", "1", os.Args[0])
	}
	c.command = command
	command.Env = append(os.Environ(), passOfProcesses+"="+path)
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, os.Stderr
	require.NoError(c.b, command.Start())
	return func() (int, time.Duration) {
		require.NoError(c.b, command.Wait())
		words := strings.Fields(printed.String())
		require.Len(c.b, words, 2)
		released, err := strconv.Atoi(words[0])
		require.NoError(c.b, err)
		used, err := time.ParseDuration(words[1])
		require.NoError(c.b, err)
		return released, used
	}
}

// release releases the processes, and returns how long it took until the last frame was written.
func (c *crowd) release() time.Duration {
	c.b.Helper()
	rosters, err := c.server.Freeze(c.b.Context(), []int{1})
	require.NoError(c.b, err)
	began := time.Now()
	c.server.Release(rosters)
	require.Eventually(c.b, func() bool { return c.received() }, time.Minute, time.Millisecond)
	return time.Unix(0, c.written.Load()).Sub(began)
}

// received reports whether nothing was written for a while.
func (c *crowd) received() bool {
	return time.Since(time.Unix(0, c.written.Load())) > 500*time.Millisecond
}

// timed notes when something was written.
type timed struct {
	net.Conn
	written *atomic.Int64
}

// Write implements [net.Conn].
func (t timed) Write(data []byte) (int, error) {
	n, err := t.Conn.Write(data)
	t.written.Store(time.Now().UnixNano())
	return n, err
}

// cpu returns the time that this process has used.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// used returns the time that the server and the processes have used.
func (c *crowd) used() (server, processes time.Duration) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.command.Process.Pid))
	require.NoError(c.b, err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
	for _, field := range fields[12:14] { // of the user and the system, in hundredths of a second
		ticks, err := strconv.Atoi(field)
		require.NoError(c.b, err)
		processes += time.Duration(ticks) * 10 * time.Millisecond
	}
	return cpu(c.b), processes
}

// resident returns the memory of this process.
func resident(b *testing.B) float64 {
	file, err := os.Open("/proc/self/status")
	require.NoError(b, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kilobytes float64
		if n, _ := fmt.Sscanf(lines.Text(), "VmRSS: %f kB", &kilobytes); n == 1 {
			return kilobytes / 1024
		}
	}
	return 0
}

// BenchmarkCrowd measures 10,000 processes that check in, wait, lose their co-allocator and are released. Those
// elsewhere have a core of their own, as on nodes: run them with taskset -c 0, which is the server's core.
func BenchmarkCrowd(b *testing.B) {
	b.Run("beside", func(b *testing.B) { measureCrowd(b, false) })
	b.Run("elsewhere", func(b *testing.B) { measureCrowd(b, true) })
}

func measureCrowd(b *testing.B, areElsewhere bool) {
	const count = 10_000
	for range b.N {
		before := resident(b)
		c := newCrowd(b, count)
		began, earlier := time.Now(), cpu(b)
		wait := c.processes(areElsewhere)
		<-c.changed
		server, processes := c.used()
		server -= earlier
		b.ReportMetric(time.Since(began).Seconds(), "s/all-checked-in")
		b.ReportMetric(count/server.Seconds(), "check-ins/s-of-server-cpu")
		b.ReportMetric(count/(server+processes).Seconds(), "check-ins/s-of-both-cpus")
		b.ReportMetric(resident(b)-before, "MiB-peak")
		runtime.GC() // the second one shrinks the stacks that the first one found large
		debug.FreeOSMemory()
		b.ReportMetric(resident(b)-before, "MiB-waiting")
		c.stop()
		serverBefore, processesBefore := c.used()
		began = time.Now()
		c.start()
		<-c.changed
		server, processes = c.used()
		b.ReportMetric(time.Unix(0, c.first.Load()).Sub(began).Seconds(), "s/first-back")
		b.ReportMetric(time.Since(began).Seconds(), "s/all-back")
		b.ReportMetric((server - serverBefore + processes - processesBefore).Seconds(), "cpu-s/all-back")
		b.ReportMetric(float64(c.accepted.Load())/count, "connections/back")
		b.ReportMetric(float64(c.release().Milliseconds()), "ms/last-release-written")
		released, _ := wait()
		require.Equal(b, count, released)
	}
}

func BenchmarkRelease(b *testing.B) {
	const count = 1000
	for range b.N {
		c := newCrowd(b, count)
		wait := c.processes(false)
		<-c.changed
		b.ReportMetric(float64(c.release().Microseconds())/1000, "ms/last-release-written")
		released, used := wait()
		require.Equal(b, count, released)
		b.ReportMetric(count/used.Seconds(), "check-ins/s-of-process-cpu")
	}
}

// BenchmarkReceivedRelease measures the time until 64 processes have read the release.
func BenchmarkReceivedRelease(b *testing.B) {
	p := newPlace(b)
	for serial := range b.N {
		p.server.Admit(part(serial, 64))
		var ended []<-chan outcome
		b.StopTimer()
		for rank := range 64 {
			ended = append(ended, p.checksIn(p.pass(serial, 64), process(rank)))
		}
		p.awaitsComplete(serial)
		rosters, err := p.server.Freeze(p.ctx, []int{serial})
		require.NoError(b, err)
		b.StartTimer()
		p.server.Release(rosters)
		var sessions []*rendezvous.Session
		for _, each := range ended {
			sessions = append(sessions, (<-each).session)
		}
		b.StopTimer()
		for _, session := range sessions {
			_ = session.Close() // nothing more is to come
		}
		b.StartTimer()
	}
}
