package barrier

import "time"

// An Action is one of the types of this file. The caller executes actions in the order in which they are
// returned.
type Action interface{ action() }

// Record writes a change to the record, before the actions after it.
type Record struct{ Change Change }

// Admit lets the processes of a part prove themselves at the server, from now on. After a
// restart the rosters are those that were released.
type Admit struct {
	Part    Part
	Rosters []Roster
}

// Submit submits the job of a part. Its result is [Submitted], [SubmitRefused] or [SubmitUnknown].
type Submit struct {
	Serial int
	OnHold bool // if the definition can
}

// FindJob looks for the job of a part by its tag. Its result is that of Submit. If Begin is set and the
// store of jobs does not have the tag, the submission never began: then it is submitted.
type FindJob struct {
	Serial        int
	Begin, OnHold bool
}

// ReleaseHold releases the hold of a job. Its result is [HoldResult].
type ReleaseHold struct{ Serial int }

// CancelJob cancels the job of a part. Its result is [CancelResult].
type CancelJob struct{ Serial int }

// Remove ends the processes of a part that wait or come later.
type Remove struct {
	Serial int
	Reason string
}

// Freeze checks that all processes of parts wait, and keeps these sets unchanged. Its result is [Frozen].
type Freeze struct {
	Round   int
	Serials []int
}

// Thaw ends a freeze without a release.
type Thaw struct{}

// RecordRelease records a release durably. Its result is [ReleaseRecorded].
type RecordRelease struct {
	Round   int
	At      time.Time
	Rosters []Roster
}

// SendRelease releases processes whose release is on record. Its result is [ReleaseSent].
type SendRelease struct{ Rosters []Roster }

// LaunchRelays starts relays on the nodes of a part, because its processes cannot connect without them.
type LaunchRelays struct{ Serial int }

func (Record) action()        {}
func (Admit) action()         {}
func (Submit) action()        {}
func (FindJob) action()       {}
func (ReleaseHold) action()   {}
func (CancelJob) action()     {}
func (Remove) action()        {}
func (Freeze) action()        {}
func (Thaw) action()          {}
func (RecordRelease) action() {}
func (SendRelease) action()   {}
func (LaunchRelays) action()  {}
