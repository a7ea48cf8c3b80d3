package server

import (
	"context"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// killWithin bounds how long a debugger may take to notice that its process was killed.
const killWithin = 2 * time.Second

// leave ends or releases the process after the client has left, as requested.
func (s *server) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), s.Linger)
	defer cancel()
	if s.WhenLeft == End {
		s.cancelRequests()
		s.kill(ctx)
		s.awaitWork(ctx)
		s.kill(ctx) // it may just have started
	} else {
		s.awaitWork(ctx)
		s.release(ctx, "")
	}
	s.mutex.Lock()
	isReady, isEnded := s.shown == debug.Ready, s.shown == debug.Exited
	s.mutex.Unlock()
	switch {
	case s.PID > 0 && !isEnded:
		s.finish(Ending{}, nil)
	case isReady && s.WhenLeft == Release:
		s.runWithout()
	case isReady:
		s.finish(Ending{Code: 1}, errNotStarted)
	}
}

// awaitWork waits for the request that is being served. If that takes too long, it is canceled.
func (s *server) awaitWork(ctx context.Context) {
	timer := time.NewTimer(s.Linger / 3)
	defer timer.Stop()
	s.mutex.Lock()
	isBusy := s.isServing && s.isAttached() && s.runs
	s.mutex.Unlock()
	if isBusy {
		s.engine.Do(ctx, debug.Request{Verb: debug.Halt}) // a function of the program runs
	}
	select {
	case <-s.worked:
	case <-timer.C:
	}
	s.cancelRequests()
	select {
	case <-s.worked:
	case <-ctx.Done():
	}
}

// runWithout runs the program as if there were no debugger.
func (s *server) runWithout() {
	_, err := s.hold(nil)
	if err != nil {
		s.finish(Ending{Code: 1}, err)
		return
	}
	s.closeEngine()
	s.change(func() { s.shown = debug.Released })
	_ = syscall.Kill(s.pid, syscall.SIGCONT) // nobody has waited for it
	s.followChild(s.child)
}

// release lets the process run without a debugger, whatever state both are in. The context bounds how long the debugger may
// take for that; then it is killed.
func (s *server) release(ctx context.Context, text string) {
	s.releasing.Lock()
	defer s.releasing.Unlock()
	var isAttached bool
	s.change(func() {
		isAttached = s.isAttached()
		s.isReleasing = isAttached
	})
	if !isAttached {
		return
	}
	pid, before := s.pid, s.before // they do not change while it is attached
	if !s.detachOrderly(ctx) {
		s.killDebugger()
	}
	after, exists := guard.ReadStatus(pid)
	if exists && (after.Tracer != 0 || after.StopPending || after.IsStopped() != before.IsStopped()) {
		guard.Release(context.Background(), pid, before.Start, before.IsStopped())
	}
	s.guard.Detached(pid)
	s.tasks.Go(s.closeEngine) // it may take a while
	s.change(func() {
		s.isReleasing = false
		if s.isAttached() {
			s.shown = debug.Released
			s.out.send(debug.Notice{Report: debug.ReportGone, Text: text})
		}
	})
	if s.child == nil {
		s.finish(Ending{}, nil)
	}
}

// detachOrderly lets the debugger detach, and reports whether it did so.
func (s *server) detachOrderly(ctx context.Context) bool {
	isStopped := func() bool { return !s.runs }
	s.mutex.Lock()
	runs := s.runs
	s.mutex.Unlock()
	if runs {
		s.engine.Do(ctx, debug.Request{Verb: debug.Halt}) // a problem shows below
	}
	if !s.lock(ctx) {
		return false
	}
	defer s.unlock()
	if !s.awaits(ctx, isStopped) {
		return false
	}
	answer := s.engine.Do(ctx, debug.Request{Verb: debug.Detach})
	return answer.Problem == "" || answer.Problem == debug.NotRunning
}

// killDebugger ends the debugger without waiting for an answer of it.
func (s *server) killDebugger() {
	s.mutex.Lock()
	isOpen := s.engine != nil && !s.isClosed
	s.mutex.Unlock()
	if isOpen {
		guard.End(s.engine.PID(), s.debugger)
	}
	s.closeEngine()
}

// kill ends the process. A debugger may keep a killed process from its end, so it is ended then, too.
func (s *server) kill(ctx context.Context) debug.Answer {
	s.mutex.Lock()
	pid, start, isStopped := s.pid, s.before.Start, s.shown == debug.Stopped && !s.isServing
	s.mutex.Unlock()
	if _, problem := s.attached(); pid == 0 {
		return problem
	}
	if limited, cancel := context.WithTimeout(ctx, killWithin); isStopped {
		if s.lock(limited) {
			s.engine.Do(limited, debug.Request{Verb: debug.Kill}) // a problem shows below
			s.unlock()
		}
		cancel()
	} else {
		cancel()
		signalProcess(pid, start, syscall.SIGKILL)
	}
	isEnded := func() bool { return s.shown == debug.Exited }
	limited, cancel := context.WithTimeout(ctx, killWithin)
	defer cancel()
	if !s.awaits(limited, isEnded) {
		signalProcess(pid, start, syscall.SIGKILL)
		s.killDebugger()
	}
	if s.child == nil {
		s.end(debug.Notice{Report: debug.ReportExited, Signal: nameOfSignal(syscall.SIGKILL)}, Ending{})
	}
	return debug.Answer{}
}

// signalProcess sends a signal to a process, unless its number is that of another one now.
func signalProcess(pid int, start uint64, number syscall.Signal) {
	if status, exists := guard.ReadStatus(pid); exists && status.Start == start {
		_ = syscall.Kill(pid, number) // it may have ended
	}
}
