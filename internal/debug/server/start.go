package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// attachLimit bounds how long a debugger reads the symbols of a program.
const attachLimit = 10 * time.Minute

// start starts the program, or attaches to the process. The debugger lets it run after the client has the answer.
func (s *server) start(ctx context.Context, request debug.Request) (debug.Answer, func()) {
	var isReady bool
	s.change(func() {
		isReady = s.shown == debug.Ready
		s.isStarting = isReady
	})
	defer s.change(func() { s.isStarting = false })
	switch {
	case !isReady:
		return failed(errors.New("the program was started already")), nil
	case s.engine == nil:
		return failed(s.openError), nil
	}
	executable, err := s.hold(request.Program)
	if err != nil {
		return failed(err), nil
	}
	err = s.attach(ctx, executable)
	if err == nil {
		err = ctx.Err() // the client has left
	}
	if err != nil {
		s.abandon()
		return failed(err), nil
	}
	stop := request.Stop
	if s.PID > 0 && stop == debug.StopAtMain {
		stop = debug.StopAtEntry // a running process is beyond that
	}
	problem := s.placeFirst(ctx, stop == debug.StopAtMain)
	return debug.Answer{}, func() { s.goOn(ctx, stop, problem) }
}

// hold starts the program such that it is stopped, or finds the process to attach to.
func (s *server) hold(program *debug.Program) (executable string, err error) {
	if s.PID > 0 {
		status, exists := guard.ReadStatus(s.PID)
		switch {
		case !exists || status.HasEnded() || s.Start != 0 && status.Start != s.Start:
			return "", errors.New("the process has ended")
		case status.Tracer != 0:
			return "", errors.New("the process has a debugger already: end that first")
		}
		s.change(func() { s.pid, s.before = s.PID, status })
		return executableOf(s.PID), nil
	}
	if program == nil || len(program.Arguments) == 0 {
		program = s.Program
	}
	if program == nil {
		return "", errors.New("no program to start: name one")
	}
	c, err := s.startChild(*program, s.guard, s.out.print)
	if err != nil {
		return "", err
	}
	s.change(func() { s.child, s.pid, s.before = c, c.pid, c.before })
	return c.executable, nil
}

// attach attaches the debugger to the process.
func (s *server) attach(ctx context.Context, executable string) error {
	if err := s.guard.Attach(s.pid, s.before); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, attachLimit)
	defer cancel()
	if !s.lock(limited) {
		return limited.Err()
	}
	defer s.unlock()
	if err := s.engine.Attach(limited, s.pid, executable); err != nil {
		hint := ""
		if strings.Contains(err.Error(), "not permitted") {
			hint = ptraceHint(s.scopeFile())
		}
		return fmt.Errorf("attaching the debugger: %w%s", err, hint)
	}
	return nil
}

// abandon ends the program that could not be debugged, or lets the process run as before.
func (s *server) abandon() {
	s.killDebugger()
	c, pid, before := s.child, s.pid, s.before
	s.change(func() { s.child, s.pid = nil, 0 })
	if c == nil {
		guard.Release(context.Background(), pid, before.Start, before.IsStopped())
		s.guard.Detached(pid)
		return
	}
	_ = syscall.Kill(c.pid, syscall.SIGKILL) // nobody has waited for it
	<-c.ended
	s.guard.Detached(c.pid)
	s.guard.RemoveProgram(c.pid)
}

// placeFirst gives the debugger the breakpoints that the client has set before the start.
func (s *server) placeFirst(ctx context.Context, isMain bool) (problem string) {
	limited, cancel := context.WithTimeout(ctx, longLimit)
	defer cancel()
	var count int
	s.change(func() {
		s.shown, s.awaitsMain = debug.Stopped, isMain
		count = len(s.broken)
	})
	if count == 0 && !isMain || !s.lock(limited) {
		return ""
	}
	defer s.unlock()
	answer := s.placeBreakpoints(limited, s.engine)
	if answer.Problem != "" {
		s.change(func() { s.awaitsMain = false })
		return answer.Text
	}
	s.placed(answer.Breakpoints)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if isMain && !s.awaitsMain {
		return "no function main: stopped at the first instruction"
	}
	return ""
}

// goOn lets the process run after the start, or lets the client know that it is stopped.
func (s *server) goOn(ctx context.Context, stop, problem string) {
	if s.child != nil {
		s.tasks.Go(func() { s.followChild(s.child) })
	}
	reason := debug.ReasonEntry
	if s.child == nil {
		reason = debug.ReasonHalt
	}
	if problem == "" && stop != debug.StopAtEntry {
		s.change(func() {
			s.shown = debug.Running
			s.out.send(debug.Notice{Report: debug.ReportRunning})
		})
		answer := s.do(ctx, debug.Request{Verb: debug.Continue})
		if answer.Problem == "" {
			return
		}
		problem = answer.Text
	}
	notice := debug.Notice{Report: debug.ReportStopped, Reason: reason, Text: problem}
	for _, thread := range s.do(ctx, debug.Request{Verb: debug.Threads}).Threads {
		if thread.Current {
			notice.Thread, notice.Frame = thread.ID, thread.Frame
		}
	}
	s.show(notice)
}
