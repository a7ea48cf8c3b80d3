package server

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// Options configure a server. Either Program or PID selects what to debug.
type Options struct {
	Rank, Size  int // Size is 0 if it is unknown
	Host        string
	Program     *debug.Program // to start
	Environment []string       // of the program
	PID         int            // to attach to
	Start       uint64         // of that process, in ticks since boot; 0 if unknown

	Debugger string       // its name
	Able     []debug.Verb // verbs that not every debugger has
	Open     Open
	Guard    []string // command that calls [guard.Serve]
	// Permit is the command that permits debuggers to attach to it, and becomes the program whose path and
	// arguments follow. It is used where the kernel restricts debuggers to descendants.
	Permit []string
	// Find returns the path of a program.
	Find func(name string) (string, error)

	WhenLeft string        // Release or End
	Linger   time.Duration // for an orderly end after the client has left; 0: 30 s

	Output, Errors *os.File // where the output of the program goes, too
	Quiet          bool     // it goes there only once the client has left
	Signals        <-chan os.Signal

	scope   string // file with the kernel's restriction; empty for that of the system
	isQuiet func() bool
}

func (o Options) scopeFile() string {
	if o.scope != "" {
		return o.scope
	}
	return scopeFile
}

// An Ending is how the program ended; this process must end in the same way.
type Ending struct {
	Code   int
	Signal syscall.Signal // that ended it, or 0
}

const (
	mostRequests = 256 // that wait
	mostUrgent   = 16  // Halt and Kill that wait
	mostNotices  = 1024
	// flushWithin bounds how long the end waits for a client that does not read.
	flushWithin = 5 * time.Second
	// answerWithin bounds how long the end waits for the answer to what caused it.
	answerWithin = time.Second
)

// A server serves one rank.
type server struct {
	Options
	out       *outbox
	guard     *guard.Guard
	engine    Engine
	openError error  // why there is no engine
	debugger  uint64 // start of the debugger's process
	sources   sources

	requests  chan numbered
	urgent    chan numbered
	notices   chan debug.Notice
	doing     chan struct{} // holds something while the engine does an ordinary request
	control   sync.Mutex    // held while the process continues without the client's knowledge, and by Halt
	releasing sync.Mutex    // held while the process is released
	tasks     sync.WaitGroup

	requestsContext context.Context // of requests; it ends when the client has left
	cancelRequests  context.CancelFunc
	left            chan struct{} // closed when the client has left
	worked          chan struct{} // closed when no request is served any more
	finished        chan struct{} // closed when nothing is left to do
	over            chan struct{} // closed when notices do not count any more
	closed          chan struct{} // closed when those of the debugger do not count any more
	finishOnce      sync.Once
	ending          Ending
	endError        error

	state
}

// Serve debugs a rank for the client at the other end of a connection, until the program that it started has ended,
// or the process that it attached to was released. It returns how the program ended.
func Serve(ctx context.Context, conn io.ReadWriteCloser, options Options) (Ending, error) {
	if options.Linger == 0 {
		options.Linger = usualLinger
	}
	s := &server{
		Options: options, out: newOutbox(conn, options.Linger),
		requests: make(chan numbered, mostRequests), urgent: make(chan numbered, mostUrgent), notices: make(chan debug.Notice, mostNotices),
		doing: make(chan struct{}, 1), left: make(chan struct{}), worked: make(chan struct{}), finished: make(chan struct{}), over: make(chan struct{}), closed: make(chan struct{}),
		state: newState(),
	}
	s.isQuiet = func() bool { return s.Quiet && s.hasClient() }
	s.requestsContext, s.cancelRequests = context.WithCancel(context.WithoutCancel(ctx))
	defer s.cancelRequests()
	started, err := guard.Start(ctx, options.Guard)
	if err != nil {
		_ = conn.Close() // nothing was sent
		return Ending{Code: 1}, err
	}
	s.guard = started
	defer s.guard.Close()
	defer s.tasks.Wait()
	s.open(ctx)
	defer s.closeEngine()
	defer close(s.over)
	s.out.send(s.hello())
	s.tasks.Go(s.out.write)
	s.tasks.Go(func() { s.read(conn) })
	s.tasks.Go(s.work)
	s.tasks.Go(s.workUrgently)
	s.tasks.Go(s.follow)
	s.tasks.Go(s.watchDebugger)
	s.await(ctx)
	s.hangUp(conn)
	return s.ending, s.endError
}

// open starts the debugger, and lets the guard know it.
func (s *server) open(ctx context.Context) {
	engine, err := s.Open(ctx, s.notify)
	if err != nil {
		s.openError = err
		return
	}
	if err := s.guard.AddDebugger(engine.PID()); err != nil {
		engine.Close()
		s.openError = err
		return
	}
	status, _ := guard.ReadStatus(engine.PID())
	s.engine, s.debugger = engine, status.Start
}

// hasClient reports whether the client is there.
func (s *server) hasClient() bool {
	select {
	case <-s.left:
		return false
	default:
		return true
	}
}

func (s *server) hello() debug.Notice {
	hello := debug.Hello{
		Version: debug.ProtocolVersion, Rank: s.Rank, Size: s.Size, Host: s.Host, PID: s.PID, Debugger: s.Debugger, Able: s.Able,
	}
	if known, isVersioned := s.engine.(versioned); isVersioned {
		hello.Debugger = known.Version()
	}
	switch {
	case s.PID > 0:
		path := executableOf(s.PID)
		hello.Build, hello.Program = buildOf(path), []string{path}
	case s.Program != nil:
		hello.Program = s.Program.Arguments
		if p, err := s.planOf(*s.Program); err == nil {
			hello.Build = buildOf(p.path)
		}
	}
	return debug.Notice{Report: debug.ReportHello, Hello: &hello}
}

// await waits until nothing is left to do, and handles outside events meanwhile.
func (s *server) await(ctx context.Context) {
	left, canceled := s.left, ctx.Done()
	for {
		select {
		case <-s.finished:
			return
		case <-left:
			left, canceled = nil, nil
			s.tasks.Go(s.leave)
		case <-canceled:
			left, canceled = nil, nil
			s.tasks.Go(s.leave)
		case each := <-s.Signals:
			if number, isNumber := each.(syscall.Signal); isNumber {
				s.tasks.Go(func() { s.signal(number) })
			}
		}
	}
}

// finish makes Serve return, with the first ending.
func (s *server) finish(ending Ending, err error) {
	s.finishOnce.Do(func() {
		s.ending, s.endError = ending, err
		close(s.finished)
	})
}

// hangUp sends the rest, and ends the connection.
func (s *server) hangUp(conn io.Closer) {
	ctx, cancel := context.WithTimeout(s.requestsContext, answerWithin)
	s.awaits(ctx, func() bool { return !s.isServing && !s.isUrgent })
	cancel()
	s.cancelRequests()
	s.out.end(min(s.Linger, flushWithin))
	_ = conn.Close() // everything was sent, or nobody takes it
}

// closeEngine ends the debugger. It may be called several times.
func (s *server) closeEngine() {
	s.mutex.Lock()
	engine, isClosed := s.engine, s.isClosed
	s.isClosed = true
	s.mutex.Unlock()
	if engine == nil || isClosed {
		return
	}
	close(s.closed)
	pid := engine.PID()
	engine.Close()
	s.guard.RemoveDebugger(pid)
}

// errNotStarted is why a program did not run.
var errNotStarted = errors.New("the debugger's client left before the program was started")
