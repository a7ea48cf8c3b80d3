package sdm

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// mostPoints bounds the breakpoints of a client.
const mostPoints = 1000

// A point is a breakpoint of the client in some ranks. Several points may have one id, in different ranks.
type point struct {
	id      int // of the client, from 0
	ranks   debug.Ranks
	ignored int // so many hits do not count
	debug.Breakpoint
}

// watchTypes are the types of watchpoints as clients know them.
var watchTypes = map[string]string{"write": "hw watchpoint", "read": "read watchpoint", "any": "acc watchpoint"}

// ignore sets how many hits do not count.
func (p *point) ignore(count int) {
	p.ignored, p.Hits = count, ""
	if count > 0 {
		p.Hits = ">=" + strconv.Itoa(count+1)
	}
}

// setEvent returns the event for a point that is set.
func (p *point) setEvent(placement debug.Placement) event {
	kind := "breakpoint"
	if p.Watch != "" {
		kind = watchTypes[p.Access]
	}
	id := strconv.Itoa(p.id)
	arguments := []string{id, id, strconv.Itoa(p.ignored), "0", "0", kind}
	return event{eventBreakpoint, append(append(arguments, location(placement.File, p.Function, "", placement.Line)...), "0")}
}

// refusal returns the error for a point that cannot be set.
func (p *point) refusal(text string) event {
	lower := strings.ToLower(text)
	switch {
	case p.Watch != "":
		return failure(codeNoSymbol, "No symbol \""+p.Watch+"\" in current context: "+text)
	case strings.Contains(lower, "symbol") && p.Condition != "":
		return failure(codeNoSymbol, text)
	case p.Function != "":
		return failure(codeNoFunction, "Function \""+p.Function+"\" not defined: "+text)
	case strings.Contains(lower, "no source file"):
		return failure(codeNoFile, "No source file named \""+p.File+"\"")
	}
	return failure(codeNoLine, fmt.Sprintf("No line %d in file %s: %s", p.Line, p.File, text))
}

// setLine sets a breakpoint at a line: id, temporary, hardware, file, line, condition, ignored hits, thread.
func (m *master) setLine(ctx context.Context, c *call) []result {
	line, err := strconv.ParseUint(c.arguments[4], 10, 31)
	if err != nil || c.arguments[3] == "" {
		return []result{{c.ranks, failure(codeOutOfRange, "Line number "+c.arguments[4]+" is out of range")}}
	}
	return m.setPoint(ctx, c, debug.Breakpoint{File: c.arguments[3], Line: int(line)})
}

// setFunction sets a breakpoint at a function. It ignores the file: debuggers find the function without it.
func (m *master) setFunction(ctx context.Context, c *call) []result {
	return m.setPoint(ctx, c, debug.Breakpoint{Function: c.arguments[4]})
}

func (m *master) setPoint(ctx context.Context, c *call, breakpoint debug.Breakpoint) []result {
	breakpoint.Temporary, breakpoint.Condition = isTrue(c.arguments[1]), c.arguments[5]
	if c.arguments[7] != "0" && c.arguments[7] != "" {
		return []result{{c.ranks, failure(codeUnsupported, "a breakpoint of one thread is not supported")}}
	}
	return m.add(ctx, c, breakpoint, c.arguments[6])
}

// setWatch sets a watchpoint: id, expression, access, read, condition, ignored hits.
func (m *master) setWatch(ctx context.Context, c *call) []result {
	access := "write"
	switch {
	case isTrue(c.arguments[2]):
		access = "any"
	case isTrue(c.arguments[3]):
		access = "read"
	}
	return m.add(ctx, c, debug.Breakpoint{Watch: c.arguments[1], Access: access, Condition: c.arguments[4]}, c.arguments[5])
}

// add sets a point in the ranks of a call, in place of one with the same id. Where it cannot be set, it is not kept.
func (m *master) add(ctx context.Context, c *call, breakpoint debug.Breakpoint, ignored string) []result {
	id, err := strconv.ParseUint(c.arguments[0], 10, 30)
	count, countErr := strconv.ParseUint(ignored, 10, 30)
	if err != nil || countErr != nil {
		return []result{{c.ranks, failure(codeDebugger, "Debugger error: invalid number in a breakpoint")}}
	}
	breakpoint.ID = int(id) + 1
	added := point{id: int(id), ranks: c.ranks, Breakpoint: breakpoint}
	added.ignore(int(count))
	m.mutex.Lock()
	isFull := len(m.points) >= mostPoints
	if !isFull {
		m.removePoint(added.id, c.ranks)
		m.points = append(m.points, added)
	}
	m.mutex.Unlock()
	if isFull {
		return []result{{c.ranks, failure(codeDebugger, "Debugger error: too many breakpoints")}}
	}
	var results []result
	var refused debug.Ranks
	for _, part := range m.place(ctx, c.ranks) {
		placement, isPlaced := placementOf(part, added.ID)
		switch {
		case part.Problem != "":
			results = append(results, result{part.Ranks, failureOf(part.Answer, codeNoBreakpoint, "")})
		case isPlaced:
			results = append(results, result{part.Ranks, added.setEvent(placement)})
		default:
			results = append(results, result{part.Ranks, added.refusal(placement.Text)})
		}
		if !isPlaced {
			refused = refused.Union(part.Ranks)
		}
	}
	m.drop(ctx, added.id, refused)
	return results
}

// placementOf returns where a breakpoint is in some ranks.
func placementOf(part debug.Part, id int) (debug.Placement, bool) {
	for _, placement := range part.Breakpoints {
		if placement.ID == id {
			return placement, placement.Verified && part.Problem == ""
		}
	}
	return debug.Placement{}, false
}

// drop removes a point from ranks, and from their debuggers.
func (m *master) drop(ctx context.Context, id int, ranks debug.Ranks) {
	if len(ranks) == 0 {
		return
	}
	m.mutex.Lock()
	m.removePoint(id, ranks)
	m.mutex.Unlock()
	m.place(ctx, ranks)
}

// removePoint removes a point from ranks. The mutex is held.
func (m *master) removePoint(id int, ranks debug.Ranks) {
	m.points = slices.DeleteFunc(m.points, func(p point) bool { return p.id == id && len(p.ranks.Without(ranks)) == 0 })
	for i := range m.points {
		if m.points[i].id == id {
			m.points[i].ranks = m.points[i].ranks.Without(ranks)
		}
	}
}

// place passes the points of ranks to their debuggers.
func (m *master) place(ctx context.Context, ranks debug.Ranks) []debug.Part {
	m.mutex.Lock()
	var order []string
	sets, breakpoints := map[string]debug.Ranks{}, map[string][]debug.Breakpoint{}
	each(ranks, func(rank int) {
		var all []debug.Breakpoint
		var key strings.Builder
		for i, p := range m.points {
			if has(p.ranks, rank) {
				fmt.Fprint(&key, i, " ")
				all = append(all, p.Breakpoint)
			}
		}
		if sets[key.String()] == nil {
			order = append(order, key.String())
			breakpoints[key.String()] = all
		}
		sets[key.String()] = appendRank(sets[key.String()], rank)
	})
	m.mutex.Unlock()
	questions := make([]debug.Question, len(order))
	for i, key := range order {
		questions[i] = debug.Question{Ranks: sets[key], Request: debug.Request{Verb: debug.SetBreakpoints, Breakpoints: breakpoints[key]}}
	}
	return m.query(ctx, questions...)
}

// changePoint returns the function for a command that changes points: its first argument is the id.
func changePoint(change func(p *point, arguments []string) bool) func(*master, context.Context, *call) []result {
	return func(m *master, ctx context.Context, c *call) []result {
		id, err := strconv.ParseUint(c.arguments[0], 10, 30)
		unknown := failure(codeNoBreakpoint, "No breakpoint number "+c.arguments[0])
		if err != nil {
			return []result{{c.ranks, unknown}}
		}
		before, changed, isValid := m.changePoints(int(id), c, change)
		var results []result
		if missing := c.ranks.Without(changed); len(missing) > 0 {
			results = append(results, result{missing, unknown})
		}
		if !isValid {
			return append(results, result{changed, failure(codeDebugger, "Debugger error: invalid argument")})
		}
		if len(changed) == 0 {
			return results
		}
		var refused debug.Ranks
		for _, part := range m.place(ctx, changed) {
			answer := ok()
			switch placement, isPlaced := placementOf(part, int(id)+1); {
			case part.Problem != "" && part.Problem != debug.NotRunning:
				answer = failureOf(part.Answer, codeNoBreakpoint, "")
			case part.Problem == "" && !isPlaced && placement.Text != "":
				answer, refused = failure(codeNoSymbol, placement.Text), refused.Union(part.Ranks)
			}
			results = append(results, result{part.Ranks, answer})
		}
		if len(refused) > 0 {
			m.mutex.Lock()
			m.points = before
			m.mutex.Unlock()
			m.place(ctx, refused)
		}
		return results
	}
}

// changePoints changes the points with an id in the ranks of a call. It returns all points as they were, and the ranks that
// have the point.
func (m *master) changePoints(id int, c *call, change func(*point, []string) bool) (before []point, changed debug.Ranks, isValid bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	before, isValid = slices.Clone(m.points), true
	for i, p := range before {
		here := common(p.ranks, c.ranks)
		if p.id != id || len(here) == 0 {
			continue
		}
		changed = changed.Union(here)
		m.points[i].ranks = p.ranks.Without(here)
		p.ranks = here
		if isValid = change(&p, c.arguments); !isValid {
			break
		}
		m.points = append(m.points, p)
	}
	if !isValid {
		m.points = before
	}
	m.points = slices.DeleteFunc(slices.Clone(m.points), func(p point) bool { return len(p.ranks) == 0 })
	return before, changed, isValid
}

func deletePoint(p *point, _ []string) bool { p.ranks = nil; return true }

func enablePoint(p *point, _ []string) bool { p.Disabled = false; return true }

func disablePoint(p *point, _ []string) bool { p.Disabled = true; return true }

func setCondition(p *point, arguments []string) bool { p.Condition = arguments[1]; return true }

func setIgnored(p *point, arguments []string) bool {
	count, err := strconv.ParseUint(arguments[1], 10, 30)
	p.ignore(int(count))
	return err == nil
}

// hit returns the id that the client knows of the breakpoint at which a rank stopped. A temporary one is no more, and
// not reported: clients take such a stop for a halt. The mutex is held.
func (m *master) hit(rank int, ids []int) (int, bool) {
	for _, p := range m.points {
		if !slices.Contains(ids, p.ID) || !has(p.ranks, rank) {
			continue
		}
		if p.Temporary {
			m.removePoint(p.id, span(rank))
			return 0, false
		}
		return p.id, true
	}
	return 0, false
}

// isTrue reports whether an argument means yes.
func isTrue(text string) bool { return text != "" && text != "0" && text != "false" }

// program returns the path of a program and its folder.
func program(name, folder string) string {
	if folder == "" || path.IsAbs(name) {
		return name
	}
	return path.Join(folder, name)
}
