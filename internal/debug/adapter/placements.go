package adapter

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

// placeAll notes where ranks said that they have their breakpoints. What a rank reported while an answer was awaited is
// as new as the answer, or newer.
func (b *breakpoints) placeAll(parts []debug.Part) {
	for _, part := range parts {
		found := map[int]debug.Placement{}
		for _, each := range part.Breakpoints {
			found[each.ID] = each
		}
		for id, at := range b.byID {
			where, isFound := found[id]
			if !isFound {
				if len(at.places) > 0 && part.Problem == "" {
					continue // the answer is to earlier breakpoints
				}
				where = debug.Placement{ID: id, Text: cmp.Or(problemOf(part.Answer), "not set")}
			}
			ranks := part.Ranks
			if part.Problem == "" {
				ranks = ranks.Without(at.reported)
			}
			at.place(ranks, where)
		}
	}
}

// await notes that answers with the places of breakpoints are awaited, or no longer.
func (b *breakpoints) await(change int) {
	if b.awaited += change; b.awaited == 0 {
		for _, each := range b.byID {
			each.reported = nil
		}
	}
}

// place notes where a rank has breakpoints now.
func (b *breakpoints) place(rank int, placements []debug.Placement) {
	for _, each := range placements {
		if at := b.byID[each.ID]; at != nil {
			at.place(extended(nil, rank), each)
			if b.awaited > 0 {
				at.reported = at.reported.Union(extended(nil, rank))
			}
		}
	}
}

// unplace forgets where ranks have breakpoints.
func (b *breakpoints) unplace() {
	for _, each := range b.byID {
		each.places, each.reported = nil, nil
	}
}

func (b *breakpoint) place(ranks debug.Ranks, where debug.Placement) {
	if len(ranks) == 0 {
		return
	}
	kept := b.places[:0]
	isAdded := false
	for _, each := range b.places {
		if each.Placement == where {
			each.ranks, isAdded = each.ranks.Union(ranks), true
		} else if each.ranks = each.ranks.Without(ranks); len(each.ranks) == 0 {
			continue
		}
		kept = append(kept, each)
	}
	b.places = kept
	if !isAdded {
		b.places = append(b.places, placed{slices.Clone(ranks), where})
	}
}

// showBreakpoint returns a breakpoint as the editor sees it. It is verified if all ranks have it.
func (a *adapter) showBreakpoint(b *breakpoint) dap.Breakpoint {
	shown := dap.Breakpoint{Id: b.ID, Verified: len(b.places) > 0 && b.problem == "", Message: b.problem}
	if b.File != "" {
		shown.Source, shown.Line = a.source(b.File, nil), a.lineForEditor(b.Line)
	}
	if b.problem != "" {
		return shown
	}
	if len(b.places) == 0 {
		shown.Message = "the program has not started"
		return shown
	}
	var problems []string
	lines := map[int]bool{}
	for _, at := range b.places {
		if !at.Verified {
			problems = append(problems, nameRanks(at.ranks)+": "+cmp.Or(at.Text, "not set yet"))
			continue
		}
		if at.Line > 0 {
			lines[at.Line] = true
			shown.Line = a.lineForEditor(at.Line)
			if shown.Source == nil && at.File != "" {
				shown.Source = a.source(at.File, at.ranks)
			}
		}
	}
	if len(lines) > 1 {
		shown.Message = "ranks have different lines"
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		shown.Verified, shown.Message = false, joined(problems)
		if len(b.places) == 1 {
			_, shown.Message, _ = strings.Cut(problems[0], ": ")
		}
	}
	return shown
}

// announceBreakpoints reports the breakpoints that have changed since the editor heard of them.
func (a *adapter) announceBreakpoints() {
	for _, id := range slices.Sorted(maps.Keys(a.breakpoints.byID)) {
		each := a.breakpoints.byID[id]
		now := a.showBreakpoint(each)
		if each.shown.Id == 0 || isSame(each.shown, now) {
			continue
		}
		each.shown = now
		a.send("breakpoint", &dap.BreakpointEvent{Body: dap.BreakpointEventBody{Reason: "changed", Breakpoint: now}})
	}
}

func isSame(a, b dap.Breakpoint) bool {
	return a.Verified == b.Verified && a.Message == b.Message && a.Line == b.Line
}
