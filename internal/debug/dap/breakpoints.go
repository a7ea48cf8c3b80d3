package dap

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

const mostBreakpoints = 1000

// A location is where breakpoints are. A debugger takes one breakpoint at a location.
type location struct {
	file      string
	line      int
	function  string
	exception string
}

// A point is all breakpoints at a location.
type point struct {
	location
	condition string // of all of them together
	members   []debug.Breakpoint
	id        int // of the debugger
	placed    debug.Placement
}

// points are the breakpoints and watchpoints of an engine.
type points struct {
	points  []*point // functions in the order in which the debugger knows them
	watches []*watch
	wanted  []debug.Breakpoint
}

// setBreakpoints replaces the breakpoints.
func (e *Engine) setBreakpoints(ctx context.Context, request debug.Request) (debug.Answer, error) {
	if len(request.Breakpoints) > mostBreakpoints {
		return debug.Answer{}, refusal{"too many breakpoints"}
	}
	if err := e.hold(ctx); err != nil {
		return debug.Answer{}, err
	}
	answer, err := e.replace(ctx, request.Breakpoints)
	return answer, errors.Join(err, e.letGo(ctx))
}

func (e *Engine) replace(ctx context.Context, wanted []debug.Breakpoint) (debug.Answer, error) {
	e.placing.Lock()
	defer e.placing.Unlock()
	if err := e.apply(ctx, wanted); err != nil {
		return debug.Answer{}, err
	}
	var answer debug.Answer
	for _, breakpoint := range wanted {
		answer.Breakpoints = append(answer.Breakpoints, e.placement(breakpoint))
	}
	return answer, nil
}

// placement returns where a breakpoint is.
func (e *Engine) placement(breakpoint debug.Breakpoint) debug.Placement {
	if breakpoint.Disabled {
		return debug.Placement{ID: breakpoint.ID, Text: "disabled"}
	}
	if breakpoint.Watch != "" {
		for _, each := range e.points.watches {
			if each.ID == breakpoint.ID {
				return debug.Placement{ID: breakpoint.ID, Verified: each.number != 0, Text: each.text}
			}
		}
	}
	at := e.locate(breakpoint)
	for _, each := range e.points.points {
		if each.location == at {
			placed := each.placed
			placed.ID = breakpoint.ID
			return placed
		}
	}
	return debug.Placement{ID: breakpoint.ID, Text: "this debugger has no such breakpoints"}
}

func (e *Engine) locate(breakpoint debug.Breakpoint) location {
	switch {
	case breakpoint.Exception != "":
		return location{exception: breakpoint.Exception}
	case breakpoint.Function != "":
		return location{function: e.dialect.function(breakpoint.Function)}
	}
	return location{file: breakpoint.File, line: breakpoint.Line}
}

// apply makes the debugger have these breakpoints. placing is held.
func (e *Engine) apply(ctx context.Context, wanted []debug.Breakpoint) error {
	old := e.points.points
	e.points.wanted = slices.Clone(wanted)
	e.points.points = e.group(wanted, old)
	if err := e.placeFunctions(ctx, old); err != nil {
		return err
	}
	if err := e.placeLines(ctx, old); err != nil {
		return err
	}
	if err := e.placeExceptions(ctx, old); err != nil {
		return err
	}
	return e.placeWatches(ctx, wanted)
}

// group returns a point for each location, with its known state.
func (e *Engine) group(wanted []debug.Breakpoint, old []*point) []*point {
	var all []*point
	byLocation := map[location]*point{}
	for _, breakpoint := range wanted {
		if breakpoint.Disabled || breakpoint.Watch != "" {
			continue
		}
		at := e.locate(breakpoint)
		each := byLocation[at]
		if each == nil {
			each = &point{location: at}
			byLocation[at] = each
			all = append(all, each)
		}
		each.members = append(each.members, breakpoint)
	}
	for _, each := range all {
		each.condition = conditionOf(each.members)
		for _, known := range old {
			if known.location == each.location {
				each.id, each.placed = known.id, known.placed
			}
		}
	}
	return all
}

// conditionOf returns the condition under which one of several breakpoints stops.
func conditionOf(members []debug.Breakpoint) string {
	var conditions []string
	for _, member := range members {
		if member.Condition == "" {
			return ""
		}
		if !slices.Contains(conditions, member.Condition) {
			conditions = append(conditions, member.Condition)
		}
	}
	if len(conditions) == 1 {
		return conditions[0]
	}
	return "(" + strings.Join(conditions, ") || (") + ")"
}

// isSame reports whether the debugger has nothing to do for these points.
func isSame(a, b []*point) bool {
	return slices.EqualFunc(a, b, func(a, b *point) bool { return a.location == b.location && a.condition == b.condition })
}

func choose(all []*point, is func(*point) bool) []*point {
	var chosen []*point
	for _, each := range all {
		if is(each) {
			chosen = append(chosen, each)
		}
	}
	return chosen
}

// placeFunctions sets the breakpoints at functions. Some debuggers answer in another order; for these it sets
// each new one by a separate request.
func (e *Engine) placeFunctions(ctx context.Context, old []*point) error {
	isFunction := func(point *point) bool { return point.function != "" }
	now, before := choose(e.points.points, isFunction), choose(old, isFunction)
	if isSame(now, before) {
		return nil
	}
	if e.dialect.keepsOrder() {
		return e.sendFunctions(ctx, now)
	}
	known := choose(now, func(point *point) bool { return point.id != 0 })
	if len(before) > 0 {
		if err := e.sendFunctions(ctx, known); err != nil {
			return err
		}
	}
	for _, each := range now {
		if each.id != 0 {
			continue
		}
		known = append(known, each)
		if err := e.sendFunctions(ctx, known); err != nil {
			return err
		}
	}
	return nil
}

// sendFunctions sets breakpoints at functions. At most one is new unless the debugger keeps the order.
func (e *Engine) sendFunctions(ctx context.Context, list []*point) error {
	breakpoints := []map[string]any{}
	for _, each := range list {
		breakpoints = append(breakpoints, withCondition(map[string]any{"name": each.function}, each.condition))
	}
	body, err := answerOf[breakpointsBody](ctx, e.debugger.client, "setFunctionBreakpoints", map[string]any{"breakpoints": breakpoints})
	if err != nil {
		return err
	}
	for i, placed := range body.Breakpoints {
		var each *point
		if e.dialect.keepsOrder() && i < len(list) {
			each = list[i]
		} else if !e.dialect.keepsOrder() {
			each = byID(list, placed.ID)
		}
		if each != nil {
			each.place(placed)
		}
	}
	return nil
}

func withCondition(breakpoint map[string]any, condition string) map[string]any {
	if condition != "" {
		breakpoint["condition"] = condition
	}
	return breakpoint
}

// byID returns the point that a debugger gave a number, or the one without a number.
func byID(list []*point, id int) *point {
	var unnumbered *point
	for _, each := range list {
		if each.id == id {
			return each
		}
		if each.id == 0 {
			unnumbered = each
		}
	}
	return unnumbered
}

// place records the debugger's answer for a point.
func (p *point) place(placed placed) {
	p.id = placed.ID
	p.placed.Verified, p.placed.Text = placed.Verified, bounded(placed.Message)
	if !placed.Verified && p.placed.Text == "" {
		p.placed.Text = "not found yet"
	}
	if !placed.Verified {
		p.placed.File, p.placed.Line = "", 0
		return
	}
	if placed.Source.Path != "" {
		p.placed.File = bounded(placed.Source.Path)
	}
	if placed.Line > 0 {
		p.placed.Line = placed.Line
	}
}

// placeLines sets the breakpoints of each file that has other ones than before.
func (e *Engine) placeLines(ctx context.Context, old []*point) error {
	var files []string
	for _, each := range slices.Concat(e.points.points, old) {
		if each.file != "" && !slices.Contains(files, each.file) {
			files = append(files, each.file)
		}
	}
	for _, file := range files {
		isThere := func(point *point) bool { return point.file == file }
		now := choose(e.points.points, isThere)
		if isSame(now, choose(old, isThere)) {
			continue
		}
		if err := e.sendLines(ctx, file, now); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) sendLines(ctx context.Context, file string, list []*point) error {
	path, err := e.dialect.path(ctx, e, file)
	if err != nil {
		for _, each := range list {
			each.placed = debug.Placement{Text: bounded(e.dialect.message(err.Error()))}
		}
		return e.debugger.err()
	}
	breakpoints := []map[string]any{}
	for _, each := range list {
		breakpoints = append(breakpoints, withCondition(map[string]any{"line": each.line}, each.condition))
	}
	arguments := map[string]any{"source": map[string]any{"path": path}, "breakpoints": breakpoints}
	body, err := answerOf[breakpointsBody](ctx, e.debugger.client, "setBreakpoints", arguments)
	if err != nil {
		return err
	}
	for i, placed := range body.Breakpoints[:min(len(body.Breakpoints), len(list))] {
		list[i].place(placed)
	}
	return nil
}

// placeExceptions sets the breakpoints at exceptions. The engine checks their conditions.
func (e *Engine) placeExceptions(ctx context.Context, old []*point) error {
	isException := func(point *point) bool { return point.exception != "" }
	now, before := choose(e.points.points, isException), choose(old, isException)
	filters := []string{}
	for _, each := range now {
		filter := e.dialect.exception(each.exception)
		each.placed = debug.Placement{Verified: filter != ""}
		if filter == "" {
			each.placed.Text = "this debugger does not stop at such exceptions"
			continue
		}
		filters = append(filters, filter)
	}
	if isSame(now, before) {
		return nil
	}
	_, err := e.debugger.call(ctx, "setExceptionBreakpoints", map[string]any{"filters": filters})
	return err
}
