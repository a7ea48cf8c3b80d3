package mi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// EngineOptions are the options of an engine.
type EngineOptions struct {
	Path      string // of gdb, or a name in PATH; empty is gdb
	Rank      int    // value of $rank in expressions
	Directory string // where relative paths in commands begin; may be empty

	// Notify gets the notices in order, from one goroutine. It may call Do, but not Close.
	Notify func(debug.Notice)
}

// answerWithin bounds how long gdb may take for requests whose context has no deadline.
const answerWithin = 10 * time.Second

// A phase is the known state of the process.
type phase int

const (
	detached phase = iota
	attaching
	stopped
	running
	ended
)

// An Engine is a gdb that is attached to one process. Its methods may be called by several goroutines.
type Engine struct {
	*child
	options EngineOptions
	turn    chan struct{} // holds a value while a request runs
	done    chan struct{} // closed when gdb sends no more
	notices mailbox
	closing sync.Once

	mutex      sync.Mutex // for all below
	broken     error      // why gdb answers no more
	token      int
	waiting    map[int]func(result)
	printed    strings.Builder // text for people since the last result
	phase      phase
	halted     chan struct{} // closed when the process does not run
	pid        int
	owed       int    // SIGSTOPs that the engine has sent and gdb has not reported
	isHalting  bool   // the next stop by SIGSTOP was requested
	isQuiet    bool   // the next stop by SIGSTOP is the engine's own
	lastRun    string // the last command that ran the process
	runs       int    // how often the process has run
	last       debug.Notice
	stray      *debug.Notice // stop within a function that gdb calls
	isGone     bool          // gdb has let go of the process
	hits       map[int]bool  // numbers of breakpoints that were hit since the process runs
	placed     map[int]*placed
	references references // only for who holds the turn
}

// OpenEngine starts gdb. Call Close in the end.
func OpenEngine(ctx context.Context, options EngineOptions) (*Engine, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	further := []string{
		"-iex", "set mi-async on",
		"-iex", "set print elements 200",
		"-iex", "set max-value-size 65536",
		"-iex", "set unwindonsignal on",
		"-iex", "set $rank = " + strconv.Itoa(options.Rank),
		// SIGSTOP is how the engine stops a process, whichever signals that blocks. What ends a job passes.
		"-ex", "handle SIGSTOP stop print nopass",
		"-ex", "handle SIGCONT SIGINT SIGTERM nostop noprint pass",
	}
	started, err := start(options.Path, further...)
	if err != nil {
		return nil, err
	}
	engine := &Engine{
		child: started, options: options, turn: make(chan struct{}, 1), done: make(chan struct{}),
		waiting: map[int]func(result){}, halted: make(chan struct{}), placed: map[int]*placed{}, hits: map[int]bool{},
	}
	close(engine.halted)
	engine.notices.start(options.Notify)
	go engine.read()
	return engine, nil
}

// Attach attaches to a process, which is stopped then. A process that SIGSTOP had stopped runs when it continues, and when it is
// detached. gdb finds the executable by itself.
func (e *Engine) Attach(ctx context.Context, pid int, _ string) error {
	if pid <= 1 { // as the target of a signal, it is more than one process
		return fmt.Errorf("cannot attach to process %d", pid)
	}
	release, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	before, _ := guard.ReadStatus(pid)
	e.mutex.Lock()
	if e.phase != detached || e.broken != nil {
		e.mutex.Unlock()
		return errors.New("the debugger cannot attach twice")
	}
	e.phase, e.pid, e.halted = attaching, pid, make(chan struct{})
	e.mutex.Unlock()
	commands := []string{"-enable-pretty-printing"}
	if e.options.Directory != "" {
		commands = append(commands, "-environment-cd "+quoted(e.options.Directory))
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	results := e.call(ctx, append(commands, "-target-attach "+strconv.Itoa(pid))...)
	err = results[len(results)-1].err
	if err == nil {
		err = e.waitHalted(ctx)
	}
	if err != nil {
		e.mutex.Lock()
		if e.phase == attaching {
			e.phase = detached
		}
		e.mutex.Unlock()
		return err
	}
	if before.IsStopped() || before.State == 'R' {
		// Without this, a SIGSTOP of before stops the process again, both when it continues and when it is detached. It
		// is invisible while the process waits for a processor.
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	return nil
}

// Version returns the name and version of the debugger, as far as it says them: gdb 13.1.
func (e *Engine) Version() string {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	for line := range strings.Lines(e.call(ctx, "-gdb-version")[0].printed) {
		if words := strings.Fields(line); strings.HasPrefix(line, "GNU gdb ") {
			return clip("gdb " + words[len(words)-1]) // the others name the distribution
		}
	}
	return "gdb"
}

// handlers answer requests while the process is stopped, by verb.
func (e *Engine) handlers() map[debug.Verb]func(context.Context, debug.Request) debug.Answer {
	return map[debug.Verb]func(context.Context, debug.Request) debug.Answer{
		debug.Continue:  e.proceed,
		debug.Step:      e.step,
		debug.Threads:   e.threads,
		debug.Stack:     e.stack,
		debug.Variables: e.variables,
		debug.Evaluate:  e.evaluate,
		debug.Assign:    e.assign,
		debug.TypeOf:    e.typeOf,
		debug.Memory:    e.memory,
		debug.Raw:       e.raw,
	}
}

// Do answers a request. One runs at a time, others wait; only Halt and Kill do not.
func (e *Engine) Do(ctx context.Context, request debug.Request) debug.Answer {
	switch request.Verb {
	case debug.Halt:
		return e.halt(ctx)
	case debug.Kill:
		return e.kill(ctx)
	}
	release, err := e.acquire(ctx)
	if err != nil {
		return problemOf(err)
	}
	defer release()
	if text := invalid(request); text != "" {
		return debug.Answer{Problem: debug.Failed, Text: text}
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	switch request.Verb {
	case debug.SetBreakpoints:
		return e.whileStopped(ctx, func() debug.Answer { return e.setBreakpoints(ctx, request.Breakpoints) })
	case debug.Detach:
		return e.detach(ctx)
	}
	handler, exists := e.handlers()[request.Verb]
	if !exists {
		return debug.Answer{Problem: debug.Unsupported, Text: "gdb does not support " + string(request.Verb)}
	}
	if refusal := e.requireStopped(); refusal.Problem != "" {
		return refusal
	}
	return handler(ctx, request)
}

const (
	longestText    = 64 << 10
	mostTogether   = 1000 // frames, variables, threads and breakpoints in an answer
	longestValue   = 4 << 10
	mostReferences = 100_000
)

// invalid returns why a request is not for gdb, or nothing.
func invalid(request debug.Request) string {
	for _, text := range []string{request.Text, request.Value} {
		if len(text) > longestText {
			return "the text is too long"
		}
		if strings.ContainsAny(text, "\n\r\x00") {
			return "the text has more than one line"
		}
	}
	if request.Thread < 0 || request.Frame < 0 || request.Count < 0 || request.First < 0 || request.Reference < 0 {
		return "a number is negative"
	}
	if len(request.Breakpoints) > mostTogether {
		return "more than 1000 breakpoints"
	}
	return ""
}

// bounded bounds a request in time.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, hasDeadline := ctx.Deadline(); hasDeadline {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, answerWithin)
}

// acquire waits for the turn of a request.
func (e *Engine) acquire(ctx context.Context) (release func(), err error) {
	select {
	case e.turn <- struct{}{}:
		return func() { <-e.turn }, nil
	case <-ctx.Done():
		return nil, ErrHangs
	}
}

// requireStopped returns the problem of requests for a stopped process, if it is not.
func (e *Engine) requireStopped() debug.Answer {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	switch {
	case e.broken != nil:
		return problemOf(e.broken)
	case e.phase == running:
		return debug.Answer{Problem: debug.IsRunning, Text: "the process is running"}
	case e.phase != stopped:
		return debug.Answer{Problem: debug.NotRunning, Text: "there is no process"}
	}
	return debug.Answer{}
}

// problemOf returns the answer for an error.
func problemOf(err error) debug.Answer {
	if refused, isRefused := errors.AsType[CommandError](err); isRefused {
		return debug.Answer{Problem: debug.Failed, Text: clip(refused.Message)}
	}
	return debug.Answer{Problem: debug.Silent, Text: err.Error()}
}

// Close ends gdb. A process that it is attached to runs on.
func (e *Engine) Close() {
	e.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
		if release, err := e.acquire(ctx); err == nil {
			_ = e.detach(ctx)
			release()
		}
		cancel()
		e.mutex.Lock()
		isBroken := e.broken != nil
		e.mutex.Unlock()
		e.close(isBroken, func() { <-e.done })
		<-e.done
		e.notices.close()
	})
}
