package adapter

import (
	"cmp"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

func (a *adapter) goOn(r *request, message *dap.ContinueRequest) {
	a.resume(r, message.Arguments.ThreadId, debug.Request{Verb: debug.Continue}, func() {
		a.respond(r, &dap.ContinueResponse{})
	})
}

func (a *adapter) next(r *request, message *dap.NextRequest) {
	a.step(r, message.Arguments.ThreadId, debug.StepOver, message.Arguments.Granularity, &dap.NextResponse{})
}

func (a *adapter) stepIn(r *request, message *dap.StepInRequest) {
	a.step(r, message.Arguments.ThreadId, debug.StepInto, message.Arguments.Granularity, &dap.StepInResponse{})
}

func (a *adapter) stepOut(r *request, message *dap.StepOutRequest) {
	a.step(r, message.Arguments.ThreadId, debug.StepOut, message.Arguments.Granularity, &dap.StepOutResponse{})
}

func (a *adapter) step(r *request, threadID int, step string, granularity dap.SteppingGranularity, response dap.ResponseMessage) {
	if granularity == "instruction" {
		a.fail(r, "unsupported: stepping by instructions")
		return
	}
	a.resume(r, threadID, debug.Request{Verb: debug.Step, Text: step, Count: 1}, func() { a.respond(r, response) })
}

// resume lets the ranks of a thread run, and no others.
func (a *adapter) resume(r *request, threadID int, request debug.Request, respond func()) {
	t := a.find(r, threadID)
	if t == nil {
		return
	}
	if !t.isStopped() {
		a.fail(r, nameRanks(t.ranks)+" must be stopped for that")
		return
	}
	request.Thread = t.number
	a.program.isStepping = request.Verb == debug.Step
	t.resumed = t.moment
	a.control(r, t, request, respond)
}

func (a *adapter) pause(r *request, message *dap.PauseRequest) {
	t := a.find(r, message.Arguments.ThreadId)
	if t == nil {
		return
	}
	if t.isStopped() {
		a.fail(r, cmp.Or(t.name, "the thread")+" is stopped already")
		return
	}
	a.program.isStepping = false
	a.control(r, t, debug.Request{Verb: debug.Halt}, func() { a.respond(r, &dap.PauseResponse{}) })
}

// control passes a command to the ranks of a thread. Their stops are reported after the response.
func (a *adapter) control(r *request, t *thread, request debug.Request, respond func()) {
	p := a.program
	p.focus = t.ranks
	moved := p.move(t.ranks)
	pending := p.session.Send(debug.Question{Ranks: t.ranks, Request: request})
	a.ask(r, answerLimit, pending, func(parts []debug.Part) {
		if p != a.program {
			a.fail(r, errRan.Error())
			return
		}
		if haveFailed(parts) {
			t.resumed = 0
			a.fail(r, describeProblems(parts))
		} else {
			respond()
			a.reportProblems("cannot "+r.Command, parts)
		}
		a.acknowledge(moved, parts)
	})
}
