package listing

import (
	"sync"

	"github.com/rmctl/rmctl/model"
)

// A Mark is how a state is shown: in a tone, by a sign for those who do not see
// the tone, and in a word.
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

// marks tells how the states of a kind are shown, in the colours of the runtime
// model that this one follows where these carry meaning.
var marks = sync.OnceValue(func() map[model.Kind]map[model.State]Mark {
	return map[model.Kind]map[model.State]Mark{
		model.ResourceManager: {
			model.StateStarting:  {"cyan", signHalf, "starting"},
			model.StateStarted:   {"green", signDisc, "started"},
			model.StateStopping:  {"cyan", signRing, "stopping"},
			model.StateStopped:   {"grey", signSquare, "stopped"},
			model.StateSuspended: {"yellow", signPause, "suspended"},
			model.StateError:     {"red", signTriangle, "error"},
		},
		model.Machine: {
			model.StateUp:      {"green", signDisc, "up"},
			model.StateDown:    {"grey", signCross, "down"},
			model.StateAlert:   {"yellow", signBang, "alert"},
			model.StateError:   {"red", signTriangle, "error"},
			model.StateUnknown: {"pale", signDot, "unknown"},
		},
		model.Queue: {
			model.StateNormal:     {"green", signDisc, "normal"},
			model.StateCollecting: {"yellow", signPause, "collecting"},
			model.StateDraining:   {"yellow", signHalf, "draining"},
			model.StateStopped:    {"grey", signSquare, "stopped"},
		},
		model.Node: {
			model.StateUp:      {"green", signDisc, "up"},
			model.StateDown:    {"grey", signCross, "down"},
			model.StateError:   {"red", signTriangle, "error"},
			model.StateUnknown: {"pale", signDot, "unknown"},
		},
		model.Job: {
			model.StatePending:    {"blue", signRing, "waiting"},
			model.StateStarted:    {"cyan", signHalf, "starting"},
			model.StateRunning:    {"green", signDisc, "running"},
			model.StateSuspended:  {"yellow", signPause, "suspended"},
			model.StateTerminated: {"grey", signTick, "ended"},
			model.StateError:      {"red", signTriangle, "failed"},
			model.StateUnknown:    {"pale", signDot, "unknown"},
		},
		model.Process: {
			model.StateStarting:  {"cyan", signHalf, "starting"},
			model.StateRunning:   {"green", signDisc, "running"},
			model.StateSuspended: {"yellow", signPause, "suspended"},
			model.StateExited:    {"grey", signTick, "exited"},
			model.StateSignalled: {"orange", signCross, "ended by a signal"},
			model.StateError:     {"red", signTriangle, "error"},
			model.StateUnknown:   {"pale", signDot, "unknown"},
		},
	}
})

// NotSeen is the mark of an element whose state nobody was told.
var NotSeen = Mark{"pale", signDot, "not told"}

// MarkOf returns how the state of an element is shown. The default state of its
// kind is none that anybody saw.
func MarkOf(e *model.Element) Mark {
	return MarkOfState(e.Kind(), SeenState(e))
}

func MarkOfState(kind model.Kind, state model.State) Mark {
	if m, known := marks()[kind][state]; known {
		return m
	}
	return NotSeen
}
