package adapter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/go-dap"
	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/debug"
)

// killsByDefault reports whether the program ends with the session if the editor does not say.
func (a *adapter) killsByDefault() bool {
	return a.program == nil || !a.program.arguments.IsAttach
}

// end ends or releases the program, then calls then. From here on the session has no other program.
func (a *adapter) end(kill bool, then func(err error)) {
	a.isEnding = true
	if a.launching != nil {
		a.launching.cancel()
	}
	p := a.program
	a.tasks.Go(func() {
		var err error
		if p != nil {
			err = a.endProgram(p, kill)
		}
		a.post(func() { then(err) })
	})
}

// endProgram ends or releases a program once. It may be called by any goroutine.
func (a *adapter) endProgram(p *program, kill bool) error {
	p.ending.Do(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), endLimit)
		defer cancel()
		p.endError = p.launched.End(ctx, kill)
		p.cancel()
	})
	return p.endError
}

func (a *adapter) disconnect(r *request, _ *dap.DisconnectRequest) {
	var message struct {
		Arguments struct {
			TerminateDebuggee *bool `json:"terminateDebuggee"` // absent is not false
			SuspendDebuggee   bool  `json:"suspendDebuggee"`
		} `json:"arguments"`
	}
	if err := json.Unmarshal(r.content, &message); err != nil {
		a.fail(r, "invalid request: "+err.Error())
		return
	}
	if a.isEnding {
		a.fail(r, "the session ends already")
		return
	}
	if message.Arguments.SuspendDebuggee {
		a.fail(r, "unsupported: rmctl leaves no rank stopped when it disconnects")
		return
	}
	kill := a.killsByDefault()
	if wish := message.Arguments.TerminateDebuggee; wish != nil {
		kill = *wish
	}
	a.end(kill, func(err error) {
		a.flushOutput(true)
		if err != nil {
			a.fail(r, "ending the session: "+err.Error())
		} else {
			a.respond(r, &dap.DisconnectResponse{})
		}
		a.isOver = true
	})
}

// terminate ends the program. The session continues until the editor disconnects.
func (a *adapter) terminate(r *request, _ *dap.TerminateRequest) {
	p := a.program
	if p == nil && a.launching == nil {
		a.fail(r, "no program has been launched")
		return
	}
	if p == nil {
		a.launching.cancel()
		a.respond(r, &dap.TerminateResponse{})
		return
	}
	a.tasks.Go(func() {
		err := a.endProgram(p, true)
		a.post(func() {
			if err != nil {
				a.fail(r, "ending the program: "+err.Error())
				return
			}
			a.respond(r, &dap.TerminateResponse{})
			if p == a.program {
				a.takeReports()
				a.finish()
			}
		})
	})
}

// jobEnded notes that the job of the program has ended. Its ranks may still report.
func (a *adapter) jobEnded() {
	a.program.isDone = true
	a.doneTimer = time.After(doneTime)
	a.takeReports()
	a.publish()
}

// finish reports the end of the program.
func (a *adapter) finish() {
	p := a.program
	a.doneTimer = nil
	if p == nil || p.isFinished {
		return
	}
	p.isFinished = true
	a.flushOutput(true)
	a.dropThreads(p)
	a.send("exited", &dap.ExitedEvent{Body: dap.ExitedEventBody{ExitCode: worstCode(p.session.Classes())}})
	a.send("terminated", &dap.TerminatedEvent{})
}

// drop forgets a program for another one.
func (a *adapter) drop(p *program) {
	a.takeReports()
	a.flushOutput(true)
	a.dropThreads(p)
	a.breakpoints.unplace()
	a.program, a.publishTimer, a.outputTimer, a.doneTimer = nil, nil, nil, nil
}

// hasEnded reports whether all ranks of a program have ended or are no longer debugged.
func (p *program) hasEnded(classes []debug.Class) bool {
	count := 0
	for _, class := range classes {
		switch class.State {
		case debug.Exited, debug.Released, debug.Lost:
			count += class.Ranks.Count()
		default:
			return false
		}
	}
	return p.isStarted && count > 0 && count >= p.launched.Size
}

// signalBase is added to the number of a signal for the exit code that a shell has for it.
const signalBase = 128

// worstCode returns the exit code of the program: the highest one of its ranks, as a shell has it.
func worstCode(classes []debug.Class) int {
	worst := 0
	for _, class := range classes {
		code := 0
		switch {
		case class.State == debug.Lost:
			code = 1
		case class.State == debug.Exited && class.Signal != "":
			code = signalBase + int(unix.SignalNum(class.Signal))
		case class.State == debug.Exited:
			code = class.Code
		}
		worst = max(worst, code)
	}
	return worst
}
