package dap

import (
	"context"
	"syscall"

	"github.com/rmctl/rmctl/debug"
)

func (e *Engine) halt(ctx context.Context, _ debug.Request) (debug.Answer, error) {
	e.driving.Lock()
	defer e.driving.Unlock()
	e.mutex.Lock()
	isRunning, isHeld, thread := e.condition == running, e.isHeld, e.thread
	e.isHalting = isRunning
	e.mutex.Unlock()
	if !isRunning || isHeld {
		return debug.Answer{}, nil // letGo reports the stop
	}
	return debug.Answer{}, e.dialect.pause(ctx, e, thread)
}

// hold stops a running process without a report, for requests that debuggers do not handle well while it runs.
// letGo continues it. Another stop may come first, and is reported as usual.
func (e *Engine) hold(ctx context.Context) error {
	e.driving.Lock()
	defer e.driving.Unlock()
	e.mutex.Lock()
	isRunning, thread := e.condition == running, e.thread
	quiet := make(chan struct{})
	if isRunning {
		e.quiet = quiet
	}
	e.mutex.Unlock()
	if !isRunning {
		return nil
	}
	if err := e.dialect.pause(ctx, e, thread); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return e.await(ctx, quiet)
}

// letGo continues a process that hold stopped.
func (e *Engine) letGo(ctx context.Context) error {
	e.driving.Lock()
	defer e.driving.Unlock()
	e.mutex.Lock()
	isHeld, isHalting, thread := e.isHeld, e.isHalting, e.thread
	e.isHeld = false
	e.values.reset()
	e.mutex.Unlock()
	if !isHeld {
		return nil
	}
	if isHalting {
		e.enqueue(happening{kind: hasHalted, thread: thread})
		return nil
	}
	return e.proceed(ctx, "continue", thread)
}

// takesHold reports whether a stop is for the engine's own use.
func (e *Engine) takesHold(thread int, reason string) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.quiet == nil {
		return false
	}
	if reason == debug.ReasonHalt {
		e.isHeld, e.thread = true, thread
	}
	close(e.quiet)
	e.quiet = nil
	return e.isHeld
}

// signalStop stops the process by a signal.
func (e *Engine) signalStop() error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.isSignaled = true
	if err := syscall.Kill(e.process, syscall.SIGSTOP); err != nil {
		return refusal{"could not stop the process: " + err.Error()}
	}
	return nil
}

// takeSignal reports whether a stop by SIGSTOP is the engine's own, and whether it is still needed: another stop
// may have come first.
func (e *Engine) takeSignal() (isOwn, isNeeded bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	isOwn = e.isSignaled
	e.isSignaled = false
	return isOwn, e.isHalting || e.quiet != nil
}
