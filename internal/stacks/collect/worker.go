package collect

import (
	"context"
	"errors"
	"slices"

	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/stacks"
)

var (
	errEnded   = errors.New("the process has ended")
	errNoGuard = errors.New("the guard has ended")
)

// mostHangs is the number of processes without an answer after which a worker gives up: then the debugger is at
// fault.
const mostHangs = 2

// A worker has one debugger, which it attaches to one process after the other.
type worker struct {
	*collector
	session    *mi.Session
	executable string // that the session has symbols of
	hangs      int    // processes in a row without an answer
	python     python
}

// close ends the debugger.
func (w *worker) close() {
	if w.session == nil {
		return
	}
	pid := w.session.PID()
	w.session.Close()
	w.guard.RemoveDebugger(pid)
	w.session = nil
}

// start ensures that there is a debugger without the symbols of another program.
func (w *worker) start(executable string) error {
	if w.session != nil && w.session.Err() == nil && w.executable == executable {
		return nil
	}
	w.close()
	session, err := mi.Start(w.request.Debugger)
	if err != nil {
		return err
	}
	w.session, w.executable, w.python = session, executable, python{}
	if err := w.guard.AddDebugger(session.PID()); err != nil {
		w.close()
		return errNoGuard
	}
	return nil
}

// read reads one sample of a process.
func (w *worker) read(ctx context.Context, target Target) (stacks.Stack, error) {
	if ctx.Err() != nil {
		return stacks.Stack{}, context.Cause(ctx)
	}
	before, err := statusOf(target)
	if err != nil {
		return stacks.Stack{}, err
	}
	if w.hangs >= mostHangs {
		return stacks.Stack{}, mi.ErrHangs
	}
	if err := w.start(target.executable); err != nil {
		return stacks.Stack{}, err
	}
	if w.guard.Attach(target.PID, before) != nil {
		return stacks.Stack{}, errNoGuard
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.Limit)
	defer cancel()
	threads, err := w.session.Attach(ctx, target.PID)
	var stack stacks.Stack
	if err == nil {
		stack, err = w.readThreads(ctx, target, threads)
	}
	if detachErr := w.session.Detach(ctx); err == nil && w.session.Err() != nil {
		err = detachErr // the debugger may have lost the process meanwhile
	}
	w.release(target, before)
	if w.hangs++; !errors.Is(err, mi.ErrHangs) {
		w.hangs = 0
	}
	return stack, err
}

// statusOf returns the status of a process that can be attached to.
func statusOf(target Target) (guard.Status, error) {
	status, exists := guard.ReadStatus(target.PID)
	switch {
	case !exists || status.HasEnded() || target.Start != 0 && status.Start != target.Start:
		return status, errEnded
	case status.Tracer != 0:
		return status, tracedError{status.Tracer}
	}
	return status, nil
}

// release ensures that a process continues. If the debugger did not detach, it ends the debugger first.
func (w *worker) release(target Target, before guard.Status) {
	after, exists := guard.ReadStatus(target.PID)
	if w.session.Err() != nil || exists && after.Tracer == w.session.PID() {
		w.close()
	} else if !exists || after.Tracer == 0 && !after.StopPending && !after.IsStopped() && !before.IsStopped() {
		w.guard.Detached(target.PID)
		return
	}
	// The process must continue even if the client is gone.
	if guard.Release(context.Background(), target.PID, before.Start, before.IsStopped()) {
		w.guard.Detached(target.PID)
	}
}

// readThreads reads the frames of all threads, and those of Python.
func (w *worker) readThreads(ctx context.Context, target Target, threads []mi.Thread) (stacks.Stack, error) {
	var stack stacks.Stack
	stack.Omitted = max(0, len(threads)-stacks.MostThreads)
	threads = threads[:len(threads)-stack.Omitted]
	if err := w.session.Frames(ctx, threads, limits); err != nil {
		return stacks.Stack{}, err
	}
	if status, exists := guard.ReadStatus(target.PID); target.PID > 0 && (!exists || status.HasEnded()) {
		return stacks.Stack{}, errEnded // the debugger may have read the rest of a process
	}
	calls := w.python.read(ctx, w.session, target.PID, threads)
	for i, thread := range threads {
		stack.Threads = append(stack.Threads, stacks.Thread{Name: thread.Name, Frames: join(calls[i], framesOf(thread))})
	}
	return stack, w.session.Err()
}

// framesOf returns the frames of a thread, outermost first, with one for omitted frames.
func framesOf(thread mi.Thread) []stacks.Frame {
	frames := make([]stacks.Frame, 0, len(thread.Frames)+1)
	for i, each := range thread.Frames {
		if thread.Gap > 0 && i == thread.Inside {
			frames = append(frames, stacks.Frame{Omitted: thread.Gap})
		}
		frames = append(frames, stacks.Frame{Function: each.Function, File: each.File, Line: each.Line, Module: each.Module})
	}
	if thread.Gap > 0 && len(thread.Frames) == thread.Inside {
		frames = append(frames, stacks.Frame{Omitted: thread.Gap})
	}
	slices.Reverse(frames)
	return frames
}
