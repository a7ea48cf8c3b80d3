package command

import (
	"bytes"
	"context"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// An Attachment connects an interactive job to its caller. Such a command has no time limit.
type Attachment struct {
	Stdin          io.Reader // nil for none; a Read under way when the command ends is not waited for
	Stdout, Stderr io.Writer // nil to discard
	// Terminal is the terminal that shows the output, if there is one: a command that wants a
	// pseudo-terminal gets one of the same type and size.
	Terminal *remote.Terminal
	// Signals are passed on to the command. If it is nil and the command runs on this machine
	// without a pseudo-terminal, the command stays in the caller's process group, so that
	// Ctrl-C reaches it directly.
	Signals <-chan syscall.Signal
	// Started is called once the process runs, while no parser works; it may be nil.
	Started func()
	// Progress is called after the parsers have seen output while the job
	// runs; calls do not overlap and no parser works meanwhile. Recent returns
	// the end of what was printed. It reports whether the job has reached the
	// state that the definition's input and the commands after the launch wait
	// for; they wait for nothing if it is nil. An error ends the command.
	Progress func(recent func() string) (reached bool, err error)
	// Processes gets the processes with new marks, a few times a second and once at the end;
	// calls do not overlap. It may be nil.
	Processes func(changed []job.Process)
}

// usualSize is the size of a pseudo-terminal without a viewer.
var usualSize = remote.Size{Columns: 80, Rows: 24}

// terminal returns the pseudo-terminal that the definition wants, nil without one.
func (r *run) terminal() *remote.Terminal {
	switch {
	case !r.Command.AllocatePTY:
		return nil
	case r.Attach != nil && r.Attach.Terminal != nil:
		return r.Attach.Terminal
	}
	return &remote.Terminal{Type: "dumb", Size: usualSize}
}

// waitsForState reports whether the steps after the start of an attached job wait until a
// parser has seen that it runs. As in PTP, the output of a command that is not kept open is
// parsed for the state only after its end, so that there is nothing to wait for.
func (r *run) waitsForState() bool {
	return r.Attach != nil && r.Attach.Progress != nil && r.Command.WaitForID && r.Command.KeepOpen
}

// An attachedState shows the goroutines that serve an attached job how far it is.
type attachedState struct {
	reached chan struct{} // closed when the state that is waited for was seen
	ended   chan struct{} // closed when the process has ended
	sent    chan struct{} // closed when the definition's input was handed over
	failed  chan struct{} // closed when Progress returned an error

	reachOnce, sendOnce, failOnce sync.Once
	err                           error // of Progress; written before failed is closed
}

func newAttachedState() *attachedState {
	return &attachedState{reached: make(chan struct{}), ended: make(chan struct{}), sent: make(chan struct{}), failed: make(chan struct{})}
}

func (s *attachedState) reach() { s.reachOnce.Do(func() { close(s.reached) }) }
func (s *attachedState) send()  { s.sendOnce.Do(func() { close(s.sent) }) }
func (s *attachedState) fail(err error) {
	s.failOnce.Do(func() {
		s.err = err
		close(s.failed)
	})
}

// failure returns the error of Progress, or nil.
func (s *attachedState) failure() error {
	select {
	case <-s.failed:
		return s.err
	default:
		return nil
	}
}

// progress returns the callback for streams whose parsers have seen output.
func (r *run) progress(recent func() string) func() {
	if r.Attach == nil || r.Attach.Progress == nil {
		return nil
	}
	return func() {
		reached, err := r.Attach.Progress(recent)
		if reached {
			r.attached.reach()
		}
		if err != nil {
			r.attached.fail(err)
		}
	}
}

// processesEvery is how often the caller gets processes.
const processesEvery = 250 * time.Millisecond

// serve passes signals on to the process, ends it when its job has failed, and
// reports the job's processes, until the process has ended.
func (r *run) serve(process remote.Handle, streams *streams) {
	signals, failed := r.Attach.Signals, r.attached.failed
	var reports <-chan time.Time
	if r.invocation.marks != nil && r.Attach.Processes != nil {
		ticker := time.NewTicker(processesEvery)
		defer ticker.Stop()
		reports = ticker.C
	}
	for {
		select {
		case <-reports:
			if changed := streams.changedProcesses(); len(changed) > 0 {
				r.Attach.Processes(changed)
			}
		case number, more := <-signals:
			if !more {
				signals = nil
				continue
			}
			if err := process.Signal(number); err != nil {
				r.result.Unsignaled = err
			}
		case <-failed:
			failed = nil
			process.Terminate()
		case <-r.attached.ended:
			return
		}
	}
}

// awaitState waits until commands after the launch may run. It reports false if they never
// may.
func (r *run) awaitState(ctx context.Context) bool {
	awaited := []<-chan struct{}{r.attached.reached}
	if r.invocation.HasInput {
		awaited = append(awaited, r.attached.sent)
	}
	for _, each := range awaited {
		select {
		case <-each:
			continue // be it that the process has ended, too
		default:
		}
		select {
		case <-each:
		case <-r.attached.ended:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Bytes that a terminal turns into signals, and how much typed input is kept until the
// definition's input is sent.
const (
	interrupts = "\x03\x1c"
	heldInput  = 64 << 10
)

// A gatedInput is the definition's input, which waits for the state of the job, followed by
// the caller's input. One goroutine reads it.
type gatedInput struct {
	state *attachedState
	input *bytes.Reader
	typed io.Reader // nil without input
	// isTerminal says that typed bytes may interrupt. One that does opens a
	// conversation with a command that still waits: qsub asks back whether it
	// shall give up. From then on nothing typed is held.
	isTerminal bool

	opened  bool // the input is due
	talking bool // nothing typed is held
	chunks  chan typedChunk
	held    []byte // typed, to be read after the input
	ready   []byte // to be read before all else
	end     error  // of the input
}

// A typedChunk is a part of the typed input.
type typedChunk struct {
	bytes []byte
	err   error
}

// Read returns the next part of the input. It waits for the state of the job,
// and returns io.EOF when the process has ended.
func (g *gatedInput) Read(p []byte) (int, error) {
	if g.typed != nil && g.chunks == nil {
		g.chunks = make(chan typedChunk)
		go g.follow()
	}
	for {
		switch {
		case len(g.ready) > 0:
			n := copy(p, g.ready)
			g.ready = g.ready[n:]
			return n, nil
		case g.opened && g.input.Len() > 0:
			n, err := g.input.Read(p)
			if g.input.Len() == 0 {
				g.state.send()
			}
			return n, err
		case g.opened && len(g.held) > 0:
			g.ready, g.held = g.held, nil
			continue
		case g.opened && (g.end != nil || g.typed == nil):
			if g.end == nil {
				return 0, io.EOF
			}
			return 0, g.end
		}
		if !g.wait() {
			return 0, io.EOF
		}
	}
}

// wait waits for something to read. It reports false when the process has ended.
func (g *gatedInput) wait() bool {
	reached, chunks := g.state.reached, g.chunks
	if g.opened {
		reached = nil
	}
	if g.end != nil || len(g.held) >= heldInput {
		chunks = nil
	}
	select {
	case <-reached:
		g.opened = true
	case chunk := <-chunks:
		g.end = chunk.err
		g.held = append(g.held, chunk.bytes...)
		g.talking = g.talking || g.isTerminal && bytes.ContainsAny(chunk.bytes, interrupts)
		if g.talking {
			g.ready, g.held = g.held, nil
		}
	case <-g.state.ended:
		return false
	}
	return true
}

// follow reads the typed input until it ends, or the process ends. A Read in progress at the
// end of the process cannot be interrupted from here.
func (g *gatedInput) follow() {
	for {
		buffer := make([]byte, 4096)
		n, err := g.typed.Read(buffer)
		select {
		case g.chunks <- typedChunk{buffer[:n], err}:
		case <-g.state.ended:
			return
		}
		if err != nil {
			return
		}
	}
}
