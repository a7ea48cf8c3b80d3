package barrier

import "time"

// An Input is an event or a request of a user: one of the types of this file.
type Input interface{ apply(m *Machine) error }

// Start begins the submission of a recorded ensemble, or continues after a restart. Connections and pending
// results are then unknown.
type Start struct{}

// Tick lets time pass: the time of [Machine.Deadline] has come.
type Tick struct{}

// Submitted says that a scheduler accepted the job of a part, or that it was found after its
// submission had no known result.
type Submitted struct {
	Serial int
	JobID  string
	Held   bool // it is on hold
	// WallTime is what the part has of its definition or its target; 0 if unknown. That of the [Spec] goes first.
	WallTime time.Duration
}

// SubmitRefused says that there certainly is no job.
type SubmitRefused struct {
	Serial int
	Reason string
}

// SubmitUnknown says that it is unknown whether there is a job.
type SubmitUnknown struct {
	Serial int
	Reason string
}

// A JobState is the state of a job in one query.
type JobState int

// The states of jobs that matter here.
const (
	JobUnread  JobState = iota // the query failed
	JobMissing                 // the scheduler does not list it
	JobQueued
	JobRunning
	JobEnded
)

// JobSeen is the result of one query for the job of a part.
type JobSeen struct {
	Serial           int
	State            JobState
	Final            bool // of JobEnded: the scheduler names the job and its final state
	ExitCode, Signal *int
	Reason           string // such as what it waits for
}

// A ProcessKind says what happened to a process.
type ProcessKind int

// What happens to processes.
const (
	CheckedIn ProcessKind = iota + 1
	Lost
	Voted          // that it cannot start
	Refused        // one process too many, or of a job that ran again after its release
	NewIncarnation // of the whole part: its job runs again
	Late           // of a part that is removed
	Received       // it has the release
)

// A ProcessEvent is what the barrier's server says of a process.
type ProcessEvent struct {
	Kind                      ProcessKind
	Serial, Incarnation, Rank int
	Instance, Host, Reason    string
	Complete                  bool // all processes of the part are checked in now
}

// CancelResult is how canceling a job went.
type CancelResult struct {
	Serial int
	Gone   bool   // the job no longer exists
	Err    string // empty if the scheduler accepted it
}

// HoldResult is how releasing the hold of a job went.
type HoldResult struct {
	Serial int
	Err    string
}

// Frozen is the result of [Freeze].
type Frozen struct {
	Round   int
	Rosters []Roster
	Err     string // who is missing
}

// ReleaseRecorded is the result of [RecordRelease].
type ReleaseRecorded struct {
	Round int
	Err   string
}

// ReleaseSent says that [SendRelease] was executed.
type ReleaseSent struct{}

// Connection says whether the connection to a part's target waits for the user to log in.
type Connection struct {
	Serial    int
	NeedsUser bool
	Text      string
}

// RelaysFailed says that relays could not be started on the nodes of a part.
type RelaysFailed struct {
	Serial int
	Reason string
}

// Add adds parts. If there are parts with their tags, it was made already, and does nothing.
type Add struct{ Parts []Spec }

// Delete deletes parts.
type Delete struct{ Labels []string }

// Substitute deletes a part and adds another one in its place, unless there is a part with the tag of the new one.
type Substitute struct {
	Label string
	Part  Spec
}

// Commit arms the release. With Now it happens at once, or the ensemble is canceled.
type Commit struct{ Now bool }

// Cancel ends all parts.
type Cancel struct{ Reason string }
