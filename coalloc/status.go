package coalloc

import (
	"time"

	"github.com/rmctl/rmctl/internal/barrier"
)

// A State is the state of an ensemble.
type State = barrier.State

// The states of ensembles.
const (
	Prepared   = barrier.Prepared   // on record, nothing is submitted
	Submitting = barrier.Submitting // some parts have no result yet
	Waiting    = barrier.Waiting    // for check-ins and the commit
	Releasing  = barrier.Releasing  // the release is on record, and being sent
	Running    = barrier.Running
	Ending     = barrier.Ending // failed or canceled; its jobs are being canceled
	Done       = barrier.Done
	Failed     = barrier.Failed
	Canceled   = barrier.Canceled
)

// A PartState is the state of a part.
type PartState = barrier.PartState

// The states of parts.
const (
	PartSubmitting = barrier.PartSubmitting // no result of the submission yet
	PartPending    = barrier.PartPending    // the scheduler has the job
	PartActive     = barrier.PartActive     // the job runs; some processes have not checked in
	PartCheckedIn  = barrier.PartCheckedIn  // all processes wait at the barrier
	PartReleased   = barrier.PartReleased
	PartDone       = barrier.PartDone    // the job ended after its release
	PartFailed     = barrier.PartFailed  // the submission failed, or the job ended before its release
	PartDeleted    = barrier.PartDeleted // deleted or canceled
)

// A Status is an ensemble as it is now.
type Status struct {
	ID        string       `json:"id"`
	Name      string       `json:"name,omitempty"`
	State     State        `json:"state"`
	Reason    string       `json:"reason,omitempty"` // why it failed or was canceled
	Committed bool         `json:"committed"`        // the release waits only for check-ins
	Created   time.Time    `json:"created"`
	Released  time.Time    `json:"released,omitzero"`
	Ended     time.Time    `json:"ended,omitzero"`
	At        string       `json:"at,omitempty"` // target with the co-allocator; empty for this host
	Parts     []PartStatus `json:"parts"`        // in the order of the request, added ones last
	Sets      []SetStatus  `json:"sets,omitempty"`
}

// A SetStatus is a set of alternatives as it is now.
type SetStatus struct {
	Name      string   `json:"name"`              // or its number, from 1
	Needed    int      `json:"needed"`            // parts that have to check in
	Parts     []string `json:"parts"`             // labels
	CheckedIn int      `json:"checkedIn"`         // parts, also those that were released
	Possible  int      `json:"possible"`          // parts that have checked in or still may
	Waiting   []string `json:"waiting,omitempty"` // parts that may still check in
	Out       []string `json:"out,omitempty"`     // parts that have failed or were deleted
}

// A PartStatus is a part as it is now.
type PartStatus struct {
	Label       string    `json:"label"`
	Index       int       `json:"index"`
	Serial      int       `json:"serial"` // never used again in the ensemble
	Incarnation int       `json:"incarnation,omitempty"`
	Target      string    `json:"target"`
	Kind        Kind      `json:"kind"`
	Gate        Gate      `json:"barrier"`
	Count       int       `json:"count"`
	CheckedIn   int       `json:"checkedIn"` // processes
	State       PartState `json:"state"`
	Reason      string    `json:"reason,omitempty"` // of a failure, or why the job waits
	Tag         string    `json:"tag,omitempty"`    // of the submission
	JobID       string    `json:"jobID,omitempty"`
	ExitCode    *int      `json:"exitCode,omitempty"`
	Signal      *int      `json:"signal,omitempty"`
	Unconfirmed bool      `json:"unconfirmed,omitempty"` // a cancel that no scheduler confirmed yet

	// Of a job that waits, as EstimateStarts sets them.
	ExpectedStart time.Time `json:"expectedStart,omitzero"`
	StartProblem  string    `json:"startProblem,omitempty"` // why the query for it failed

	Submitted time.Time `json:"submitted,omitzero"`
	Active    time.Time `json:"active,omitzero"`
	Arrived   time.Time `json:"arrived,omitzero"` // when the last process checked in
	Released  time.Time `json:"released,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
}

// An EnsembleEvent is something that happened to an ensemble or one of its parts.
type EnsembleEvent struct {
	Sequence int       `json:"sequence"` // from 1, without gaps
	Time     time.Time `json:"time"`
	Kind     EventKind `json:"kind"`
	Label    string    `json:"label,omitempty"` // of the part
	State    string    `json:"state,omitempty"` // of the part, or of the ensemble
	Text     string    `json:"text,omitempty"`  // one line for users
}

// An EventKind says what happened.
type EventKind = barrier.EventKind

// The kinds of events.
const (
	StateChanged     = barrier.StateChanged     // of the ensemble
	PartChanged      = barrier.PartChanged      // the state of a part changed
	ProcessCheckedIn = barrier.ProcessCheckedIn // of one process; not of parts with many
	ProcessLost      = barrier.ProcessLost      // the connection of a process that waits
	ProcessRefused   = barrier.ProcessRefused   // one process too many, or of an old incarnation
	VotedNo          = barrier.VotedNo          // a process cannot start, with its reason
	TimedOut         = barrier.TimedOut         // a limit has passed
	Warned           = barrier.Warned           // such as a wall time that is nearly used up
	NeedsUser        = barrier.NeedsUser        // a connection waits for the user to log in
	EditedParts      = barrier.EditedParts      // parts were added, deleted or substituted
)
