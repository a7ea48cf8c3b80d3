package dap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

const (
	// attachWithin leaves time to read the symbols of large programs.
	attachWithin   = 60 * time.Second
	mostHappenings = 2048
)

// EngineOptions say which debugger an engine runs.
type EngineOptions struct {
	Kind   string             // lldb or dlv
	Path   string             // of the debugger, or its name in PATH; empty for the usual name
	Rank   int                // of the process
	Notify func(debug.Notice) // gets reports in order, from one goroutine; it may call Do
}

// A condition is the state of an engine.
type condition int

const (
	unattached condition = iota
	attaching
	stopped
	running
	over // the process has ended or runs without the debugger
)

// An Engine debugs one process with a debugger that speaks the Debug Adapter Protocol.
type Engine struct {
	options    EngineOptions
	dialect    dialect
	debugger   *debugger
	happenings chan happening
	closing    chan struct{}
	closed     sync.Once
	entered    chan struct{} // closed with the first stop
	initial    chan struct{} // closed when the debugger takes breakpoints
	observing  sync.WaitGroup
	stops      atomic.Int64 // how many were reported
	driving    sync.Mutex   // held while requests stop or continue the process
	placing    sync.Mutex   // for points, held while requests are sent
	points     points

	mutex       sync.Mutex
	condition   condition
	isHalting   bool          // by a request
	quiet       chan struct{} // closed with a stop for the engine's own use, see hold
	isHeld      bool          // stopped for the engine's own use
	isSignaled  bool          // by signalStop
	isKilled    bool
	isCommanded bool // by the console since the last stop
	isLeaving   bool
	steps       int    // that follow the current one
	step        string // the kind of the current one
	process     int
	start       uint64 // of the process, see guard.Status
	tracer      int    // process that traces it: the debugger or a child of that
	threads     numbering
	thread      int // of the debugger, that stopped last
	lastStop    debug.Notice
	signal      string // of the last stop
	values      values
}

// OpenEngine starts a debugger. Close ends it.
func OpenEngine(ctx context.Context, options EngineOptions) (*Engine, error) {
	spoken, err := dialectOf(options.Kind)
	if err != nil {
		return nil, err
	}
	engine := &Engine{options: options, dialect: spoken, happenings: make(chan happening, mostHappenings),
		closing: make(chan struct{}), entered: make(chan struct{}), initial: make(chan struct{})}
	engine.values.reset()
	engine.debugger, err = startDebugger(ctx, spoken, options.Path, engine.receive)
	if err != nil {
		return nil, err
	}
	engine.observing.Go(engine.work)
	if _, err := engine.debugger.call(ctx, "initialize", spoken.initialize()); err != nil {
		engine.Close()
		return nil, fmt.Errorf("could not start %s: %w", spoken.program(), err)
	}
	return engine, nil
}

// PID returns the process of the debugger, which leads a process group.
func (e *Engine) PID() int { return e.debugger.command.Process.Pid }

// Version returns the name and the version of the debugger.
func (e *Engine) Version() string {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	return e.dialect.version(ctx, e)
}

// Attach attaches to a process and leaves it stopped. The process may run, or be stopped by SIGSTOP,
// also at its first instruction; then it does not stay stopped by that signal.
func (e *Engine) Attach(ctx context.Context, pid int, _ string) error {
	before, exists := guard.ReadStatus(pid)
	if !exists || before.HasEnded() {
		return fmt.Errorf("could not attach to process %d: it has ended", pid)
	}
	e.mutex.Lock()
	e.condition, e.process, e.start = attaching, pid, before.Start
	e.mutex.Unlock()
	ctx, cancel := context.WithTimeout(ctx, attachWithin)
	defer cancel()
	if err := e.open(ctx, pid); err != nil {
		return fmt.Errorf("could not attach %s to process %d: %w", e.dialect.program(), pid, err)
	}
	if before.IsStopped() {
		// The debugger's own SIGSTOP is still pending behind the first one, and the kernel would stop the
		// process again once the debugger detaches. SIGCONT takes both away.
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			return fmt.Errorf("could not continue process %d: %w", pid, err)
		}
	}
	return e.enter(ctx)
}

// open makes the debugger attach, and waits until it reports the stop.
func (e *Engine) open(ctx context.Context, pid int) error {
	if _, err := e.debugger.callWithin(ctx, attachWithin, "attach", e.dialect.attach(pid)); err != nil {
		return err
	}
	if err := e.await(ctx, e.initial); err != nil {
		return err
	}
	if _, err := e.debugger.call(ctx, "configurationDone", nil); err != nil {
		return err
	}
	return e.await(ctx, e.entered)
}

// await waits for a report of the debugger.
func (e *Engine) await(ctx context.Context, reported <-chan struct{}) error {
	select {
	case <-reported:
		return nil
	case <-e.debugger.over:
		return e.debugger.err()
	case <-ctx.Done():
		e.debugger.fail(errHangs)
		return e.debugger.err()
	}
}

// enter begins to serve requests for the process, which is stopped.
func (e *Engine) enter(ctx context.Context) error {
	status, _ := guard.ReadStatus(e.pid())
	threads, err := e.listThreads(ctx)
	if err != nil {
		return err
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.condition, e.tracer = stopped, status.Tracer
	if len(threads) > 0 && !slices.ContainsFunc(threads, func(each thread) bool { return each.ID == e.thread }) {
		e.thread = threads[0].ID
	}
	return nil
}

func (e *Engine) pid() int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.process
}

// A need is the state of the process that a verb requires.
type need int

const (
	needsProcess need = iota
	needsStop
)

// A verb is how a request is done.
type verb struct {
	needs need
	do    func(*Engine, context.Context, debug.Request) (debug.Answer, error)
}

func verbOf(name debug.Verb) (verb, bool) {
	switch name {
	case debug.SetBreakpoints:
		return verb{needsProcess, (*Engine).setBreakpoints}, true
	case debug.Continue:
		return verb{needsStop, (*Engine).resume}, true
	case debug.Step:
		return verb{needsStop, (*Engine).stepOnce}, true
	case debug.Halt:
		return verb{needsProcess, (*Engine).halt}, true
	case debug.Kill:
		return verb{needsProcess, (*Engine).kill}, true
	case debug.Detach:
		return verb{needsProcess, (*Engine).detach}, true
	}
	inspect, isKnown := inspections[name]
	return verb{needsStop, inspect}, isKnown
}

// inspections are the verbs that look at a stopped process.
var inspections = map[debug.Verb]func(*Engine, context.Context, debug.Request) (debug.Answer, error){
	debug.Threads:   (*Engine).answerThreads,
	debug.Stack:     (*Engine).answerStack,
	debug.Variables: (*Engine).answerVariables,
	debug.Evaluate:  (*Engine).evaluate,
	debug.Assign:    (*Engine).assign,
	debug.TypeOf:    (*Engine).typeOf,
	debug.Memory:    (*Engine).memory,
	debug.Raw:       (*Engine).raw,
}

// Do answers a request. Only Halt may come while another request is answered.
func (e *Engine) Do(ctx context.Context, request debug.Request) debug.Answer {
	verb, isKnown := verbOf(request.Verb)
	if !isKnown {
		return debug.Answer{Problem: debug.Unsupported, Text: "this debugger does not support it: " + string(request.Verb)}
	}
	if problem, text := e.unable(verb.needs); problem != "" {
		return debug.Answer{Problem: problem, Text: text}
	}
	answer, err := verb.do(e, ctx, request)
	if err != nil {
		return e.problem(err)
	}
	return answer
}

// unable returns why a request cannot be done now, or "".
func (e *Engine) unable(needs need) (debug.Problem, string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	switch {
	case e.condition == unattached || e.condition == attaching || e.condition == over:
		return debug.NotRunning, "there is no process"
	case e.condition == running && needs == needsStop:
		return debug.IsRunning, "the process is running"
	}
	return "", ""
}

// errUnsupported reports a request that the debugger does not support.
var errUnsupported = errors.New("this debugger does not support it")

func (e *Engine) problem(err error) debug.Answer {
	var refused refusal
	switch {
	case errors.Is(err, errUnsupported):
		return debug.Answer{Problem: debug.Unsupported, Text: err.Error()}
	case errors.As(err, &refused):
		return debug.Answer{Problem: debug.Failed, Text: bounded(e.dialect.message(refused.message))}
	}
	return debug.Answer{Problem: debug.Silent, Text: err.Error()}
}

// Close ends the debugger. A process that is still attached runs on without it.
func (e *Engine) Close() { e.closed.Do(e.close) }

func (e *Engine) close() {
	isAttached := e.isAttached()
	patience := time.Duration(0)
	if isAttached && e.debugger.err() == nil {
		patience = endWithin
		ctx, cancel := context.WithTimeout(context.Background(), endWithin)
		_ = e.disconnect(ctx) // release does the rest
		cancel()
	}
	close(e.closing)
	e.debugger.close(patience)
	e.observing.Wait()
	if isAttached {
		e.release()
	}
}

func (e *Engine) isAttached() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.condition == attaching || e.condition == stopped || e.condition == running
}
