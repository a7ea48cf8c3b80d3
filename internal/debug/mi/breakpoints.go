package mi

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// A placed is a breakpoint that gdb has.
type placed struct {
	breakpoint debug.Breakpoint
	placement  debug.Placement
	times      int // how often it was hit
}

// setBreakpoints replaces the breakpoints. Those that are the same stay.
func (e *Engine) setBreakpoints(ctx context.Context, wanted []debug.Breakpoint) debug.Answer {
	seen := map[int]bool{}
	for i := range wanted {
		if seen[wanted[i].ID] {
			return debug.Answer{Problem: debug.Failed, Text: "two breakpoints have the same id"}
		}
		seen[wanted[i].ID] = true
	}
	known := e.deleteOthers(ctx, wanted)
	placements := make([]debug.Placement, len(wanted))
	main := ""
	for i, breakpoint := range wanted {
		if placement, isKnown := known[breakpoint.ID]; isKnown {
			placements[i] = placement
			continue
		}
		if breakpoint.Function == "main" && main == "" {
			main = e.mainFunction(ctx)
		}
		placements[i] = e.insert(ctx, breakpoint, main)
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.broken != nil {
		return problemOf(e.broken)
	}
	return debug.Answer{Breakpoints: placements}
}

// compared returns the parts of a breakpoint that gdb knows.
func compared(breakpoint debug.Breakpoint) debug.Breakpoint {
	breakpoint.Hits, breakpoint.Log = "", ""
	return breakpoint
}

// deleteOthers deletes the breakpoints that are not wanted any more, and returns the places of the others by id.
func (e *Engine) deleteOthers(ctx context.Context, wanted []debug.Breakpoint) map[int]debug.Placement {
	known := map[int]debug.Placement{}
	e.mutex.Lock()
	command := "-break-delete"
	for _, number := range slices.Sorted(maps.Keys(e.placed)) {
		found := e.placed[number]
		if slices.ContainsFunc(wanted, func(b debug.Breakpoint) bool { return compared(b) == found.breakpoint }) {
			known[found.breakpoint.ID] = found.placement
			continue
		}
		command += " " + strconv.Itoa(number)
		delete(e.placed, number)
	}
	e.mutex.Unlock()
	if command != "-break-delete" {
		e.call(ctx, command)
	}
	return known
}

// mainFunction returns the function in which programs of users begin.
func (e *Engine) mainFunction(ctx context.Context) string {
	// The main of a program in Fortran belongs to the run-time library.
	if e.call(ctx, `-interpreter-exec console "whatis MAIN__"`)[0].err == nil {
		return "MAIN__"
	}
	return "main"
}

// insert inserts a breakpoint and returns where it is.
func (e *Engine) insert(ctx context.Context, breakpoint debug.Breakpoint, main string) debug.Placement {
	command, problem := insertion(breakpoint, main)
	if problem != "" {
		return debug.Placement{ID: breakpoint.ID, Text: problem}
	}
	answer := e.call(ctx, command)[0]
	if answer.err != nil {
		return debug.Placement{ID: breakpoint.ID, Text: clip(answer.err.Error())}
	}
	number, placement := place(breakpoint, answer.values)
	if number == 0 {
		return debug.Placement{ID: breakpoint.ID, Text: "gdb did not insert it"}
	}
	e.mutex.Lock()
	e.placed[number] = &placed{breakpoint: compared(breakpoint), placement: placement}
	e.mutex.Unlock()
	// Only -break-insert has options for these.
	var further []string
	isPlain := breakpoint.Watch == "" && breakpoint.Exception == ""
	if breakpoint.Condition != "" && !isPlain {
		further = append(further, "-break-condition "+strconv.Itoa(number)+" "+breakpoint.Condition)
	}
	if breakpoint.Disabled && !isPlain {
		further = append(further, "-break-disable "+strconv.Itoa(number))
	}
	for _, answer := range e.call(ctx, further...) {
		if answer.err != nil {
			e.call(ctx, "-break-delete "+strconv.Itoa(number))
			e.mutex.Lock()
			delete(e.placed, number)
			e.mutex.Unlock()
			return debug.Placement{ID: breakpoint.ID, Text: clip(answer.err.Error())}
		}
	}
	return placement
}

// insertion returns the command that inserts a breakpoint, or why there is no such command.
func insertion(breakpoint debug.Breakpoint, main string) (command, problem string) {
	for _, text := range []string{breakpoint.File, breakpoint.Function, breakpoint.Watch, breakpoint.Condition} {
		if len(text) > longestValue || strings.ContainsAny(text, "\n\r\x00") {
			return "", "its text is too long or has more than one line"
		}
	}
	if breakpoint.Watch != "" {
		access, isKnown := map[string]string{"": "", "write": "", "read": "-r ", "any": "-a "}[breakpoint.Access]
		if !isKnown {
			return "", "unknown access"
		}
		return "-break-watch " + access + quoted(breakpoint.Watch), ""
	}
	options := ""
	if breakpoint.Temporary {
		options = " -t"
	}
	switch breakpoint.Exception {
	case "throw", "catch":
		return "-catch-" + breakpoint.Exception + options, ""
	case "":
	default:
		return "", "gdb cannot stop at this exception"
	}
	if breakpoint.Disabled {
		options += " -d"
	}
	if breakpoint.Condition != "" {
		options += " -c " + quoted(breakpoint.Condition)
	}
	location := locationOf(breakpoint, main)
	if location == "" {
		return "", "it has no place"
	}
	return "-break-insert -f" + options + location, ""
}

// locationOf returns the options of -break-insert for a place.
func locationOf(breakpoint debug.Breakpoint, main string) string {
	switch {
	case breakpoint.Function == "main":
		return " --function " + main
	case breakpoint.Function != "":
		return " --function " + quoted(breakpoint.Function)
	case breakpoint.Line > 0 && breakpoint.File != "":
		return " --source " + quoted(breakpoint.File) + " --line " + strconv.Itoa(breakpoint.Line)
	}
	return ""
}

// place returns the number that gdb gives to a breakpoint, and where it is.
func place(breakpoint debug.Breakpoint, values Value) (int, debug.Placement) {
	for _, name := range []string{"wpt", "hw-rwpt", "hw-awpt"} {
		if number := values.Get(name).Get("number").number(); number > 0 {
			return number, debug.Placement{ID: breakpoint.ID, Verified: true}
		}
	}
	found := values.Get("bkpt")
	return found.Get("number").number(), placementOf(breakpoint.ID, found)
}

// placementOf returns where a breakpoint is.
func placementOf(id int, found Value) debug.Placement {
	address := found.Get("addr").Text
	at := found
	// Old versions list the locations after the breakpoint.
	if locations := found.Get("locations").Items; len(locations) > 0 {
		at = locations[0]
	}
	switch {
	case found.Get("pending").Text != "" || address == "<PENDING>":
		return debug.Placement{ID: id, Text: "not found in the program yet"}
	case strings.HasSuffix(found.Get("at").Text, "@plt>"):
		return debug.Placement{ID: id, Text: "its library is not loaded yet"}
	}
	return debug.Placement{ID: id, Verified: true, File: fileOf(at), Line: at.Get("line").number()}
}

// applyBreakpoint handles a change of a breakpoint. The caller holds the mutex.
func (e *Engine) applyBreakpoint(changed Value) {
	number := changed.Get("number").number()
	found := e.placed[number]
	if found == nil {
		return
	}
	if times := changed.Get("times").number(); times > found.times {
		found.times = times
		e.hits[number] = true
	}
	if found.breakpoint.Watch != "" || found.breakpoint.Exception != "" {
		return
	}
	placement := placementOf(found.breakpoint.ID, changed)
	if placement != found.placement {
		found.placement = placement
		e.notices.add(debug.Notice{Report: debug.ReportPlaced, Placements: []debug.Placement{placement}})
	}
}

// dropWatch forgets a watchpoint that gdb deletes. The caller holds the mutex.
func (e *Engine) dropWatch(number int, why string) {
	if found := e.placed[number]; found != nil {
		delete(e.placed, number)
		e.notices.add(debug.Notice{Report: debug.ReportPlaced, Placements: []debug.Placement{{ID: found.breakpoint.ID, Text: why}}})
	}
}
