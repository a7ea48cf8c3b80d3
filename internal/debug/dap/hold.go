package dap

import (
	"context"
	"time"

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
	return debug.Answer{}, e.pause(ctx, thread)
}

// pause stops the process. lldb loses the request if the process stops for it at that moment, at a library that
// is loaded for instance: then pause repeats it.
func (e *Engine) pause(ctx context.Context, thread int) error {
	const attempts = 5
	before := e.stops.Load()
	for range attempts {
		if _, err := e.debugger.call(ctx, "pause", map[string]any{"threadId": thread}); err != nil {
			return err
		}
		if e.hasStoppedSince(before) {
			return nil
		}
	}
	return nil
}

// hasStoppedSince waits a while for a stop.
func (e *Engine) hasStoppedSince(stops int64) bool {
	const (
		interval = 5 * time.Millisecond
		limit    = 500 * time.Millisecond
	)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); <-ticker.C {
		problem, _ := e.unable(needsProcess)
		if problem != "" || e.stops.Load() != stops || e.debugger.err() != nil {
			return true
		}
	}
	return false
}

// hold stops a running process without a report, for requests that debuggers do not do well while it
// runs. letGo lets it go on. Another stop may come first, which is reported as usual.
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
	if err := e.pause(ctx, thread); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return e.await(ctx, quiet)
}

// letGo lets a process go on that hold stopped.
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

// isOwnStop reports whether the engine has requested to stop the process.
func (e *Engine) isOwnStop() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.isHalting || e.quiet != nil
}
