package job

import "time"

// A Phase is the progress of a submission.
type Phase string

// The phases. A submission starts as PhaseIntended and leaves that phase once its
// outcome is recorded, or that the outcome is unknown.
const (
	PhaseIntended  Phase = "INTENDED"  // recorded; the submit command has not reported back
	PhaseSubmitted Phase = "SUBMITTED" // the scheduler gave it an id
	PhaseRejected  Phase = "REJECTED"  // the scheduler did not accept it
	PhaseUnknown   Phase = "UNKNOWN"   // the submit command ended without saying whether the job exists
	PhaseDismissed Phase = "DISMISSED" // the scheduler gave it an id; the user stopped following it, as its end will not be seen
)

// A Job is one submission and the facts about its job. Unknown texts are empty.
type Job struct {
	Tag        string // UUID of the submission; never changes
	Target     string // name of the target it was submitted to
	Definition string // name or file of the target's definition
	Connection string // describes the connection it was submitted over

	ID      string // the scheduler's id, empty until it is known
	ShortID string // the form of the id that people type, where it differs
	// Directory is where the submit command ran.
	Directory   string
	Phase       Phase
	Interactive bool

	Ensemble string // id of the ensemble that the job is a part of; empty for other jobs
	Part     string // label of the part

	Observation // the last observation; Observed is zero before the first

	Created time.Time // when the submission was recorded

	Stale       bool      // the state is in doubt: newer queries failed, or an operation was requested since
	StaleReason string    // why
	StaleSince  time.Time // answers to earlier queries do not end the doubt; zero if there is no doubt

	Missing      bool      // newer listings lack the job
	MissingSince time.Time // when a listing first lacked it; zero if none did
	MissingCount int       // how many listings in a row lacked it

	// Undated says that Created is when the job was adopted: its record was lost, and
	// the scheduler did not say when it was submitted.
	Undated bool

	// Submitter names the process that records the outcome of the submission, in
	// words of that process.
	Submitter string
	Hosted    bool // that process runs jobs for others, and is not to be ended together with one

	// CancelAccepted is when the scheduler accepted a request of rmctl to cancel the job; zero
	// if it did not.
	CancelAccepted time.Time

	// Successor is the tag of the job that got the same id later; empty if no other
	// job did. The scheduler says nothing more about the earlier job.
	Successor string

	Error string // why the submission was rejected or is in doubt

	// Attributes are the resolved values of the definition's attributes. A
	// value is nil, a string, a bool, an int, a []string or a map[string]string.
	Attributes map[string]any
	Arguments  []string // the words of the submit command
	Script     string   // the generated job script
	// Request is what the user submitted, in the form of a saved submission;
	// empty where that is unknown.
	Request string

	// Irregular describes an unexpected transition in the observations of the job; otherwise
	// it is empty.
	Irregular string
}

// An Observation is one answer of a scheduler about a job. Empty and nil facts were not
// reported; they do not erase known ones.
type Observation struct {
	Detail   Detail
	Native   string // the scheduler's own word for the state
	Reason   string // why the job is in this state, in the scheduler's words
	ExitCode *int   // nil while unknown
	Signal   *int   // the signal that ended the job, nil while unknown

	Name, Queue, Owner, Nodes string
	// Identity is a text of the scheduler that never changes for this job and that
	// another job with the same id would not have.
	Identity string
	// Submitted, Started and Ended are the scheduler's texts of these times.
	Submitted, Started, Ended string
	OutputPath, ErrorPath     string // the job's output files on its host
	// Tasks are the remembered tasks of an array, in the format of package reader.
	Tasks string

	Observed time.Time // when the query was made
	Source   string    // the command that was run
	Origin   Origin    // the line that the state was read from
	Evidence string    // the output around it, if that has more
}

// An Origin is the line of a command's output that states a job's state; all is
// empty where the state is known in another way.
type Origin struct {
	Stream string // stdout, stderr, or output where a command has both in one
	Line   int    // counted from 1; 0 where the output is not read line by line
	Text   string // the line
}

// LastQueried returns when a query last gave an answer about the job, or failed to.
func (j *Job) LastQueried() time.Time {
	latest := j.Observed
	for _, moment := range []time.Time{j.StaleSince, j.MissingSince} {
		if moment.After(latest) {
			latest = moment
		}
	}
	return latest
}

// SubmittedAt returns when the job was submitted; zero if that is unknown.
func (j *Job) SubmittedAt() time.Time {
	if j.Undated {
		return time.Time{}
	}
	return j.Created
}

// Doubt returns why the state of the job may have changed since it was observed;
// empty if there is no reason.
func (j *Job) Doubt() string {
	switch {
	case j.Missing:
		return "missing from its scheduler's listing"
	case j.Stale:
		return j.StaleReason
	case j.Phase == PhaseUnknown:
		return j.Error
	}
	return ""
}

// IsOver reports whether nothing more is to be learned about the job.
func (j *Job) IsOver() bool {
	return j.Detail.Ended() || j.Phase == PhaseRejected || j.Phase == PhaseDismissed || j.Successor != ""
}
