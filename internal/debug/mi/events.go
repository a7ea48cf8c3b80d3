package mi

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// applyRunning notes that the process runs. The caller holds the mutex, as for all functions here.
func (e *Engine) applyRunning() {
	if e.phase != stopped {
		return
	}
	e.phase, e.halted = running, make(chan struct{})
	e.runs++
	clear(e.hits)
	if !e.isQuiet {
		e.notices.add(debug.Notice{Report: debug.ReportRunning})
	}
}

// applyStopped notes that the process stopped or ended.
func (e *Engine) applyStopped(values Value) {
	reason := values.Get("reason").Text
	if strings.HasPrefix(reason, "exited") {
		e.applyExit(reason, values)
		return
	}
	isOwn := e.isOwnStop(values)
	switch {
	case e.phase == attaching:
		e.last = e.stopOf(values)
		e.leave(stopped)
	case e.phase == stopped && !isOwn:
		notice := e.stopOf(values)
		e.stray = &notice
	case e.phase != running:
	case reason == "solib-event", isOwn && !e.isHalting:
		e.resume()
	default:
		e.applyStop(values, isOwn)
	}
}

// isOwnStop reports whether the engine sent the signal that stopped the process.
func (e *Engine) isOwnStop(values Value) bool {
	signal := values.Get("signal-name").Text
	if values.Get("reason").Text != "signal-received" || signal != "SIGSTOP" || e.owed == 0 {
		return false
	}
	e.owed--
	return true
}

// applyStop notes that the running process stopped.
func (e *Engine) applyStop(values Value, isOwn bool) {
	e.isHalting = false
	e.last = e.stopOf(values)
	if isOwn {
		e.last.Reason, e.last.Signal, e.last.Text = debug.ReasonHalt, "", ""
	}
	e.leave(stopped)
	e.isQuiet = e.isQuiet && isOwn
	if !e.isQuiet {
		e.notices.add(e.last)
	}
}

// stopOf returns the notice of a stop.
func (e *Engine) stopOf(values Value) debug.Notice {
	notice := debug.Notice{Report: debug.ReportStopped, Thread: max(values.Get("thread-id").number(), 1)}
	if frame := values.Get("frame"); len(frame.Items) > 0 {
		notice.Frame = new(e.frameOf(frame))
	}
	reason := values.Get("reason").Text
	switch reason {
	case "breakpoint-hit":
		notice.Reason = debug.ReasonBreakpoint
		e.addHits(&notice, values.Get("bkptno").number())
	case "watchpoint-trigger", "read-watchpoint-trigger", "access-watchpoint-trigger", "watchpoint-scope":
		notice.Reason = debug.ReasonWatch
		e.addWatch(&notice, values)
	case "end-stepping-range", "function-finished", "location-reached":
		notice.Reason = debug.ReasonStep
	case "signal-received":
		notice.Reason, notice.Signal, notice.Text = debug.ReasonSignal, clip(values.Get("signal-name").Text), clip(values.Get("signal-meaning").Text)
	case "":
		notice.Reason = debug.ReasonHalt
	default: // fork, exec, a system call
		notice.Reason, notice.Text = debug.ReasonBreakpoint, clip(reason)
		e.addHits(&notice, values.Get("bkptno").number())
	}
	return notice
}

// addHits adds the hit breakpoints to a notice: gdb names one, and increments the counts of the others.
func (e *Engine) addHits(notice *debug.Notice, number int) {
	e.hits[number] = true
	for _, number := range slices.Sorted(maps.Keys(e.hits)) {
		found := e.placed[number]
		if found == nil {
			continue
		}
		notice.Breakpoints = append(notice.Breakpoints, found.breakpoint.ID)
		if found.breakpoint.Exception != "" {
			notice.Reason = debug.ReasonException
		}
	}
	slices.Sort(notice.Breakpoints)
}

// addWatch adds the values of a watchpoint to a notice.
func (e *Engine) addWatch(notice *debug.Notice, values Value) {
	watch := values
	for _, name := range []string{"wpt", "hw-rwpt", "hw-awpt"} {
		if found := values.Get(name); len(found.Items) > 0 {
			watch = found
		}
	}
	number := watch.Get("number").number()
	if number == 0 {
		number = values.Get("wpnum").number()
	}
	value := values.Get("value")
	found := e.placed[number]
	switch {
	case values.Get("reason").Text == "watchpoint-scope":
		notice.Text = "the watched expression is out of scope"
		e.dropWatch(number, notice.Text)
	case hasName(value, "old"):
		notice.Text = fmt.Sprintf("%s -> %s", clip(value.Get("old").Text), clip(value.Get("new").Text))
	default:
		notice.Text = clip(value.Get("value").Text + value.Get("new").Text)
	}
	if found == nil {
		return
	}
	notice.Breakpoints = []int{found.breakpoint.ID}
	if found.breakpoint.Temporary && e.placed[number] != nil {
		delete(e.placed, number)
		e.post("-break-delete "+strconv.Itoa(number), func(result) {})
	}
}

func hasName(value Value, name string) bool {
	return slices.ContainsFunc(value.Items, func(item Value) bool { return item.Name == name })
}

// applyExit notes that the process ended.
func (e *Engine) applyExit(reason string, values Value) {
	if e.phase == ended {
		return
	}
	notice := debug.Notice{Report: debug.ReportExited}
	if reason == "exited-signalled" {
		notice.Signal = clip(values.Get("signal-name").Text)
	} else {
		code, _ := strconv.ParseUint(values.Get("exit-code").Text, 8, 31)
		notice.Code = new(int(code))
	}
	e.isHalting, e.isQuiet = false, false
	e.leave(ended)
	e.notices.add(notice)
}

// applyEvent handles gdb's notifications of breakpoints and processes.
func (e *Engine) applyEvent(record Record) {
	switch record.Class {
	case "breakpoint-modified":
		e.applyBreakpoint(record.Results.Get("bkpt"))
	case "breakpoint-deleted":
		delete(e.placed, record.Results.Get("id").number())
	case "thread-group-exited":
		e.isGone = true
	}
}
