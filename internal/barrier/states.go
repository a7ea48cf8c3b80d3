// Package barrier decides what happens to an ensemble: when its parts are submitted, when they are
// released, and what the failure of one means for the others. It has no I/O, no goroutines and no
// clock: a [Machine] takes inputs and returns the actions that its caller executes.
package barrier

import "errors"

// Errors of edits.
var (
	ErrUnknownPart    = errors.New("unknown part")
	ErrDuplicateLabel = errors.New("the label is in use")
	ErrReleased       = errors.New("the ensemble was released already")
	ErrEnded          = errors.New("the ensemble has ended")
	ErrIncomplete     = errors.New("not all required parts had checked in") // of a commit that canceled the ensemble
	ErrNoParts        = errors.New("the ensemble has no parts left")
)

// A Kind says what the failure of a part means for the others.
type Kind string

// The kinds of parts.
const (
	Required    Kind = "required"    // its failure ends the ensemble, before and after the release
	Interactive Kind = "interactive" // its failure is an event; before the release the user deletes or substitutes it
	Optional    Kind = "optional"    // its failure has no effect; the release does not wait for it
)

// A Gate says what the processes of a part do before the release.
type Gate string

// The gates.
const (
	Held    Gate = "held"    // rmctl-node holds the program until the release
	Program Gate = "program" // the program starts at once and calls the barrier itself
	NoGate  Gate = "none"    // the program starts at once and never waits
)

// A State is the state of an ensemble.
type State string

// The states of ensembles.
const (
	Prepared   State = "PREPARED"   // on record, nothing is submitted
	Submitting State = "SUBMITTING" // some parts have no result yet
	Waiting    State = "WAITING"    // for check-ins and the commit
	Releasing  State = "RELEASING"  // the release is on record, and being sent
	Running    State = "RUNNING"
	Ending     State = "ENDING" // failed or canceled; its jobs are being canceled
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

// An EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	StateChanged     EventKind = "state"      // of the ensemble
	PartChanged      EventKind = "part"       // the state of a part changed
	ProcessCheckedIn EventKind = "check-in"   // of one process; not of parts with many
	ProcessLost      EventKind = "lost"       // the connection of a process that waits
	ProcessRefused   EventKind = "refused"    // one process too many, or of an old incarnation
	VotedNo          EventKind = "vote"       // a process cannot start, with its reason
	TimedOut         EventKind = "timeout"    // a limit has passed
	Warned           EventKind = "warning"    // such as a wall time that is nearly used up
	NeedsUser        EventKind = "needs-user" // a connection waits for the user to log in
	EditedParts      EventKind = "edit"       // parts were added, deleted or substituted
)
