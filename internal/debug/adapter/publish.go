package adapter

import (
	"cmp"
	"slices"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/sorting"
)

// mostStops bounds how many stops are reported at a time if all threads have stopped.
const mostStops = 64

// publish sends the editor what has changed since the last time.
func (a *adapter) publish() {
	a.publishTimer = nil
	p := a.program
	if p == nil || p.isFinished {
		return
	}
	a.flushOutput(false)
	classes := p.session.Classes()
	gone, added := p.regroup(classes)
	p.references.sweep()
	a.announce(gone, added)
	a.announceBreakpoints()
	if p.hasEnded(classes) {
		a.finish()
	}
}

// announce reports threads that have begun, ended, stopped or gone on.
func (a *adapter) announce(gone, added []*thread) {
	for _, t := range gone {
		a.send("thread", &dap.ThreadEvent{Body: dap.ThreadEventBody{Reason: "exited", ThreadId: t.id}})
	}
	for _, t := range added {
		a.send("thread", &dap.ThreadEvent{Body: dap.ThreadEventBody{Reason: "started", ThreadId: t.id}})
	}
	p := a.program
	var stopped []*thread
	areAll := true
	for _, t := range p.threads {
		switch {
		case !t.isStopped():
			areAll = false
			a.announceRun(t)
		case t.announced != t.moment:
			stopped = append(stopped, t)
		}
	}
	a.announceStops(stopped, areAll)
	if p.isRenamed && len(stopped) == 0 && a.client.SupportsInvalidatedEvent { // after a stop, editors request the threads
		a.send("invalidated", &dap.InvalidatedEvent{Body: dap.InvalidatedEventBody{Areas: []dap.InvalidatedAreas{"threads"}}})
	}
	p.isRenamed = false
}

// announceRun reports that a thread runs, unless the editor requested that.
func (a *adapter) announceRun(t *thread) {
	isKnown := t.announced == 0 || t.resumed != 0
	t.announced = 0
	if !isKnown {
		a.send("continued", &continuedEvent{Body: continuedBody{ThreadID: t.id}})
	}
}

// A continuedEvent always says whether all threads continue. The type of package dap omits false, which editors
// take for true.
type continuedEvent struct {
	dap.Event

	Body continuedBody `json:"body"`
}

type continuedBody struct {
	ThreadID            int  `json:"threadId"`
	AllThreadsContinued bool `json:"allThreadsContinued"`
}

// announceStops reports stopped threads, the selected one first.
func (a *adapter) announceStops(stopped []*thread, areAll bool) {
	if len(stopped) == 0 {
		return
	}
	p := a.program
	isFocus := func(t *thread) int {
		if t.number == 0 && len(common(t.ranks, p.focus)) > 0 {
			return 0
		}
		return 1
	}
	sorting.Stable(stopped, func(x, y *thread) int { return cmp.Compare(isFocus(x), isFocus(y)) })
	hasFocus := isFocus(stopped[0]) == 0 || !p.focusSteps() && !p.focusIsStopped(stopped)
	if hasFocus {
		p.focus = stopped[0].ranks
	}
	isOne := areAll && len(stopped) > mostStops
	for i, t := range stopped {
		t.announced, t.resumed = t.moment, 0
		if i > 0 && isOne {
			continue
		}
		body := a.describeStop(t)
		body.PreserveFocusHint = i > 0 || !hasFocus
		body.AllThreadsStopped = isOne
		a.send("stopped", &dap.StoppedEvent{Body: body})
	}
}

// focusSteps reports whether the focus is in a step, which will end soon.
func (p *program) focusSteps() bool {
	for _, span := range p.focus {
		for rank := span.First; rank <= span.Last; rank++ {
			if p.isStepping && p.commands[rank] != nil {
				return true
			}
		}
	}
	return false
}

// focusIsStopped reports whether the focus is stopped since an earlier time.
func (p *program) focusIsStopped(now []*thread) bool {
	return slices.ContainsFunc(p.threads, func(t *thread) bool {
		return t.number == 0 && t.isStopped() && !slices.Contains(now, t) && len(common(t.ranks, p.focus)) > 0
	})
}

// describeStop returns why a thread has stopped.
func (a *adapter) describeStop(t *thread) dap.StoppedEventBody {
	state := t.state
	body := dap.StoppedEventBody{ThreadId: t.id, Text: state.Text}
	if t.number > 0 {
		body.Reason, body.Description, body.Text = "pause", "Stopped with "+nameRanks(t.ranks), ""
		return body
	}
	if state.Breakpoint > 0 {
		body.HitBreakpointIds = []int{state.Breakpoint}
	}
	switch state.Reason {
	case debug.ReasonEntry:
		body.Reason, body.Description = "entry", "Stopped at entry"
	case debug.ReasonMain:
		body.Reason, body.Description = "entry", "Stopped in main"
	case debug.ReasonBreakpoint:
		body.Reason, body.Description = a.breakpoints.reason(state.Breakpoint), "Stopped at breakpoint"
	case debug.ReasonWatch:
		body.Reason, body.Description = "data breakpoint", "Value changed"
	case debug.ReasonStep:
		body.Reason, body.Description = "step", "Stepped"
	case debug.ReasonSignal:
		body.Reason, body.Description = "exception", "Received "+cmp.Or(state.Signal, "a signal")
	case debug.ReasonException:
		body.Reason, body.Description = "exception", "Exception"
	default:
		body.Reason, body.Description = "pause", "Paused"
	}
	return body
}

// dropThreads ends all threads of a program to the editor.
func (a *adapter) dropThreads(p *program) {
	for _, t := range p.threads {
		a.send("thread", &dap.ThreadEvent{Body: dap.ThreadEventBody{Reason: "exited", ThreadId: t.id}})
	}
	p.threads, p.references = nil, newReferences()
}
