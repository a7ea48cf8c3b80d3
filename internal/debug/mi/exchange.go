package mi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
)

// A result is gdb's answer to a command.
type result struct {
	values  Value
	printed string // text for people
	isRun   bool   // the process runs
	err     error
}

const (
	longestPrinted = 256 << 10 // of one command
	// rescueAfter is which part of its time a command may take until the engine stops the function that gdb may be calling in the process.
	rescueAfter = 0.75
)

// call sends commands at once, and returns their results in order. A debugger that does not answer before the
// deadline is broken.
func (e *Engine) call(ctx context.Context, commands ...string) []result {
	results := make([]result, len(commands))
	if len(commands) == 0 {
		return results
	}
	answered := make(chan struct{})
	left := len(commands)
	e.mutex.Lock()
	err := e.broken
	if err == nil && ctx.Err() != nil {
		err = ErrHangs
	}
	var text strings.Builder
	for i, command := range commands {
		if err != nil {
			results[i].err = err
			continue
		}
		e.token++
		e.waiting[e.token] = func(answer result) {
			results[i] = answer
			if left--; left == 0 {
				close(answered)
			}
		}
		text.WriteString(strconv.Itoa(e.token) + command + "\n")
	}
	first := e.token - len(commands) + 1
	e.mutex.Unlock()
	if err != nil {
		return results
	}
	if deadline, hasDeadline := ctx.Deadline(); hasDeadline {
		_ = e.input.SetWriteDeadline(deadline)
	}
	if _, err := e.input.WriteString(text.String()); err != nil {
		e.fail(reasonOf(err))
	}
	if e.waitAnswers(ctx, answered) {
		return results
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.fail(ErrHangs)
	}
	return e.abandon(first, results)
}

// waitAnswers reports whether the answers arrive before the context ends.
func (e *Engine) waitAnswers(ctx context.Context, answered <-chan struct{}) bool {
	deadline, _ := ctx.Deadline()
	rescue := time.NewTimer(time.Duration(float64(time.Until(deadline)) * rescueAfter))
	defer rescue.Stop()
	for {
		select {
		case <-answered:
			return true
		case <-ctx.Done():
			return false
		case <-rescue.C:
			e.mutex.Lock()
			if e.phase == stopped {
				e.sendStop()
			}
			e.mutex.Unlock()
		}
	}
}

// abandon forgets commands that are not answered.
func (e *Engine) abandon(first int, results []result) []result {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	abandoned := make([]result, len(results))
	copy(abandoned, results)
	for i := range results {
		if _, isWaiting := e.waiting[first+i]; isWaiting {
			delete(e.waiting, first+i)
			abandoned[i].err = ErrHangs
		}
	}
	return abandoned
}

// post sends a command without waiting for its result. The caller holds the mutex.
func (e *Engine) post(command string, answered func(result)) {
	e.token++
	e.waiting[e.token] = answered
	line := strconv.Itoa(e.token) + command + "\n"
	_ = e.input.SetWriteDeadline(time.Now().Add(answerWithin))
	_, _ = e.input.WriteString(line)
}

// fail makes the debugger broken: all commands fail from then on.
func (e *Engine) fail(err error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.broken != nil {
		return
	}
	e.broken = err
	waiting := e.waiting
	e.waiting = map[int]func(result){}
	for _, answered := range waiting {
		answered(result{err: err})
	}
	if e.phase != detached && e.phase != ended {
		e.notices.add(debug.Notice{Report: debug.ReportGone, Text: err.Error()})
	}
	e.leave(ended)
}

// leave changes the phase of the process. The caller holds the mutex.
func (e *Engine) leave(to phase) {
	e.phase = to
	select {
	case <-e.halted:
	default:
		close(e.halted)
	}
}

func reasonOf(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrHangs
	case errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE):
		return ErrCrashed
	}
	return fmt.Errorf("%w: %w", ErrCrashed, err)
}

// waitHalted waits until the process does not run.
func (e *Engine) waitHalted(ctx context.Context) error {
	e.mutex.Lock()
	halted := e.halted
	e.mutex.Unlock()
	select {
	case <-halted:
		e.mutex.Lock()
		defer e.mutex.Unlock()
		return e.broken
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return ErrHangs
		}
		return context.Cause(ctx)
	}
}

// read handles all records of gdb.
func (e *Engine) read() {
	defer close(e.done)
	for {
		line, err := e.readLine()
		if err != nil {
			e.fail(reasonOf(err))
			return
		}
		record, err := ParseRecord(line)
		if err != nil {
			continue // text for people
		}
		e.mutex.Lock()
		e.apply(record)
		e.mutex.Unlock()
	}
}

// apply handles a record. The caller holds the mutex.
func (e *Engine) apply(record Record) {
	switch {
	case record.Kind == '^':
		e.applyResult(record)
	case record.Kind == '~' && e.printed.Len()+len(record.Text) <= longestPrinted:
		e.printed.WriteString(record.Text)
	case record.Kind == '&':
		e.applyLog(record.Text)
	case record.Kind == '*' && record.Class == "running":
		e.applyRunning()
	case record.Kind == '*' && record.Class == "stopped":
		e.applyStopped(record.Results)
	case record.Kind == '=':
		e.applyEvent(record)
	}
}

func (e *Engine) applyResult(record Record) {
	answer := result{values: record.Results, printed: e.printed.String(), isRun: record.Class == "running"}
	e.printed.Reset()
	if record.Class == "error" {
		answer.err = CommandError{record.Results.Get("msg").Text}
	}
	if answer.isRun {
		e.applyRunning()
	}
	answered, isWaiting := e.waiting[record.Token]
	if !isWaiting {
		return
	}
	delete(e.waiting, record.Token)
	answered(answer)
}

// applyLog handles a message of gdb. One that comes while the process should run may say that it does not.
func (e *Engine) applyLog(text string) {
	if strings.HasPrefix(text, "warning: ") {
		e.notices.add(debug.Notice{Report: debug.ReportOutput, Stream: debug.StreamDebugger, Text: clip(text)})
	}
	if e.phase == running {
		e.post("-thread-info", e.applyProbe)
	}
}

// applyProbe reports a stop that gdb has not reported.
func (e *Engine) applyProbe(answer result) {
	if answer.err != nil || e.phase != running {
		return
	}
	current := answer.values.Get("current-thread-id").Text
	for _, thread := range answer.values.Get("threads").Items {
		if thread.Get("id").Text == current && thread.Get("state").Text == "stopped" {
			thread.Items = append(thread.Items, Value{Name: "thread-id", Text: current})
			e.applyStopped(thread)
		}
	}
}
