// Package adapter lets an editor debug all ranks of a program, by the Debug Adapter Protocol. Each rank is a thread to the
// editor; in large programs each class of ranks in equal state and place is one.
package adapter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/google/go-dap"
)

const (
	gatherTime = 50 * time.Millisecond  // how long further ranks may stop before the editor hears of them together
	outputTime = 100 * time.Millisecond // how long output is collected
	endLimit   = 20 * time.Second       // for ending or releasing a program
	doneTime   = 2 * time.Second        // how long ranks may report after the end of their job
)

// An adapter is the session of an editor. Only its loop uses its fields; other goroutines post functions to it.
type adapter struct {
	options Options
	queue   chan func()
	ctx     context.Context // ends with the loop
	tasks   sync.WaitGroup

	out          *bufio.Writer
	writeError   error
	reason       error // why the session ends without a request; nil if the editor left
	lastSequence int

	client        dap.InitializeRequestArguments
	isInitialized bool
	isEnding      bool // the program is ended or released, and then the session
	isCut         bool // without a request of the editor
	isOver        bool
	requests      map[int]*request // by number
	launching     *launching       // nil while no program is launched
	program       *program         // nil before the launch
	breakpoints   breakpoints
	sources       sources
	lastReference int
	lastLaunch    int

	publishTimer, outputTimer, doneTimer <-chan time.Time // nil while nothing waits for them
}

// Serve serves an editor until it disconnects, the stream ends or the context ends. It closes a stream that can be closed,
// which must end reads that wait; of another one, a read may wait beyond Serve. A program that the editor launched ends with the
// session, one that it attached to runs on, unless the editor wants otherwise. The error is of the stream or the
// context; nil if the editor left.
func Serve(ctx context.Context, stream io.ReadWriter, options Options) error {
	a := &adapter{options: options, queue: make(chan func()), out: bufio.NewWriterSize(stream, 64<<10), requests: map[int]*request{}}
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.ctx = inner
	hasRead := make(chan struct{})
	go func() {
		defer close(hasRead)
		a.read(stream)
	}()
	closer, canClose := stream.(io.Closer)
	if canClose {
		a.tasks.Go(func() {
			select {
			case <-ctx.Done(): // a write may wait
			case <-inner.Done():
			}
			_ = closer.Close()
		})
	}
	a.run(ctx)
	cancel()
	a.tasks.Wait()
	if canClose {
		<-hasRead
	}
	if a.isCut && ctx.Err() != nil {
		return context.Cause(ctx) // why the stream was closed
	}
	return a.reason
}

// post passes a function to the loop. It returns false if the loop has ended.
func (a *adapter) post(run func()) bool {
	select {
	case a.queue <- run:
		return true
	case <-a.ctx.Done():
		return false
	}
}

// read passes the messages of the editor to the loop, until the session ends.
func (a *adapter) read(stream io.Reader) {
	reader := bufio.NewReaderSize(stream, mostHeaderLine)
	for isEnding := false; !isEnding; {
		content, err := readContent(reader)
		if err != nil {
			a.post(func() { a.leave(err) })
			return
		}
		handled := make(chan bool, 1)
		if !a.post(func() { a.handle(content); handled <- a.isEnding }) {
			return
		}
		isEnding = <-handled
	}
}

// run is the loop.
func (a *adapter) run(ctx context.Context) {
	done := ctx.Done()
	for !a.isOver {
		reports, ended := a.program.channels()
		select {
		case run := <-a.queue:
			run()
		case <-reports:
			a.takeReports()
		case <-a.publishTimer:
			a.publish()
		case <-a.outputTimer:
			a.flushOutput(false)
		case <-ended:
			a.jobEnded()
		case <-a.doneTimer:
			a.finish()
		case <-done:
			done = nil
			a.leave(context.Cause(ctx))
		}
		a.flush()
	}
}

// flush writes the messages that the loop has queued.
func (a *adapter) flush() {
	if a.writeError == nil {
		a.writeError = a.out.Flush()
	}
	if a.writeError != nil {
		a.leave(fmt.Errorf("writing to the editor: %w", a.writeError))
	}
}

// leave ends the session without a request of the editor. The first reason counts.
func (a *adapter) leave(reason error) {
	if a.isEnding {
		return
	}
	a.isCut = true
	if !hasLeft(reason) {
		a.reason = reason
	}
	a.end(a.killsByDefault(), func(error) { a.isOver = true })
}

// hasLeft reports whether an error of the stream means that the editor has closed it.
func hasLeft(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
