package coalloc

import "time"

// A State is the state of an ensemble.
type State string

// The states of ensembles.
const (
	Prepared   State = "PREPARED"   // on record, nothing is submitted
	Submitting State = "SUBMITTING" // some parts have no result yet
	Waiting    State = "WAITING"    // for check-ins and the commit
	Releasing  State = "RELEASING"  // the release is on record, and being sent
	Running    State = "RUNNING"
	Done       State = "DONE"
	Failed     State = "FAILED"
	Canceled   State = "CANCELED"
)

// Ended reports whether nothing more happens to the ensemble.
func (s State) Ended() bool { return s == Done || s == Failed || s == Canceled }

// A PartState is the state of a part.
type PartState string

// The states of parts.
const (
	PartSubmitting PartState = "SUBMITTING" // no result of the submission yet
	PartPending    PartState = "PENDING"    // the scheduler has the job
	PartActive     PartState = "ACTIVE"     // the job runs; some processes have not checked in
	PartCheckedIn  PartState = "CHECKED_IN" // all processes wait at the barrier
	PartReleased   PartState = "RELEASED"
	PartDone       PartState = "DONE"    // the job ended after its release
	PartFailed     PartState = "FAILED"  // the submission failed, or the job ended before its release
	PartDeleted    PartState = "DELETED" // deleted or canceled
)

// Ended reports whether nothing more happens to the part.
func (s PartState) Ended() bool { return s == PartDone || s == PartFailed || s == PartDeleted }

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
	Reason      string    `json:"reason,omitempty"` // of a failure, or what the scheduler says it waits for
	Tag         string    `json:"tag,omitempty"`    // of the submission
	JobID       string    `json:"jobID,omitempty"`
	ExitCode    *int      `json:"exitCode,omitempty"`
	Signal      *int      `json:"signal,omitempty"`
	Unconfirmed bool      `json:"unconfirmed,omitempty"` // a cancel that no scheduler confirmed yet

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
type EventKind string

// The kinds of events.
const (
	StateChanged     EventKind = "state"      // of the ensemble
	PartChanged      EventKind = "part"       // the state of a part changed
	ProcessCheckedIn EventKind = "check-in"   // of one process
	ProcessLost      EventKind = "lost"       // the connection of a process that waits
	ProcessRefused   EventKind = "refused"    // one process too many, or of an old incarnation
	VotedNo          EventKind = "vote"       // a process cannot start, with its reason
	TimedOut         EventKind = "timeout"    // a limit has passed
	Warned           EventKind = "warning"    // such as a wall time that is nearly used up
	NeedsUser        EventKind = "needs-user" // a connection waits for the user to log in
	EditedParts      EventKind = "edit"       // parts were added, deleted or substituted
)
