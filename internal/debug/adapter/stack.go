package adapter

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

// mostFrames bounds the frames of an answer.
const mostFrames = 1000

// stackTrace answers with the frames of a thread. For ranks with different stacks these are the common innermost
// calls.
func (a *adapter) stackTrace(r *request, message *dap.StackTraceRequest) {
	arguments := message.Arguments
	t := a.find(r, arguments.ThreadId)
	if t == nil {
		return
	}
	if !t.isStopped() {
		a.fail(r, nameRanks(t.ranks)+" must be stopped for that")
		return
	}
	count := arguments.Levels
	if count <= 0 || count > mostFrames {
		count = mostFrames
	}
	first := max(0, arguments.StartFrame)
	asked := debug.Request{Verb: debug.Stack, Thread: t.number, First: first, Count: count}
	if t.ranks.Count() > 1 { // whether frames are equal depends on those before
		asked.First, asked.Count = 0, min(first+count, mostFrames)
	}
	if t.held == nil || !t.held.holds() {
		t.held = a.program.snapshot(t.ranks)
	}
	held := t.held
	a.askHeld(r, held, []debug.Question{{Ranks: t.ranks, Request: asked}}, func(parts []debug.Part) {
		if haveFailed(parts) {
			a.fail(r, describeProblems(parts))
			return
		}
		s := mergeStacks(parts)
		body, err := a.showStack(s, held, t.number, asked.First, first, count)
		if err != nil {
			a.fail(r, err.Error())
			return
		}
		a.respond(r, &dap.StackTraceResponse{Body: body})
	})
}

// A stack is the common part of the stacks of ranks, from the innermost call.
type stack struct {
	ranks  debug.Ranks // that have it
	frames []debug.Frame
	total  int
	others string // how the stacks differ after the frames, and which ranks have no answer; empty if all are equal
}

// mergeStacks returns the common part of stacks.
func mergeStacks(parts []debug.Part) stack {
	var s stack
	var problems []string
	var answered []debug.Part
	for _, part := range parts {
		if part.Problem != "" {
			problems = append(problems, nameSet(part.Ranks)+": "+problemOf(part.Answer))
			continue
		}
		if answered == nil {
			s.frames = part.Frames
		}
		answered = append(answered, part)
		s.ranks = append(slices.Clone(s.ranks), part.Ranks...).Merged()
		s.total = max(s.total, part.Total)
		same := 0
		for same < min(len(s.frames), len(part.Frames)) && s.frames[same] == part.Frames[same] {
			same++
		}
		s.frames = s.frames[:same]
	}
	callers := differentCallers(answered, len(s.frames))
	s.others = joined(append(callers, problems...))
	if len(callers) > 0 {
		s.total = len(s.frames)
	}
	s.total = max(s.total, len(s.frames))
	return s
}

// differentCallers lists which ranks have which frame at a level, if they differ.
func differentCallers(parts []debug.Part, level int) []string {
	ranks := map[debug.Frame]debug.Ranks{}
	var order []debug.Frame
	for _, part := range parts {
		var f debug.Frame
		if level < len(part.Frames) {
			f = part.Frames[level]
		}
		if ranks[f] == nil {
			order = append(order, f)
		}
		ranks[f] = append(ranks[f], part.Ranks...)
	}
	if len(order) < 2 {
		return nil
	}
	texts := make([]string, 0, mostNamed+1)
	for _, f := range order[:min(len(order), mostNamed+1)] {
		texts = append(texts, nameSet(ranks[f].Merged())+": "+cmp.Or(f.Place(), "no further frame"))
	}
	return texts
}

// joined returns the first texts as one line.
func joined(texts []string) string {
	if len(texts) > mostNamed {
		texts = append(slices.Clone(texts[:mostNamed]), "…")
	}
	return strings.Join(texts, " | ")
}

// showStack returns the requested frames of a stack, whose frames begin at level start.
func (a *adapter) showStack(s stack, held *snapshot, number, start, first, count int) (dap.StackTraceResponseBody, error) {
	body := dap.StackTraceResponseBody{StackFrames: []dap.StackFrame{}, TotalFrames: s.total}
	held = held.only(s.ranks)
	for i, f := range s.frames {
		if start+i < first || len(body.StackFrames) >= count {
			continue
		}
		id, err := a.addFrame(frame{held, number, start + i})
		if err != nil {
			return body, err
		}
		body.StackFrames = append(body.StackFrames, a.showFrame(id, f, s.ranks))
	}
	if s.others == "" {
		return body, nil
	}
	body.TotalFrames = s.total + 1
	isEnd := start+len(s.frames) >= s.total
	if len(body.StackFrames) < count && isEnd && first <= s.total {
		id, err := a.addFrame(frame{held, number, max(0, start+len(s.frames)-1)})
		if err != nil {
			return body, err
		}
		body.StackFrames = append(body.StackFrames, dap.StackFrame{Id: id, Name: "different callers: " + s.others, PresentationHint: "label"})
	}
	return body, nil
}

func (a *adapter) showFrame(id int, f debug.Frame, ranks debug.Ranks) dap.StackFrame {
	shown := dap.StackFrame{Id: id, Name: cmp.Or(f.Function, f.Address, "unknown function")}
	if f.File != "" {
		shown.Source, shown.Line, shown.Column = a.source(f.File, ranks), a.lineForEditor(f.Line), a.firstColumn()
		return shown
	}
	shown.PresentationHint = "subtle"
	if f.Module != "" {
		shown.Name = f.Place()
	}
	return shown
}

// lineForEditor returns a line as the editor counts them.
func (a *adapter) lineForEditor(line int) int {
	if a.client.LinesStartAt1 {
		return line
	}
	return max(0, line-1)
}

// lineOfEditor returns the line that an editor means, from 1.
func (a *adapter) lineOfEditor(line int) int {
	if a.client.LinesStartAt1 {
		return line
	}
	return line + 1
}

func (a *adapter) firstColumn() int {
	if a.client.ColumnsStartAt1 {
		return 1
	}
	return 0
}

// exceptionInfo says why a thread was stopped by a signal or an exception.
func (a *adapter) exceptionInfo(r *request, message *dap.ExceptionInfoRequest) {
	t := a.find(r, message.Arguments.ThreadId)
	switch {
	case t == nil:
		return
	case !t.isStopped() || t.state.Reason != debug.ReasonSignal && t.state.Reason != debug.ReasonException:
		a.fail(r, nameRanks(t.ranks)+" is not stopped by a signal or an exception")
		return
	}
	body := dap.ExceptionInfoResponseBody{
		ExceptionId: cmp.Or(t.state.Signal, t.state.Reason), BreakMode: "always",
		Description: cmp.Or(t.state.Text, t.state.String()) + " (" + nameRanks(t.ranks) + ")",
	}
	a.respond(r, &dap.ExceptionInfoResponse{Body: body})
}
