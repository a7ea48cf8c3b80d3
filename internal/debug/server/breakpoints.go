package server

import (
	"context"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

const (
	// mainID is the breakpoint at the begin of the program, which the client does not know.
	mainID = 1 << 30
	// mostLog bounds the line of a log point, in bytes.
	mostLog = 16 << 10
)

// A breakRule is a breakpoint of the client, with its rules in the server.
type breakRule struct {
	debug.Breakpoint
	problem string // why it is not set
	rule    hitRule
	parts   []logPart
	hits    int
}

// isOwn reports whether the server decides when the breakpoint stops the process.
func (b *breakRule) isOwn() bool { return b.Hits != "" || b.Log != "" }

// forEngine returns the breakpoint as the debugger gets it.
func (b *breakRule) forEngine(rank int) debug.Breakpoint {
	simple := b.Breakpoint
	simple.Condition = withRank(b.Condition, rank)
	if b.isOwn() {
		simple.Hits, simple.Log, simple.Temporary = "", "", false
	}
	return simple
}

// rulesOf returns the rules of breakpoints. Those that were there before keep their hits.
func rulesOf(breakpoints []debug.Breakpoint, before []breakRule, rank int) []breakRule {
	rules := make([]breakRule, 0, len(breakpoints))
	for _, each := range breakpoints {
		rule := breakRule{Breakpoint: each, parts: parseLog(each.Log, rank)}
		var err error
		if rule.rule, err = parseHits(each.Hits); err != nil {
			rule.problem = err.Error()
		}
		if each.ID <= 0 || each.ID >= mainID {
			rule.problem = "invalid id of a breakpoint"
		}
		if at := slices.IndexFunc(before, func(b breakRule) bool { return b.Breakpoint == each }); at >= 0 {
			rule.hits = before[at].hits
		}
		rules = append(rules, rule)
	}
	return rules
}

// setBreakpoints replaces all breakpoints. Before the start of the program they are only kept.
func (s *server) setBreakpoints(ctx context.Context, breakpoints []debug.Breakpoint) debug.Answer {
	var isReady bool
	s.change(func() {
		s.broken = rulesOf(breakpoints, s.broken, s.Rank)
		isReady = s.shown == debug.Ready
	})
	if isReady {
		return debug.Answer{Breakpoints: s.placements(nil)}
	}
	engine, problem := s.attached()
	if engine == nil {
		return problem
	}
	limited, cancel := context.WithTimeout(ctx, longLimit)
	defer cancel()
	if !s.lock(limited) {
		return debug.Answer{Problem: debug.Silent, Text: "the debugger is busy"}
	}
	defer s.unlock()
	return s.placeBreakpoints(limited, engine)
}

// placeBreakpoints gives the debugger all breakpoints. The caller has the lock.
func (s *server) placeBreakpoints(ctx context.Context, engine Engine) debug.Answer {
	request := debug.Request{Verb: debug.SetBreakpoints}
	s.mutex.Lock()
	for i := range s.broken {
		if s.broken[i].problem == "" {
			request.Breakpoints = append(request.Breakpoints, s.broken[i].forEngine(s.Rank))
		}
	}
	if s.awaitsMain {
		request.Breakpoints = append(request.Breakpoints, debug.Breakpoint{ID: mainID, Function: "main", Temporary: true})
	}
	s.mutex.Unlock()
	answer := engine.Do(ctx, request)
	if answer.Problem != "" {
		return answer
	}
	if s.isMainUnknown(answer.Breakpoints) {
		s.change(func() { s.awaitsMain = false })
		return s.placeBreakpoints(ctx, engine)
	}
	answer.Breakpoints = s.placements(answer.Breakpoints)
	return answer
}

// isMainUnknown reports whether the debugger has not found where the program begins.
func (s *server) isMainUnknown(placed []debug.Placement) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.awaitsMain && !slices.ContainsFunc(placed, func(p debug.Placement) bool { return p.ID == mainID && p.Verified })
}

// placements returns where the client's breakpoints are, in their order.
func (s *server) placements(placed []debug.Placement) []debug.Placement {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	result := make([]debug.Placement, 0, len(s.broken))
	for _, each := range s.broken {
		placement := debug.Placement{ID: each.ID, Text: each.problem}
		at := slices.IndexFunc(placed, func(p debug.Placement) bool { return p.ID == each.ID })
		if each.problem == "" && at >= 0 {
			placement = placed[at]
		}
		result = append(result, placement)
	}
	return result
}

// A verdict is the consequence of the breakpoints that the process stopped at.
type verdict struct {
	isStop    bool        // some of them counts, or it is no breakpoint that stopped the process
	logs      [][]logPart // what is printed
	isRemoved bool        // some of them were there for one stop only
}

// judge counts hits, and removes breakpoints that the client does not know from the notice.
func (s *server) judge(notice *debug.Notice) verdict {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if at := slices.Index(notice.Breakpoints, mainID); at >= 0 {
		notice.Breakpoints = slices.Delete(slices.Clone(notice.Breakpoints), at, at+1)
		notice.Reason = debug.ReasonMain
		s.awaitsMain = false
	}
	result := verdict{isStop: notice.Reason == debug.ReasonMain || len(notice.Breakpoints) == 0}
	var stops []int
	for i := range s.broken {
		each := &s.broken[i]
		if !slices.Contains(notice.Breakpoints, each.ID) {
			continue
		}
		each.hits++
		switch {
		case !each.rule.counts(each.hits):
			continue
		case each.Log != "":
			result.logs = append(result.logs, each.parts)
		default:
			stops = append(stops, each.ID)
			result.isStop = true
		}
		if each.Temporary {
			each.problem = "temporary breakpoint"
			result.isRemoved = result.isRemoved || each.isOwn()
		}
	}
	if s.isStep && !result.isStop {
		// The debugger has ended the step. To continue would run past its end.
		notice.Reason, result.isStop = debug.ReasonStep, true
	}
	if len(notice.Breakpoints) > 0 {
		notice.Breakpoints = stops
	}
	return result
}

// printLog prints the text of a log point. The caller has the lock.
func (s *server) printLog(ctx context.Context, engine Engine, thread int, parts []logPart) {
	var line strings.Builder
	for _, part := range parts {
		text := part.text
		if part.isExpression {
			answer := engine.Do(ctx, debug.Request{Verb: debug.Evaluate, Thread: thread, Text: part.text})
			text = answer.Text
			if len(answer.Variables) > 0 {
				text = answer.Variables[0].Value
			}
		}
		line.WriteString(text)
		if line.Len() > mostLog {
			break
		}
	}
	text := line.String()
	s.out.print(debug.StreamLog, strings.ToValidUTF8(text[:min(len(text), mostLog)], "")+"\n")
}
