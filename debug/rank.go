package debug

import (
	"fmt"
	"path"
	"strconv"

	"github.com/rmctl/rmctl/internal/ranges"
)

// Ranks are numbers of ranks, as ranges in order: 0-2,5-511.
type Ranks = ranges.Set

// A State is what a rank does.
type State string

// The states.
const (
	Connecting State = "connecting" // its debugger has not reported yet
	Ready      State = "ready"      // the debugger waits for Start
	Running    State = "running"
	Stopped    State = "stopped"
	Exited     State = "exited"
	Released   State = "released" // runs without a debugger
	Lost       State = "lost"     // the connection has ended without a reason
)

// A Rank is the known state of a rank. Ranks with equal values are in one class.
type Rank struct {
	State      State  `json:"state"`
	Reason     string `json:"reason,omitempty"`     // of a stop
	Breakpoint int    `json:"breakpoint,omitempty"` // the first one that it stopped at; 0 for none
	Text       string `json:"text,omitempty"`       // more about the reason
	Signal     string `json:"signal,omitempty"`     // that stopped or ended it
	Code       int    `json:"code,omitempty"`       // with which it exited
	Function   string `json:"function,omitempty"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
}

// A Class is the ranks that are equal.
type Class struct {
	Ranks Ranks `json:"ranks"`
	Rank
}

// after returns the state of a rank after a notice.
func (r Rank) after(notice Notice) Rank {
	switch notice.Report {
	case ReportRunning:
		return Rank{State: Running}
	case ReportStopped:
		stopped := Rank{State: Stopped, Reason: notice.Reason, Text: notice.Text, Signal: notice.Signal}
		if frame := notice.Frame; frame != nil {
			stopped.Function, stopped.File, stopped.Line = frame.Function, frame.File, frame.Line
		}
		if len(notice.Breakpoints) > 0 {
			stopped.Breakpoint = notice.Breakpoints[0]
		}
		return stopped
	case ReportExited:
		exited := Rank{State: Exited, Signal: notice.Signal}
		if notice.Code != nil {
			exited.Code = *notice.Code
		}
		return exited
	case ReportGone:
		return Rank{State: Released, Text: notice.Text}
	}
	return r
}

// Place returns where a stopped rank is: work at solver.c:88. It is empty if that is unknown.
func (r Rank) Place() string {
	return Frame{Function: r.Function, File: r.File, Line: r.Line}.Place()
}

// Place returns where a frame is: work at solver.c:88, or sleep in libc.so.6. It is empty if that is unknown.
func (f Frame) Place() string {
	switch {
	case f.File != "" && f.Function != "":
		return f.Function + " at " + path.Base(f.File) + ":" + strconv.Itoa(f.Line)
	case f.File != "":
		return path.Base(f.File) + ":" + strconv.Itoa(f.Line)
	case f.Module != "" && f.Function != "":
		return f.Function + " in " + path.Base(f.Module)
	case f.Function != "":
		return f.Function
	}
	return f.Address
}

// String describes the state of a rank in a few words.
func (r Rank) String() string {
	switch r.State {
	case Stopped:
		text := "stopped"
		if place := r.Place(); place != "" {
			text += " in " + place
		}
		switch {
		case r.Signal != "":
			text += " by " + r.Signal
		case r.Breakpoint != 0:
			text += fmt.Sprintf(" (%s %d)", r.Reason, r.Breakpoint)
		case r.Reason != "" && r.Reason != ReasonStep:
			text += " (" + r.Reason + ")"
		}
		return text
	case Exited:
		if r.Signal != "" {
			return "ended by " + r.Signal
		}
		return fmt.Sprintf("exited with code %d", r.Code)
	case Released:
		return "runs without a debugger"
	case Lost:
		return "lost: " + r.Text
	}
	return string(r.State)
}
