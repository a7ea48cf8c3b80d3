package tree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/ranges"
)

// played names the variable that makes the test binary a part of a tree.
const played = "RMCTL_TREE_TEST"

// A part is a role of the test binary.
type part struct {
	Play    string // relay, track, top, dialers
	Node    string
	Ranks   string
	Place   string
	Job     string
	Private string
	Listen  string
	FanOut  int
	Streams int    // to open; each sends back what it reads
	Wrapper bool   // no variable names its rank
	Run     string // marks all processes of a run
}

func TestMain(m *testing.M) {
	if text := os.Getenv(played); text != "" {
		var p part
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			panic(err)
		}
		os.Exit(p.run())
	}
	os.Exit(m.Run())
}

var testSecret = []byte("0123456789abcdef0123456789abcdef")

func (p part) run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch p.Play {
	case "track":
		return p.track(ctx)
	case "dialers":
		return p.dialers(ctx)
	}
	relay := NewRelay(Options{Secret: testSecret, Node: p.Node, Place: p.Place, Local: newFakeLocal(p.Ranks), Job: p.Job, Attach: p.Private, FanOut: p.FanOut})
	if p.Play == "top" {
		relay = NewRelay(Options{Secret: testSecret, Node: p.Node, Place: p.Place, Job: p.Job, Streams: p.Private})
	}
	defer relay.Close()
	if p.Listen != "" {
		if err := relay.Listen(ctx, p.Listen); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	_ = relay.Serve(ctx, testStdio{})
	return 0
}

type testStdio struct{}

func (testStdio) Read(buffer []byte) (int, error) { return os.Stdin.Read(buffer) }
func (testStdio) Write(data []byte) (int, error)  { return os.Stdout.Write(data) }
func (testStdio) Close() error                    { return errors.Join(os.Stdin.Close(), os.Stdout.Close()) }

// words returns how a part is started: as a launch of a node.
func (p part) launch(t testing.TB) Launch {
	t.Helper()
	text, err := json.Marshal(p)
	require.NoError(t, err)
	program, err := os.Executable()
	require.NoError(t, err)
	return Launch{Node: p.Node, Words: []string{program}, Environment: map[string]string{played: string(text)}}
}

// A fakeLocal has processes that answer according to the kind of the question.
type fakeLocal struct {
	ranks ranges.Set
	extra []RankProcess
}

func newFakeLocal(text string) *fakeLocal {
	set, _ := ranges.Parse(text)
	return &fakeLocal{ranks: set}
}

// Processes implements [Local].
func (f *fakeLocal) Processes(context.Context) ([]RankProcess, error) {
	var found []RankProcess
	for _, each := range f.ranks {
		for rank := each.First; rank <= each.Last; rank++ {
			found = append(found, RankProcess{Rank: rank, Variable: "PMIX_RANK", PID: 1000 + rank})
		}
	}
	return append(found, f.extra...), nil
}

// counted is how many questions of kind count this process has answered.
var counted atomic.Int64

// Answer implements [Local].
func (f *fakeLocal) Answer(ctx context.Context, question Question, processes []RankProcess, give func(Part)) error {
	switch question.Kind {
	case "hang":
		<-ctx.Done()
		return ctx.Err()
	case "deaf":
		select {}
	case "fail":
		return errors.New("no debugger\x1b[2J\nhere")
	case "exit":
		os.Exit(3)
	}
	for _, process := range processes {
		single := ranges.Set{{First: process.Rank, Last: process.Rank}}
		switch question.Kind {
		case "count":
			give(Part{Ranks: single, Namespace: process.Namespace, Body: json.RawMessage(strconv.FormatInt(counted.Add(1), 10))})
		case "late":
			pause(ctx, time.Duration(rand.IntN(5))*time.Millisecond)
			give(Part{Ranks: single, Namespace: process.Namespace, Body: json.RawMessage(strconv.Itoa(process.Rank))})
		case "same":
			give(Part{Ranks: single, Namespace: process.Namespace, Body: json.RawMessage(`{"stack": "main <- MPI_Barrier"}`)})
		case "stacks":
			var classes int
			if err := json.Unmarshal(question.Body, &classes); err != nil {
				return err
			}
			give(Part{Ranks: single, Namespace: process.Namespace, Body: stackOf(process.Rank % classes)})
		case "classes":
			var classes int
			if err := json.Unmarshal(question.Body, &classes); err != nil {
				return err
			}
			give(Part{Ranks: single, Namespace: process.Namespace, Body: json.RawMessage(strconv.Itoa(process.Rank % classes))})
		case "rank":
			give(Part{Ranks: single, Namespace: process.Namespace, Body: json.RawMessage(strconv.Itoa(process.Rank))})
		case "wrong":
			give(Part{Ranks: ranges.Set{{First: process.Rank + 100000, Last: process.Rank + 100000}}, Body: json.RawMessage(`1`)})
		case "broken":
			give(Part{Ranks: single, Body: json.RawMessage(`{`)})
		case "long":
			give(Part{Ranks: single, Body: json.RawMessage(`"` + strings.Repeat("x", mostLineBytes) + `"`)})
		}
	}
	return nil
}

// A fixture is a client and the top of a tree, in this process.
type fixture struct {
	*Client
	relay  *Relay
	stream *countingStream
	served chan error
}

// A countingStream counts the bytes that the client reads.
type countingStream struct {
	io.ReadWriteCloser
	read atomic.Int64
}

func (s *countingStream) Read(buffer []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(buffer)
	s.read.Add(int64(n))
	return n, err
}

func connect(t testing.TB, options Options) *fixture {
	t.Helper()
	options.Secret = testSecret
	near, far := streamPair(t)
	f := &fixture{relay: NewRelay(options), stream: &countingStream{ReadWriteCloser: near}, served: make(chan error, 1)}
	go func() { f.served <- f.relay.Serve(context.Background(), far) }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	client, err := Connect(ctx, f.stream, testSecret)
	require.NoError(t, err)
	f.Client = client
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		<-f.served
		f.relay.Close()
	})
	return f
}

// launched starts relays of nodes with so many ranks each.
func (f *fixture) launched(t testing.TB, nodes, ranks int, how Launching) {
	t.Helper()
	problems, err := f.Launch(t.Context(), launchesOf(t, nodes, ranks), how)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func launchesOf(t testing.TB, nodes, ranks int) []Launch {
	t.Helper()
	var launches []Launch
	for node := range nodes {
		name := fmt.Sprintf("n%03d", node)
		p := part{Play: "relay", Node: name, Place: name, Ranks: ranges.Set{{First: node * ranks, Last: node*ranks + ranks - 1}}.String()}
		launches = append(launches, p.launch(t))
	}
	return launches
}

// streamPair returns both ends of a connection.
func streamPair(t testing.TB) (near, far io.ReadWriteCloser) {
	t.Helper()
	descriptors, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	require.NoError(t, err)
	return os.NewFile(uintptr(descriptors[0]), "near"), os.NewFile(uintptr(descriptors[1]), "far")
}

// runningIn returns the processes of process groups that have not ended.
func runningIn(t testing.TB, groups []int) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	var running []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		_, behind, isStat := strings.Cut(string(text), ") ")
		fields := strings.Fields(behind)
		if err != nil || !isStat || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		group, err := strconv.Atoi(fields[2])
		require.NoError(t, err)
		if slices.Contains(groups, group) {
			running = append(running, string(text))
		}
	}
	return running
}

func setOf(t testing.TB, text string) ranges.Set {
	t.Helper()
	set, isSet := ranges.Parse(text)
	require.True(t, isSet)
	return set
}

// track plays a tracked process, which runs until SIGTERM.
func (p part) track(ctx context.Context) int {
	rank, err := strconv.Atoi(p.Ranks)
	if err != nil {
		panic(err)
	}
	process := RankProcess{Rank: rank, Variable: "PMIX_RANK", PID: os.Getpid()}
	if p.Wrapper {
		process.Variable = ""
	}
	m := Join(context.Background(), JoinOptions{
		Job: p.Job, Private: p.Private, Node: p.Node, Secret: testSecret, place: p.Place,
		Local: func(registered func() []RankProcess) Local { return registeredLocal{registered} },
	}, process)
	fmt.Println("started")
	<-ctx.Done()
	m.Leave()
	return 0
}

// registeredLocal answers for registered processes.
type registeredLocal struct{ registered func() []RankProcess }

// Processes implements [Local].
func (l registeredLocal) Processes(context.Context) ([]RankProcess, error) {
	return l.registered(), nil
}

// Answer implements [Local].
func (l registeredLocal) Answer(ctx context.Context, question Question, processes []RankProcess, give func(Part)) error {
	return (&fakeLocal{}).Answer(ctx, question, processes, give)
}

// stackOf returns a stack of eight frames, like an answer of a debugger. The last line differs between
// classes.
func stackOf(class int) json.RawMessage {
	frames := ""
	for depth, function := range []string{"main", "run_time_steps", "advance", "solve_pressure", "multigrid_cycle", "exchange_halo", "MPI_Waitall"} {
		frames += fmt.Sprintf(`{"function":%q,"file":"/home/ada/solver/src/%s.c","line":%d},`, function, function, 100+depth)
	}
	return json.RawMessage(`{"threads":[{"name":"solver","frames":[` + frames + fmt.Sprintf(`{"function":"poll","file":"poll.c","line":%d}]}]}`, class))
}
