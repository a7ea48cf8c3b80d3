package dap

import (
	"context"
	"slices"

	"github.com/rmctl/rmctl/debug"
)

// moved handles news of the debugger about a breakpoint.
func (e *Engine) moved(ctx context.Context, news placed) {
	e.placing.Lock()
	placements := e.update(ctx, news)
	e.placing.Unlock()
	if len(placements) > 0 {
		e.options.Notify(debug.Notice{Report: debug.ReportPlaced, Placements: placements})
	}
}

// update returns the placements of breakpoints that news change.
func (e *Engine) update(ctx context.Context, news placed) []debug.Placement {
	i := slices.IndexFunc(e.points.points, func(point *point) bool { return point.id != 0 && point.id == news.ID })
	if i < 0 || e.points.points[i].exception != "" {
		return nil
	}
	each := e.points.points[i]
	before := each.placed
	each.place(news)
	if each.placed.Verified && each.placed.File == "" && each.function != "" {
		// Events have no file, answers have one. An error is that of the next request too.
		_ = e.sendFunctions(ctx, choose(e.points.points, func(point *point) bool { return point.function != "" && point.id != 0 }))
	}
	if each.placed.Verified && each.placed.File == "" {
		each.placed.File = each.file
	}
	if each.placed == before {
		return nil
	}
	var placements []debug.Placement
	for _, member := range each.members {
		placement := each.placed
		placement.ID = member.ID
		placements = append(placements, placement)
	}
	return placements
}

// A cause is the debugger's reason for a stop.
type cause struct {
	points    []int // numbers of the debugger
	exception string
	watches   []int // numbers of the debugger
}

// hits adds the breakpoints to the notice of a stop, and removes temporary ones. It reports false if conditions
// that the engine checks let the process continue.
func (e *Engine) hits(ctx context.Context, thread int, stop stopNotice) (debug.Notice, bool) {
	e.placing.Lock()
	defer e.placing.Unlock()
	at := stopPlace{thread: thread, cause: stop.cause}
	for _, each := range e.points.points {
		if at.isAt(each) {
			at.addMembers(ctx, e, each)
		}
	}
	for _, each := range e.points.watches {
		if each.number != 0 && slices.Contains(stop.cause.watches, each.number) {
			at.addWatch(ctx, e, each)
		}
	}
	notice := stop.Notice
	if at.text != "" {
		notice.Text = at.text
	}
	for _, each := range at.hit {
		notice.Breakpoints = append(notice.Breakpoints, each.ID)
	}
	e.removeTemporary(ctx, at.hit)
	return notice, len(at.hit) > 0 || !at.isChecked
}

// A stopPlace is the place of a stop.
type stopPlace struct {
	thread    int
	cause     cause
	hit       []debug.Breakpoint
	text      string // how a watched value changed
	isChecked bool   // a condition has decided
}

func (s *stopPlace) isAt(point *point) bool {
	if point.exception != "" {
		return point.exception == s.cause.exception
	}
	return point.id != 0 && slices.Contains(s.cause.points, point.id)
}

// addMembers adds the breakpoints of a point. The debugger has checked the condition of a single one, but not
// at exceptions.
func (s *stopPlace) addMembers(ctx context.Context, e *Engine, point *point) {
	for _, member := range point.members {
		if isCertain := len(point.members) == 1 && point.exception == ""; isCertain || s.holds(ctx, e, member.Condition) {
			s.hit = append(s.hit, member)
		}
	}
}

func (s *stopPlace) addWatch(ctx context.Context, e *Engine, watch *watch) {
	text := watch.change(ctx, e, s.thread)
	if s.holds(ctx, e, watch.Condition) {
		s.hit = append(s.hit, watch.Breakpoint)
		s.text = text
	}
}

// holds reports whether a condition holds in the innermost frame. One that cannot be evaluated does.
func (s *stopPlace) holds(ctx context.Context, e *Engine, condition string) bool {
	if condition == "" {
		return true
	}
	s.isChecked = true
	frames, _, err := e.listFrames(ctx, s.thread, 0, 1)
	if err != nil || len(frames) == 0 {
		return true
	}
	body, err := e.computeIn(ctx, frames[0].id, condition)
	return err != nil || body.Result != "0" && body.Result != "false"
}

func (e *Engine) removeTemporary(ctx context.Context, hit []debug.Breakpoint) {
	if !slices.ContainsFunc(hit, func(each debug.Breakpoint) bool { return each.Temporary }) {
		return
	}
	remaining := slices.DeleteFunc(slices.Clone(e.points.wanted), func(each debug.Breakpoint) bool {
		return each.Temporary && slices.ContainsFunc(hit, func(gone debug.Breakpoint) bool { return gone.ID == each.ID })
	})
	_ = e.apply(ctx, remaining) // an error is that of the next request too
}
