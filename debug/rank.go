package debug

import "github.com/rmctl/rmctl/internal/ranges"

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

// A Rank is what is known of a rank. Ranks with equal values are in one class.
type Rank struct {
	State    State  `json:"state"`
	Reason   string `json:"reason,omitempty"` // of a stop
	Text     string `json:"text,omitempty"`   // more about the reason
	Signal   string `json:"signal,omitempty"` // that stopped or ended it
	Code     int    `json:"code,omitempty"`   // with which it exited
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// A Class is the ranks that are equal.
type Class struct {
	Ranks Ranks `json:"ranks"`
	Rank
}
