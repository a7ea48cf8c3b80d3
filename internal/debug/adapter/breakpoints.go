package adapter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

const (
	mostBreakpoints = 10000
	mostFiles       = 10000 // that have or had breakpoints
)

// A breakpoint is one of the editor.
type breakpoint struct {
	debug.Breakpoint
	problem  string      // why the ranks do not get it
	places   []placed    // where ranks have it
	reported debug.Ranks // whose report may be newer than an awaited answer
	shown    dap.Breakpoint
}

// placed is where some ranks have a breakpoint.
type placed struct {
	ranks debug.Ranks
	debug.Placement
}

// breakpoints are those of all ranks. Each kind is set as a whole, those in sources for each file.
type breakpoints struct {
	files      map[string][]*breakpoint
	functions  []*breakpoint
	watches    []*breakpoint
	exceptions []*breakpoint
	byID       map[int]*breakpoint
	lastID     int
	awaited    int // answers about their places
}

// all returns what the ranks get.
func (b *breakpoints) all() []debug.Breakpoint {
	var all []debug.Breakpoint
	add := func(some []*breakpoint) {
		for _, each := range some {
			if each.problem == "" {
				all = append(all, each.Breakpoint)
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(b.files)) {
		add(b.files[file])
	}
	add(b.functions)
	add(b.watches)
	add(b.exceptions)
	return all
}

// replace replaces some breakpoints. Equal ones keep their ids, and so the debuggers keep them.
func (b *breakpoints) replace(before, after []*breakpoint) {
	if b.byID == nil {
		b.byID = map[int]*breakpoint{}
	}
	for _, each := range before {
		delete(b.byID, each.ID)
	}
	for _, each := range after {
		at := slices.IndexFunc(before, func(old *breakpoint) bool {
			wanted := each.Breakpoint
			wanted.ID = old.ID
			return old.Breakpoint == wanted && old.problem == each.problem && b.byID[old.ID] == nil
		})
		if at >= 0 {
			each.ID, each.places, each.reported = before[at].ID, before[at].places, before[at].reported
		} else {
			b.lastID++
			each.ID = b.lastID
		}
		b.byID[each.ID] = each
	}
}

// reason returns the protocol's word for a stop at a breakpoint.
func (b *breakpoints) reason(id int) string {
	switch at := b.byID[id]; {
	case at == nil:
		return "breakpoint"
	case at.Function != "":
		return "function breakpoint"
	case at.Watch != "":
		return "data breakpoint"
	case at.Exception != "":
		return "exception"
	}
	return "breakpoint"
}

func (a *adapter) setBreakpoints(r *request, message *dap.SetBreakpointsRequest) {
	arguments := message.Arguments
	file := arguments.Source.Path
	if number := arguments.Source.SourceReference; number > 0 && number <= len(a.sources.files) {
		file = a.sources.files[number-1].path
	}
	all := &a.breakpoints
	switch {
	case file == "":
		a.fail(r, "the source of the breakpoints has no path")
		return
	case all.files[file] == nil && len(all.files) >= mostFiles:
		a.fail(r, "too many files have breakpoints")
		return
	case arguments.Breakpoints == nil:
		for _, line := range arguments.Lines { // of older editors
			arguments.Breakpoints = append(arguments.Breakpoints, dap.SourceBreakpoint{Line: line})
		}
	}
	after := make([]*breakpoint, 0, len(arguments.Breakpoints))
	for _, each := range arguments.Breakpoints {
		after = append(after, newBreakpoint(debug.Breakpoint{
			File: file, Line: a.lineOfEditor(each.Line), Condition: each.Condition, Log: each.LogMessage,
		}, each.HitCondition))
	}
	if all.files == nil {
		all.files = map[string][]*breakpoint{}
	}
	before := all.files[file]
	a.replaceBreakpoints(r, before, after, func() {
		if all.files[file] = after; len(after) == 0 {
			delete(all.files, file)
		}
	}, func(shown []dap.Breakpoint) {
		a.respond(r, &dap.SetBreakpointsResponse{Body: dap.SetBreakpointsResponseBody{Breakpoints: shown}})
	})
}

func (a *adapter) setFunctionBreakpoints(r *request, message *dap.SetFunctionBreakpointsRequest) {
	var after []*breakpoint
	for _, each := range message.Arguments.Breakpoints {
		after = append(after, newBreakpoint(debug.Breakpoint{Function: each.Name, Condition: each.Condition}, each.HitCondition))
	}
	a.replaceBreakpoints(r, a.breakpoints.functions, after, func() { a.breakpoints.functions = after }, func(shown []dap.Breakpoint) {
		a.respond(r, &dap.SetFunctionBreakpointsResponse{Body: dap.SetFunctionBreakpointsResponseBody{Breakpoints: shown}})
	})
}

// dataBreakpointInfo answers with the expression that a data breakpoint watches.
func (a *adapter) dataBreakpointInfo(r *request, message *dap.DataBreakpointInfoRequest) {
	arguments := message.Arguments
	body := dap.DataBreakpointInfoResponseBody{DataId: arguments.Name, Description: arguments.Name}
	if arguments.VariablesReference > 0 {
		v := a.reference(r, arguments.VariablesReference)
		if v == nil {
			return
		}
		expression := v.expressions[arguments.Name]
		if expression == "" && v.scope != "" {
			expression = arguments.Name
		}
		body = dap.DataBreakpointInfoResponseBody{DataId: expression, Description: expression}
	}
	if body.DataId == "" {
		body.DataId, body.Description = nil, strconv.Quote(arguments.Name)+" cannot be watched: the debugger knows no expression for it"
	} else {
		body.AccessTypes = []dap.DataBreakpointAccessType{"read", "write", "readWrite"}
	}
	a.respond(r, &dap.DataBreakpointInfoResponse{Body: body})
}

func (a *adapter) setDataBreakpoints(r *request, message *dap.SetDataBreakpointsRequest) {
	access := map[dap.DataBreakpointAccessType]string{"read": "read", "write": "write", "readWrite": "any"}
	var after []*breakpoint
	for _, each := range message.Arguments.Breakpoints {
		after = append(after, newBreakpoint(debug.Breakpoint{Watch: each.DataId, Access: access[each.AccessType], Condition: each.Condition}, each.HitCondition))
	}
	a.replaceBreakpoints(r, a.breakpoints.watches, after, func() { a.breakpoints.watches = after }, func(shown []dap.Breakpoint) {
		a.respond(r, &dap.SetDataBreakpointsResponse{Body: dap.SetDataBreakpointsResponseBody{Breakpoints: shown}})
	})
}

func (a *adapter) setExceptionBreakpoints(r *request, message *dap.SetExceptionBreakpointsRequest) {
	var after []*breakpoint
	add := func(filter, condition string) {
		added := newBreakpoint(debug.Breakpoint{Exception: filter, Condition: condition}, "")
		if !slices.Contains([]string{"throw", "catch", "panic"}, filter) {
			added.problem = "unknown exception filter " + quoted(filter)
		}
		after = append(after, added)
	}
	for _, filter := range message.Arguments.Filters {
		add(filter, "")
	}
	for _, option := range message.Arguments.FilterOptions {
		add(option.FilterId, option.Condition)
	}
	a.replaceBreakpoints(r, a.breakpoints.exceptions, after, func() { a.breakpoints.exceptions = after }, func(shown []dap.Breakpoint) {
		a.respond(r, &dap.SetExceptionBreakpointsResponse{Body: dap.SetExceptionBreakpointsResponseBody{Breakpoints: shown}})
	})
}

// replaceBreakpoints sets breakpoints on all ranks, and responds with where these are.
func (a *adapter) replaceBreakpoints(r *request, before, after []*breakpoint, store func(), respond func(shown []dap.Breakpoint)) {
	if len(a.breakpoints.byID)-len(before)+len(after) > mostBreakpoints {
		a.fail(r, "too many breakpoints")
		return
	}
	a.breakpoints.replace(before, after)
	store()
	show := func() {
		shown := make([]dap.Breakpoint, 0, len(after))
		for _, each := range after {
			each.shown = a.showBreakpoint(each)
			shown = append(shown, each.shown)
		}
		respond(shown)
	}
	p := a.program
	if p == nil || p.arguments.NoDebug || p.isFinished {
		show()
		return
	}
	a.awaitPlaces(p, p.session.SendBreakpoints(a.breakpoints.all()), show)
}

// awaitPlaces notes where ranks have the breakpoints once they have answered.
func (a *adapter) awaitPlaces(p *program, pending *debug.Pending, then func()) {
	ctx, cancel := context.WithTimeout(a.ctx, startLimit)
	a.breakpoints.await(1)
	a.tasks.Go(func() {
		defer cancel()
		parts := pending.Wait(ctx)
		a.post(func() {
			if p == a.program {
				a.breakpoints.placeAll(parts)
			}
			a.breakpoints.await(-1)
			then()
			a.announceBreakpoints()
		})
	})
}

// newBreakpoint returns a breakpoint that counts hits as an editor writes it.
func newBreakpoint(wanted debug.Breakpoint, hits string) *breakpoint {
	added := &breakpoint{Breakpoint: wanted}
	count, err := parseHits(hits)
	if err != nil {
		added.problem = err.Error()
	}
	added.Hits = count
	return added
}

// parseHits reads which hits of a breakpoint count.
func parseHits(text string) (string, error) {
	text = strings.ReplaceAll(text, " ", "")
	if text == "" {
		return "", nil
	}
	digits := strings.TrimLeft(text, "<>=%")
	operator := strings.TrimSuffix(text, digits)
	number, err := strconv.ParseUint(digits, 10, 31)
	switch {
	case err != nil || number == 0 && operator != ">":
	case operator == "" || operator == ">=":
		return ">=" + digits, nil
	case operator == ">":
		return ">=" + strconv.FormatUint(number+1, 10), nil
	case operator == "=" || operator == "==":
		return "=" + digits, nil
	case operator == "%":
		return "%" + digits, nil
	}
	return "", fmt.Errorf("invalid hit count %.100q: use 5, >=5, =5 or %%5", text)
}
