package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// A session is one channel behind which a shell of ours runs commands, one after
// the other.
type session struct {
	channel        Channel
	pool           *pool
	stdout, stderr *stream
	writing        sync.Mutex    // held while something is written to the shell
	over           chan struct{} // closed when the shell says no more
	closing        sync.Once
	givenUp        atomic.Bool // it was closed, maybe before it had ended
	reading        bool        // what the channel says is being read
	pooled         bool        // its shell was ready before
	lent           bool        // it runs a command, beside which it takes more; guarded by the mutex of the pool
	terminal       bool        // its shell waits to be hung up on when its command has ended
	asides         asides
}

// A task is what a session does at the moment: a command, or getting ready.
type task struct {
	marker  marker
	ready   chan struct{}    // closed when the shell is ready, which it says in its first task
	started chan startReport // gets one
	exited  chan int         // gets the code
	flushed chan struct{}    // closed when all that the program itself wrote has come
	ended   chan struct{}    // closed when all output has come
	behind  atomic.Int32     // streams in which the end of the program has not come
	open    atomic.Int32     // streams whose end has not come
	isReady sync.Once
}

// A startReport says what became of the program.
type startReport struct {
	process, parent int    // ids at the place
	failure         string // not empty if it was not started
}

// stream is one of the two output streams of a session.
type stream struct {
	frames *frames
	noise  *noise
	asides *asides
	moved  atomic.Int64    // when something last happened, in nanoseconds since 1970
	busy   atomic.Bool     // a writer is at work
	over   chan<- struct{} // closed when there is no more to read; nil if nobody is to know
	length atomic.Int64    // bytes written to sinks, since the beginning

	mutex    sync.Mutex // held while sink is written to
	task     *task      // nil for none
	sink     io.Writer  // nil to discard
	muted    bool       // until the shell is ready, what comes is noise
	flushed  bool       // the program has ended
	failure  error      // of the sink
	current  marker
	finished bool // there is no more to read
}

// newSession returns a session whose channel is read from when its first task begins,
// as what a channel says before that could not be distinguished from noise.
func newSession(p *pool, opened Channel) *session {
	heard := newNoise()
	s := &session{
		channel: opened, pool: p, over: make(chan struct{}),
		stdout: &stream{frames: newFrames(opened.Stdout()), noise: heard},
		stderr: &stream{frames: newFrames(opened.Stderr()), noise: heard},
	}
	s.stdout.asides, s.stderr.asides = &s.asides, &s.asides
	s.stdout.over = s.over
	return s
}

func (s *session) read() {
	s.reading = true
	s.pool.crew.run(s.stdout.read)
	s.pool.crew.run(s.stderr.read)
}

// begin makes a task the current one. Before the shell said that it is ready,
// everything else that comes is noise.
func (s *session) begin(m marker, stdout, stderr io.Writer, muted bool, streams int32) *task {
	t := &task{
		marker: m, ready: make(chan struct{}), started: make(chan startReport, 1),
		exited: make(chan int, 1), flushed: make(chan struct{}), ended: make(chan struct{}),
	}
	t.behind.Store(streams)
	t.open.Store(streams)
	s.stdout.begin(t, stdout, muted)
	if streams > 1 {
		s.stderr.begin(t, stderr, muted)
	}
	if !s.reading {
		s.read()
	}
	return t
}

func (r *stream) begin(t *task, sink io.Writer, muted bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.task, r.sink, r.muted, r.flushed, r.failure, r.current = t, sink, muted, false, nil, t.marker
	r.moved.Store(time.Now().UnixNano())
	if r.finished {
		r.end()
	}
}

// detach lets what still comes of the task be noise, and returns what went wrong
// with the writers. It waits for a writer that is at work.
func (s *session) detach() (stdout, stderr error) {
	return s.stdout.detach(), s.stderr.detach()
}

func (r *stream) detach() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.task, r.sink, r.muted = nil, nil, true
	return r.failure
}

func (r *stream) read() {
	for {
		data, record, err := r.frames.next(r.marker)
		r.moved.Store(time.Now().UnixNano())
		if err != nil {
			r.finish()
			return
		}
		if data != nil {
			r.deliver(data)
		} else {
			r.take(record)
		}
	}
}

func (r *stream) marker() []byte {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.current
}

// deliver hands data on. A writer that fails is not written to again, but the
// stream is read on, or the program would be killed by writing to nobody.
func (r *stream) deliver(data []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.task == nil || r.muted {
		r.noise.add(data)
		return
	}
	r.length.Add(int64(len(data)))
	if r.sink == nil || r.failure != nil {
		return
	}
	r.busy.Store(true)
	_, r.failure = r.sink.Write(data)
	r.busy.Store(false)
	r.moved.Store(time.Now().UnixNano())
}

// take acts on a record of the shell.
func (r *stream) take(record string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	kind, detail, _ := strings.Cut(record, " ")
	if kind == "answer" {
		r.asides.answered(detail)
		return
	}
	if r.task == nil {
		return
	}
	switch kind {
	case "tty", "ready":
		r.muted = kind == "tty"
		r.task.isReady.Do(func() { close(r.task.ready) })
	case "started":
		process, parent, _ := strings.Cut(detail, " ")
		report := startReport{}
		var processErr, parentErr error
		report.process, processErr = strconv.Atoi(process)
		report.parent, parentErr = strconv.Atoi(parent)
		if processErr != nil || parentErr != nil || report.process <= 1 {
			report = startReport{} // it runs, but cannot be signalled
		}
		execution.Offer(r.task.started, report)
	case "failed":
		execution.Offer(r.task.started, startReport{failure: detail})
	case "exit":
		r.exit(detail)
	case "over": // exit and end in one: on a terminal one of two may be lost
		r.exit(detail)
		r.end()
	case "flushed":
		r.flush()
	case "end":
		r.end()
	}
}

// exit takes the code of the program, with which comes all that it wrote.
func (r *stream) exit(detail string) {
	code, err := strconv.Atoi(detail)
	if err != nil {
		return
	}
	if code > 256 { // as ksh reports signals
		code -= 128
	}
	execution.Offer(r.task.exited, code)
	r.flush()
}

// flush notes that all that the program itself wrote to the stream has come.
func (r *stream) flush() {
	if r.flushed {
		return
	}
	r.flushed = true
	if r.task.behind.Add(-1) == 0 {
		close(r.task.flushed)
	}
}

// end notes that the task's part of the stream is over.
func (r *stream) end() {
	r.flush()
	if r.task.open.Add(-1) == 0 {
		close(r.task.ended)
	}
	r.task = nil
}

func (r *stream) finish() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.finished = true
	// Who hears of the end of the task must not take the shell for one that lives.
	if r.over != nil {
		close(r.over)
	}
	if r.task != nil {
		r.end()
	}
}

// send writes a line to the shell. A context that is done ends the channel.
// Unless the line was sent as a whole, the shell does not run it.
func (s *session) send(ctx context.Context, line string) (whole bool, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	text := line + "\n"
	count, err := io.WriteString(s.channel.Stdin(), text)
	if err != nil {
		return count == len(text), fmt.Errorf("sending a command: %w", errors.Join(err, ctx.Err()))
	}
	return true, nil
}

// close ends the channel. What runs behind it is not ended.
func (s *session) close() {
	s.closing.Do(func() {
		s.givenUp.Store(s.alive())
		// What a channel says while it is given up changes nothing.
		_ = s.channel.Close()
	})
}

// alive reports whether the shell can be talked to, as far as is known.
func (s *session) alive() bool { return !execution.IsClosed(s.over) }

var errShellEnded = errors.New("its shell ended")

// lost returns why the shell says no more.
func (s *session) lost() error {
	code, err := s.pool.ending(s.channel, s.givenUp.Load())
	if connect, isLost := errors.AsType[*remote.ConnectError](err); isLost {
		return connect
	}
	if err == nil {
		err = fmt.Errorf("%w with code %d", errShellEnded, code)
	}
	return &remote.ConnectError{Host: s.pool.settings.Host, Reason: remote.Disconnected, Err: err}
}

// quiet returns how long nothing has come, zero while a writer is at work.
func (s *session) quiet(now time.Time) time.Duration {
	if s.stdout.busy.Load() || s.stderr.busy.Load() {
		return 0
	}
	last := max(s.stdout.moved.Load(), s.stderr.moved.Load())
	return now.Sub(time.Unix(0, last))
}

// written returns the number of bytes that went to writers.
func (s *session) written() int64 {
	return s.stdout.length.Load() + s.stderr.length.Load()
}
