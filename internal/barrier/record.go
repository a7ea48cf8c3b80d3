package barrier

import "time"

// An Ensemble is the record of an ensemble, without its parts.
type Ensemble struct {
	ID       string
	Name     string
	At       string // target with the co-allocator; empty for this host
	Document string // the request; the machine does not read it

	HoldFirst   bool          // submit on hold, release the holds once all parts were accepted
	CommitLimit time.Duration // from the start to the release; 0: none
	Sets        []Set

	State         State
	Outcome       State  // Failed or Canceled, from Ending on
	Reason        string // why it failed or was canceled
	Committed     bool   // the release waits only for check-ins
	CommitNow     bool   // it must not wait for them
	HoldsReleased bool
	Serials       int           // the greatest serial so far
	Notices       int           // the number of events so far
	Extended      time.Duration // by which the commit limit was extended for the user

	Created, Started, Released, Ended time.Time
}

// A Set is parts that are alternatives: AtLeast of them have to check in, the rest is
// deleted at the release.
type Set struct {
	Name    string // empty if the request gives it none
	Labels  []string
	AtLeast int
}

// A Spec is the requested configuration of a part.
type Spec struct {
	Label    string
	Target   string
	Document string // the part as requested; the machine does not read it
	Tag      string // of its submission, set before it is submitted

	Kind  Kind
	Gate  Gate
	Count int // processes that check in

	StartLimit   time.Duration // from the submission until the job runs; 0: none
	CheckInLimit time.Duration // from the start of the job until all processes checked in; 0: none
	WallTime     time.Duration // limit of the scheduler; 0 if unknown
}

// A Part is the record of a part.
type Part struct {
	Spec
	Serial int // from 1, never used again
	Index  int // place in the request, from 0

	State       PartState
	Reason      string // of a failure, or why the job waits
	JobID       string
	Incarnation int  // of the job, from 1; 0 before its first process
	Attempted   bool // its submission was begun, so a job may exist
	Held        bool // the scheduler holds the job until the others are accepted, too
	Unconfirmed bool // the job was canceled, and no scheduler says that it is gone

	ExitCode, Signal *int
	Extended         time.Duration // by which the present limit was extended for the user

	Submitted, Active, Arrived, Released, Ended, Canceled time.Time

	Present int // processes that wait at the barrier; not on record
}

// A Notice is an event that users follow.
type Notice struct {
	Sequence int // from 1, without gaps
	Time     time.Time
	Kind     EventKind
	Label    string // of the part
	State    string // of the part, or of the ensemble
	Text     string // one line for users
}

// A Roster is the processes of a part that one release lets through. Incarnation 0 means every
// process of a part without a gate. Serial 0 means the commit, which releases the ensemble as a whole.
type Roster struct {
	Serial      int
	Incarnation int
	Instances   []string
}

// A Change is the change of the record in one step.
type Change struct {
	Ensemble Ensemble
	Parts    []Part // changed and new ones
	Notices  []Notice
}
