package dap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

const mostSteps = 1_000_000

// run lets the process run by a request for the thread that is at work.
func (e *Engine) run(ctx context.Context, command string, thread int) (debug.Answer, error) {
	e.mutex.Lock()
	e.condition, e.isHalting = running, false
	e.values.reset()
	e.mutex.Unlock()
	e.enqueue(happening{kind: runs}) // before the debugger can report the next stop
	err := e.proceed(ctx, command, thread)
	if errors.As(err, &refusal{}) {
		e.enqueue(happening{kind: runsNot})
	}
	return debug.Answer{}, err
}

func (e *Engine) resume(ctx context.Context, _ debug.Request) (debug.Answer, error) {
	e.mutex.Lock()
	thread := e.thread
	e.steps = 0
	e.mutex.Unlock()
	return e.run(ctx, "continue", thread)
}

func (e *Engine) stepOnce(ctx context.Context, request debug.Request) (debug.Answer, error) {
	thread, err := e.threadOf(request)
	if err != nil {
		return debug.Answer{}, err
	}
	if e.dialect.isBeforeThreads(thread) {
		return debug.Answer{}, refusal{"the process cannot be stepped before its first thread runs; continue to a breakpoint"}
	}
	command, isKnown := map[string]string{debug.StepInto: "stepIn", debug.StepOver: "next", debug.StepOut: "stepOut"}[request.Text]
	if !isKnown {
		return debug.Answer{}, refusal{"unknown step: " + bounded(request.Text)}
	}
	e.mutex.Lock()
	e.step, e.steps = command, min(max(request.Count, 1), mostSteps)-1
	e.mutex.Unlock()
	return e.run(ctx, command, thread)
}

// takeStep reports whether another step follows.
func (e *Engine) takeStep() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.steps == 0 || e.isHalting {
		return false
	}
	e.steps--
	return true
}

func (e *Engine) stepCommand() string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.step
}

// kill ends the process, and reports that.
func (e *Engine) kill(ctx context.Context, _ debug.Request) (debug.Answer, error) {
	e.mutex.Lock()
	e.isKilled = true
	isStopped, pid := e.condition == stopped, e.process
	e.mutex.Unlock()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return debug.Answer{}, refusal{"could not end the process: " + err.Error()}
	}
	if isStopped {
		// A debugger that is not waiting for the process does not notice.
		if err := e.dialect.reap(ctx, e); err != nil && !errors.As(err, &refusal{}) && !errors.Is(err, errEnded) {
			return debug.Answer{}, err
		}
		e.enqueue(happening{kind: hasTerminated})
	}
	return debug.Answer{}, nil
}

// detach lets the process run without the debugger, which ends.
func (e *Engine) detach(ctx context.Context, _ debug.Request) (debug.Answer, error) {
	if err := e.disconnect(ctx); err != nil {
		return debug.Answer{}, err
	}
	e.release()
	e.enqueue(happening{kind: hasDetached})
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.condition = over
	return debug.Answer{}, nil
}

// disconnect makes the debugger leave the process. It is stopped for that: lldb may hang otherwise.
func (e *Engine) disconnect(ctx context.Context) error {
	if err := e.hold(ctx); err != nil {
		return err
	}
	e.setLeaving(true)
	_, err := e.debugger.call(ctx, "disconnect", nil)
	if errors.As(err, &refusal{}) {
		e.setLeaving(false)
		return errors.Join(err, e.letGo(ctx))
	}
	return err
}

// setLeaving sets whether the debugger ends because of a request.
func (e *Engine) setLeaving(isLeaving bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.isLeaving = isLeaving
}

// release makes sure that nothing holds the process any more.
func (e *Engine) release() {
	const (
		patience = 2 * time.Second
		interval = 5 * time.Millisecond
	)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	isTraced := func() bool {
		status, exists := guard.ReadStatus(e.process)
		return exists && status.Start == e.start && status.Tracer != 0 && status.Tracer == e.tracer
	}
	for limit := time.Now().Add(patience); isTraced() && time.Now().Before(limit); {
		<-ticker.C
	}
	if isTraced() {
		_ = syscall.Kill(e.tracer, syscall.SIGKILL) // the kernel then takes the process from it
	}
	guard.Release(context.Background(), e.process, e.start, false)
}

// lose handles the end of a debugger that nobody requested. One that hangs still has the process: Close
// ends it.
func (e *Engine) lose() {
	if errors.Is(e.debugger.err(), errHangs) {
		return
	}
	e.mutex.Lock()
	hadProcess := (e.condition == stopped || e.condition == running) && !e.isLeaving
	e.mutex.Unlock()
	if !hadProcess {
		return
	}
	e.debugger.kill()
	e.release()
	e.finish(nil)
}

// finish reports that the debugger has no process any more. The code is nil if the debugger does not say it.
func (e *Engine) finish(code *int) {
	e.mutex.Lock()
	isFirst := (e.condition == stopped || e.condition == running) && !e.isLeaving
	if isFirst {
		e.condition = over
	}
	if e.quiet != nil {
		close(e.quiet)
		e.quiet = nil
	}
	notice := e.ending(code)
	e.mutex.Unlock()
	if isFirst {
		e.options.Notify(notice)
	}
}

// ending returns how the process ended, or that it runs on.
func (e *Engine) ending(code *int) debug.Notice {
	notice := debug.Notice{Report: debug.ReportExited}
	if status, isThere := exitStatus(e.process, e.start); isThere {
		return exited(status)
	}
	status, exists := guard.ReadStatus(e.process)
	switch {
	case e.isKilled:
		notice.Signal = "SIGKILL"
	case exists && status.Start == e.start && !status.HasEnded():
		return debug.Notice{Report: debug.ReportGone, Text: "the debugger has ended"}
	case code != nil && e.signal != "" && unix.SignalNum(e.signal) == syscall.Signal(*code):
		notice.Signal = e.signal // lldb gives the number of the signal as the code
	default:
		notice.Code = code
	}
	return notice
}

func exited(status syscall.WaitStatus) debug.Notice {
	if status.Signaled() {
		return debug.Notice{Report: debug.ReportExited, Signal: unix.SignalName(status.Signal())}
	}
	code := status.ExitStatus()
	return debug.Notice{Report: debug.ReportExited, Code: &code}
}

// exitStatus reads how a process ended, which is there until its parent has read it.
func exitStatus(pid int, start uint64) (syscall.WaitStatus, bool) {
	const exitField, startField = 49, 19 // after the name
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= exitField || fields[0] != "Z" || fields[startField] != strconv.FormatUint(start, 10) {
		return 0, false
	}
	status, err := strconv.ParseUint(fields[exitField], 10, 32)
	return syscall.WaitStatus(status), err == nil
}
