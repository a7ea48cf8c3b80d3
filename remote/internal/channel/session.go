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
	over           chan struct{} // closed at the end of the output of the shell
	closing        sync.Once
	givenUp        atomic.Bool // it was closed before it had ended
	reading        bool        // the channel is being read
	pooled         bool        // its shell was ready before
	steady         bool        // it ends only when the pool ends it; guarded by the mutex of the pool
	lent           bool        // it takes calls during its command; guarded by the mutex of the pool
	terminal       bool        // its shell waits for a hangup when its command has ended
	asides         asides
}

// A task is the current work of a session: a command, or getting ready.
type task struct {
	ready   chan struct{}    // closed when the shell is ready, which it reports in its first task
	started chan startReport // gets one
	exited  chan int         // gets the code
	flushed chan struct{}    // closed when all that the program itself wrote has come
	ended   chan struct{}    // closed when all output has come
	behind  atomic.Int32     // streams in which the end of the program has not come
	open    atomic.Int32     // streams whose end has not come
	isReady sync.Once
}

// A startReport is the result of the start of a program.
type startReport struct {
	process, parent int    // ids on the host
	failure         string // not empty if it was not started
}

// stream is one of the two output streams of a session.
type stream struct {
	frames *frames
	noise  *noise
	asides *asides
	moved  atomic.Int64    // when something last happened, in nanoseconds since 1970
	busy   atomic.Bool     // a writer is at work
	over   chan<- struct{} // closed at the end; nil for the error stream
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

// newSession returns a session. It reads its channel from the first task on, because
// records before that could not be distinguished from noise.
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

// setTask starts a task. With muted, output before the shell is ready is noise.
func (s *session) setTask(m marker, stdout, stderr io.Writer, muted bool, streams int32) *task {
	t := &task{
		ready: make(chan struct{}), started: make(chan startReport, 1),
		exited: make(chan int, 1), flushed: make(chan struct{}), ended: make(chan struct{}),
	}
	t.behind.Store(streams)
	t.open.Store(streams)
	s.stdout.setTask(t, m, stdout, muted)
	if streams > 1 {
		s.stderr.setTask(t, m, stderr, muted)
	}
	if !s.reading {
		s.read()
	}
	return t
}

func (r *stream) setTask(t *task, m marker, sink io.Writer, muted bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.task, r.sink, r.muted, r.flushed, r.failure, r.current = t, sink, muted, false, nil, m
	r.moved.Store(time.Now().UnixNano())
	if r.finished {
		r.end()
	}
}

// detach ends the delivery of output, and returns the errors of the writers. It waits for
// a running Write.
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
			r.apply(record)
		}
	}
}

func (r *stream) marker() []byte {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.current
}

// deliver writes data to the sink. After a failure it reads on without writing, so that
// SIGPIPE does not kill the program.
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

// apply acts on a record of the shell.
func (r *stream) apply(record string) {
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

// exit reports the code of the program, which follows all its output.
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

// flush notes that the stream has all output of the program itself.
func (r *stream) flush() {
	if r.flushed {
		return
	}
	r.flushed = true
	if r.task.behind.Add(-1) == 0 {
		close(r.task.flushed)
	}
}

// end notes the end of the task's output.
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
	// A caller that sees the end of the task must not take the shell for a live one.
	if r.over != nil {
		close(r.over)
	}
	if r.task != nil {
		r.end()
	}
}

// send writes a line to the shell, which runs only a whole line. It closes the channel when
// ctx is done.
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
		// An error of closing a broken channel does not matter.
		_ = s.channel.Close()
	})
}

// alive reports whether the shell runs, as far as is known.
func (s *session) alive() bool { return !execution.IsClosed(s.over) }

var errShellEnded = errors.New("its shell ended")

// lost returns why the output of the shell has ended.
func (s *session) lost() *remote.ConnectError {
	code, err := s.pool.ending(s.channel, s.givenUp.Load())
	if connect, isLost := errors.AsType[*remote.ConnectError](err); isLost {
		return connect
	}
	if err == nil {
		err = fmt.Errorf("%w with code %d", errShellEnded, code)
	}
	return &remote.ConnectError{Host: s.pool.settings.Host, Reason: remote.Disconnected, Err: err}
}

// quiet returns the time since the last output, zero during a Write.
func (s *session) quiet(now time.Time) time.Duration {
	if s.stdout.busy.Load() || s.stderr.busy.Load() {
		return 0
	}
	last := max(s.stdout.moved.Load(), s.stderr.moved.Load())
	return now.Sub(time.Unix(0, last))
}

// written returns the number of bytes of output.
func (s *session) written() int64 {
	return s.stdout.length.Load() + s.stderr.length.Load()
}
