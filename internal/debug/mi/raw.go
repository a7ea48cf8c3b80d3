package mi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
)

// raw runs a command of gdb's console.
func (e *Engine) raw(ctx context.Context, request debug.Request) debug.Answer {
	word, _, _ := strings.Cut(strings.TrimSpace(request.Text), " ")
	if slices.Contains([]string{"r", "run", "start", "starti", "attach", "q", "quit", "exit"}, word) {
		return debug.Answer{Problem: debug.Unsupported, Text: word + " would end what rmctl debugs"}
	}
	command := "-interpreter-exec" + e.selection(request) + " console " + quoted(request.Text)
	e.mutex.Lock()
	e.lastRun, e.isGone = command, false
	e.mutex.Unlock()
	answer := e.call(ctx, command)[0]
	e.settle(ctx)
	if answer.err != nil {
		return problemOf(answer.err)
	}
	return debug.Answer{Text: strings.ToValidUTF8(answer.printed, "\uFFFD")}
}

// settle reports where the process is, if a function that gdb called in it stopped, and that it is gone, if a
// command detached or killed it.
func (e *Engine) settle(ctx context.Context) {
	e.mutex.Lock()
	stray := e.stray
	e.stray = nil
	if e.isGone && e.phase == stopped {
		e.leave(ended)
		if status, exists := guard.ReadStatus(e.pid); exists && !status.HasEnded() {
			e.notices.add(debug.Notice{Report: debug.ReportGone, Text: "detached"})
		} else {
			e.notices.add(debug.Notice{Report: debug.ReportExited, Signal: "SIGKILL"})
		}
	}
	isStopped := e.phase == stopped
	e.mutex.Unlock()
	if stray == nil || !isStopped {
		return
	}
	answer := e.call(ctx, fmt.Sprintf("-stack-list-frames --thread %d 0 0", stray.Thread))[0]
	frames := answer.values.Get("stack").Items
	if answer.err != nil || len(frames) == 0 {
		return
	}
	frame := e.frameOf(frames[0])
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.last.Frame != nil && *e.last.Frame == frame {
		return // gdb has left the function
	}
	stray.Frame = &frame
	e.last = *stray
	e.notices.add(e.last)
}
