// Package tree connects the nodes of a job to rmctl: relays pass questions down to the
// processes of the job, and merge equal answers on their way up. DESIGN.md describes it.
package tree

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rmctl/rmctl/internal/ranges"
)

// A Question goes to the processes of a job with the ranks that it names.
type Question struct {
	Kind    string
	Ranks   ranges.Set // nil: all
	Body    json.RawMessage
	Timeout time.Duration // for the answers on the nodes; 0: 30 s
}

// A Part is an answer and the ranks it belongs to. Equal answers are one Part. A Part
// without ranks is an answer of nodes.
type Part struct {
	Namespace string // of the ranks
	Ranks     ranges.Set
	Nodes     []string // only if there are no ranks or there is a problem; relays fill it in
	Body      json.RawMessage
	Problem   string // one line: why there is no answer
}

// A RankProcess is a process that a node serves.
type RankProcess struct {
	Namespace  string `json:"namespace,omitempty"` // which ranks belong together
	Rank       int    `json:"rank"`
	Variable   string `json:"variable,omitempty"` // the environment variable that names the rank
	PID        int    `json:"pid"`
	Start      uint64 `json:"start,omitempty"` // in clock ticks since boot
	Executable string `json:"executable,omitempty"`
}

// A Local answers for the processes of one node. Its methods may be called concurrently.
type Local interface {
	// Processes returns the processes that live now. A rank that it returns twice gets no
	// answer, but a problem that names both processes.
	Processes(ctx context.Context) ([]RankProcess, error)
	// Answer gives any number of parts for those processes that the question means. The
	// context ends with the time of the question, and when the asker has gone.
	// Processes without a part get the error as their problem. With a question to all
	// ranks, processes may be empty.
	Answer(ctx context.Context, question Question, processes []RankProcess, give func(Part)) error
}

// A Member is a relay of the tree, and the ranks that it serves.
type Member struct {
	ID      string  `json:"id"`
	Node    string  `json:"node"`
	Place   string  `json:"place,omitempty"` // the machine and its process numbers, as one opaque word
	Tracked bool    `json:"tracked,omitempty"`
	Idle    bool    `json:"idle,omitempty"`    // another relay serves the processes of this machine
	Problem string  `json:"problem,omitempty"` // why it cannot be asked
	Groups  []Group `json:"groups,omitempty"`
}

// A Group is the ranks of one namespace.
type Group struct {
	Namespace string
	Variable  string // that names the ranks
	Ranks     ranges.Set
}

// A Launch is how to start the relay of a node.
type Launch struct {
	Node        string            `json:"node"`
	Words       []string          `json:"words"`
	Environment map[string]string `json:"environment,omitempty"`
	NoSignals   bool              `json:"noSignals,omitempty"` // only the end of its input ends the process
}

// Launching is where relays are started from.
type Launching struct {
	FromNodes bool          // the words work on the nodes of the job, too
	Timeout   time.Duration // for each relay to connect; 0: 60 s
}
