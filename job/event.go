package job

import (
	"time"
)

// An EventKind is the kind of a change of a job. The documentation of rmctl watch lists all of
// them.
type EventKind string

// The kinds of events of a job whose state is known better than before.
const (
	EventAccepted EventKind = "accepted" // the scheduler gave it an id
	EventState    EventKind = "state"    // it was observed in another state, or with another word of its scheduler
	EventReturned EventKind = "returned" // it waits again after it had begun
)

// An Event is one entry of a job's history.
type Event struct {
	Sequence int64 // grows with each event of a record: a reader continues after the last one it has read
	Tag      string
	Target   string
	ID       string
	Kind     EventKind
	Before   Detail // the state until then

	Ensemble, Part string // of the job

	// Observation is the state since then and how it was observed; where it is not
	// believed, what was observed. Reason may be why the job is in doubt, rejected or
	// succeeded. Only the state, how the job ended and the evidence are on record.
	Observation

	Recorded time.Time // when it was written
}
