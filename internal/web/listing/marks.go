package listing

import (
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// A Mark shows a state: in a tone, by a sign for people who do not see the tone, and in a
// word.
type Mark struct {
	Tone string // a class of the style sheet, such as "green"
	Sign string // the outline of the sign in a box of 12 by 12
	Word string
}

// The outlines of signs.
const (
	signDisc     = "M6 1a5 5 0 1 0 .01 0z"
	signRing     = "M6 1a5 5 0 1 0 .01 0zM6 3a3 3 0 1 1-.01 0z"
	signHalf     = "M6 1a5 5 0 1 0 .01 0zM6 3a3 3 0 0 1 0 6z"
	signPause    = "M2 1h3v10h-3zM7 1h3v10h-3z"
	signTick     = "M1 6.5l1.6-1.6 2.4 2.4 4.6-5 1.6 1.5-6.1 6.8z"
	signCross    = "M2.5 1 6 4.500 9.500 1 11 2.500 7.500 6 11 9.500 9.500 11 6 7.500 2.500 11 1 9.500 4.500 6 1 2.500z"
	signTriangle = "M6 1 11.500 11h-11z"
	signBang     = "M5 1h2v6h-2zM5 8.500h2v2h-2z"
	signDot      = "M6 4a2 2 0 1 0 .01 0z"
	signSquare   = "M2 2h8v8h-8z"
)

// marks are the marks of states, in the colours of PTP's runtime model where these carry
// meaning.
var marks = map[model.State]Mark{
	vocabulary.StateStarting:   {"cyan", signHalf, "starting"},
	vocabulary.StateStarted:    {"green", signDisc, "started"},
	vocabulary.StateStopping:   {"cyan", signRing, "stopping"},
	vocabulary.StateStopped:    {"grey", signSquare, "stopped"},
	vocabulary.StateSuspended:  {"yellow", signPause, "suspended"},
	vocabulary.StateError:      {"red", signTriangle, "error"},
	vocabulary.StateUp:         {"green", signDisc, "up"},
	vocabulary.StateDown:       {"grey", signCross, "down"},
	vocabulary.StateAlert:      {"yellow", signBang, "alert"},
	vocabulary.StateUnknown:    {"pale", signDot, "unknown"},
	vocabulary.StateNormal:     {"green", signDisc, "normal"},
	vocabulary.StateCollecting: {"yellow", signPause, "collecting"},
	vocabulary.StateDraining:   {"yellow", signHalf, "draining"},
	vocabulary.StatePending:    {"blue", signRing, "queued"},
	vocabulary.StateRunning:    {"green", signDisc, "running"},
	vocabulary.StateTerminated: {"grey", signTick, "ended"},
	vocabulary.StateExited:     {"grey", signTick, "exited"},
	vocabulary.StateSignalled:  {"orange", signCross, "ended by a signal"},
}

// jobMarks are the marks that differ for jobs.
var jobMarks = map[model.State]Mark{
	vocabulary.StateStarted: {"cyan", signHalf, "starting"},
	vocabulary.StateError:   {"red", signTriangle, "failed to start"},
	Failed:                  {"red", signCross, "failed"},
}

// CountsOf returns the number of elements of a kind in each state, without empty states.
func CountsOf(kind model.Kind, byState map[model.State]int) []StateCount {
	var all []StateCount
	for _, state := range append(model.States(kind), Failed, "") {
		if n := byState[state]; n > 0 {
			all = append(all, StateCount{MarkOfState(kind, state), Thousands(n)})
		}
	}
	return all
}

// NotSeen is the mark of an element whose state is unknown.
var NotSeen = Mark{"pale", signDot, "not reported"}

// MarkOf returns the mark of an element. The default state of its kind counts as unknown.
func MarkOf(e *model.Element) Mark {
	return MarkOfState(e.Kind(), SeenState(e))
}

func MarkOfState(kind model.Kind, state model.State) Mark {
	if m, differs := jobMarks[state]; differs && kind == model.Job {
		return m
	}
	if m, known := marks[state]; known {
		return m
	}
	if kind == model.Job {
		return marks[vocabulary.StateUnknown]
	}
	return NotSeen
}

// EnsembleMark returns the mark of a state of an ensemble or of one of its parts.
func EnsembleMark(state string) Mark {
	m, isKnown := map[string]Mark{
		"PREPARED": {"blue", signRing, "prepared"}, "SUBMITTING": {"cyan", signHalf, "submitting"}, "WAITING": {"yellow", signPause, "waiting"},
		"RELEASING": {"cyan", signHalf, "releasing"}, "RUNNING": {"green", signDisc, "running"}, "ENDING": {"orange", signHalf, "ending"},
		"DONE": {"grey", signTick, "done"}, "FAILED": {"red", signCross, "failed"}, "CANCELED": {"grey", signCross, "canceled"},
		"PENDING": {"blue", signRing, "queued"}, "ACTIVE": {"cyan", signHalf, "active"}, "CHECKED_IN": {"yellow", signPause, "at the barrier"},
		"RELEASED": {"green", signDisc, "released"}, "DELETED": {"grey", signSquare, "deleted"},
	}[state]
	if !isKnown {
		return Mark{"pale", signDot, "unknown"}
	}
	return m
}
