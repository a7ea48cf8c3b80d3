package mi

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

const (
	// probeAfter is how long a process may take to stop before the engine queries gdb.
	probeAfter = 2 * time.Second
	mostSteps  = 1_000_000
)

// proceed lets the process run.
func (e *Engine) proceed(ctx context.Context, _ debug.Request) debug.Answer {
	return e.run(ctx, "-exec-continue")
}

// step runs the process for steps.
func (e *Engine) step(ctx context.Context, request debug.Request) debug.Answer {
	count := min(max(request.Count, 1), mostSteps)
	thread := e.threadOf(request)
	switch request.Text {
	case debug.StepInto:
		return e.run(ctx, fmt.Sprintf("-exec-step --thread %d %d", thread, count))
	case debug.StepOver:
		return e.run(ctx, fmt.Sprintf("-exec-next --thread %d %d", thread, count))
	case debug.StepOut:
		return e.run(ctx, fmt.Sprintf("-exec-finish --thread %d --frame %d", thread, request.Frame+count-1))
	}
	return debug.Answer{Problem: debug.Failed, Text: fmt.Sprintf("unknown step %.20q", request.Text)}
}

// run sends a command that runs the process.
func (e *Engine) run(ctx context.Context, command string) debug.Answer {
	e.mutex.Lock()
	before := e.lastRun
	e.lastRun = command
	e.mutex.Unlock()
	err := e.call(ctx, command)[0].err
	if err == nil {
		return debug.Answer{}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.phase == running && e.broken == nil { // gdb noticed the problem after it had said that the process runs
		e.leave(stopped)
		e.notices.add(e.last)
	}
	e.lastRun = before
	return problemOf(err)
}

// resume sends the last command that ran the process again, without a notice. The caller holds the mutex.
func (e *Engine) resume() {
	e.post(e.lastRun, func(answer result) {
		if answer.err == nil || e.phase != running {
			return
		}
		e.leave(stopped)
		e.last.Text = clip(answer.err.Error())
		e.notices.add(e.last)
	})
}

// sendStop stops the process with a signal that it cannot block. The caller holds the mutex.
func (e *Engine) sendStop() {
	e.owed++
	_ = syscall.Kill(e.pid, syscall.SIGSTOP)
}

// halt stops the process. The notice of the stop follows.
func (e *Engine) halt(ctx context.Context) debug.Answer {
	e.mutex.Lock()
	switch {
	case e.broken != nil:
		defer e.mutex.Unlock()
		return problemOf(e.broken)
	case e.phase == stopped:
		defer e.mutex.Unlock()
		if e.isQuiet {
			e.isQuiet = false
			e.notices.add(e.last)
		}
		return debug.Answer{}
	case e.phase != running:
		defer e.mutex.Unlock()
		return debug.Answer{Problem: debug.NotRunning, Text: "there is no process"}
	}
	e.isQuiet = false
	e.stopRunning()
	e.mutex.Unlock()
	e.probe(ctx)
	return debug.Answer{}
}

// stopRunning stops the process once, for any number of callers. The caller holds the mutex.
func (e *Engine) stopRunning() {
	if !e.isHalting {
		e.isHalting = true
		e.sendStop()
	}
}

// probe waits a while for a stop, and then queries gdb, which does not report some stops.
func (e *Engine) probe(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, probeAfter)
	defer cancel()
	if e.waitHalted(within) == nil || ctx.Err() != nil {
		return
	}
	e.mutex.Lock()
	e.post("-thread-info", e.applyProbe)
	e.mutex.Unlock()
}

// whileStopped stops a running process for a request, and lets it continue. Nobody notices, unless the process
// stops for another reason at the same time. Steps are not interrupted.
func (e *Engine) whileStopped(ctx context.Context, work func() debug.Answer) debug.Answer {
	e.mutex.Lock()
	isInterrupted := e.phase == running && e.lastRun == "-exec-continue"
	if isInterrupted {
		e.isQuiet = !e.isHalting
		e.stopRunning()
	}
	isStep := e.phase == running && !isInterrupted
	e.mutex.Unlock()
	if isInterrupted {
		e.probe(ctx)
		if err := e.waitHalted(ctx); err != nil {
			return problemOf(err)
		}
	}
	if refusal := e.requireStopped(); refusal.Problem != "" && !isStep {
		return refusal
	}
	answer := work()
	e.mutex.Lock()
	isQuiet := e.isQuiet && e.phase == stopped
	e.mutex.Unlock()
	if !isQuiet {
		return answer
	}
	if refusal := e.run(ctx, "-exec-continue"); refusal.Problem != "" {
		answer = refusal
		e.mutex.Lock()
		if e.isQuiet && e.phase == stopped {
			e.notices.add(e.last)
		}
		e.mutex.Unlock()
	}
	e.mutex.Lock()
	e.isQuiet = false
	e.mutex.Unlock()
	return answer
}

// kill ends the process. The notice of its end follows.
func (e *Engine) kill(ctx context.Context) debug.Answer {
	e.mutex.Lock()
	phase, pid := e.phase, e.pid
	e.mutex.Unlock()
	if phase != stopped && phase != running {
		return debug.Answer{Problem: debug.NotRunning, Text: "there is no process"}
	}
	if phase == stopped && e.killStopped(ctx) {
		return debug.Answer{}
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return debug.Answer{Problem: debug.Failed, Text: fmt.Sprintf("could not kill the process: %v", err)}
	}
	if phase == stopped { // gdb looks at it when it continues it
		ctx, cancel := bounded(ctx)
		defer cancel()
		e.call(ctx, "-exec-continue")
	}
	return debug.Answer{}
}

// killStopped lets gdb kill the stopped process, and reports whether it did. After a signal from elsewhere gdb may fail to step
// over a breakpoint, and never notices the end.
func (e *Engine) killStopped(ctx context.Context) bool {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if e.call(ctx, `-interpreter-exec console "kill"`)[0].err != nil {
		return false
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.phase == stopped {
		e.applyExit("exited-signalled", Value{Items: []Value{{Name: "signal-name", Text: "SIGKILL"}}})
	}
	return true
}

// detach lets the process run without gdb.
func (e *Engine) detach(ctx context.Context) debug.Answer {
	e.mutex.Lock()
	phase, pid, isBroken := e.phase, e.pid, e.broken != nil
	if phase == running {
		e.isQuiet = !e.isHalting
		e.stopRunning()
	}
	e.mutex.Unlock()
	if phase != stopped && phase != running || isBroken {
		return debug.Answer{Problem: debug.NotRunning, Text: "there is no process"}
	}
	e.probe(ctx)
	if err := e.waitHalted(ctx); err != nil {
		return problemOf(err)
	}
	if refusal := e.requireStopped(); refusal.Problem != "" {
		return refusal
	}
	if err := e.call(ctx, "-target-detach")[0].err; err != nil {
		return problemOf(err)
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if status, exists := guard.ReadStatus(pid); e.owed > 0 || exists && status.IsStopped() {
		_ = syscall.Kill(pid, syscall.SIGCONT) // which cancels SIGSTOPs
	}
	if e.phase == stopped {
		e.leave(ended)
		e.notices.add(debug.Notice{Report: debug.ReportGone, Text: "detached"})
	}
	return debug.Answer{}
}
