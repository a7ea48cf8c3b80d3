package job

import (
	"time"
)

// An EventKind says what happened to a job.
type EventKind string

// The kinds of events.
const (
	EventIntended      EventKind = "intended"      // its submission is about to begin
	EventAccepted      EventKind = "accepted"      // the scheduler gave it an id
	EventRejected      EventKind = "rejected"      // the scheduler did not accept it
	EventDoubted       EventKind = "doubted"       // it is unknown whether the submission became a job
	EventAdopted       EventKind = "adopted"       // it was submitted in another way and is followed from now on
	EventState         EventKind = "state"         // it was observed in another state, or with another word of its scheduler
	EventReturned      EventKind = "returned"      // it waits again after it had begun
	EventContradiction EventKind = "contradiction" // it has ended, but was observed in an earlier state or with another end, which is not believed
	EventReplaced      EventKind = "replaced"      // another job was observed under its id, which is not believed
	EventClock         EventKind = "clock"         // the record had an observation from the future
	EventStale         EventKind = "stale"         // its state is in doubt
	EventMissing       EventKind = "missing"       // a listing lacks it
	EventSucceeded     EventKind = "succeeded"     // another job got its id
	EventDismissed     EventKind = "dismissed"     // the user stopped following it
)

// An Event is one entry of a job's history.
type Event struct {
	Sequence int64 // grows with each event of a record: a reader continues after the last one it has read
	Tag      string
	Target   string
	ID       string
	Kind     EventKind
	Before   Detail // the state until then

	// Observation is the state since then and how it was observed; where it is not
	// believed, what was observed. Reason may be why the job is in doubt, rejected or
	// succeeded. Only the state, how the job ended and the evidence are on record.
	Observation

	Recorded time.Time // when it was written
}
