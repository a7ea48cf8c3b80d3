// Package jobstore is the durable record of submissions and of what is known of
// each job.
//
// A submission is recorded before its submit command runs and decided after it,
// so that a crash in between leaves a trace to look the job up by. What is seen
// of a job afterwards is recorded with its evidence. Any number of processes may
// use one store at once.
//
// Texts are kept byte for byte, whatever they hold.
package jobstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/state"
)

// A Phase tells how far a submission came.
type Phase string

// The phases. A submission starts as Intended and leaves that phase once its
// outcome, or that nobody knows it, was recorded.
const (
	Intended  Phase = "INTENDED"  // recorded; the submit command was not heard of since
	Submitted Phase = "SUBMITTED" // the scheduler gave it an id
	Rejected  Phase = "REJECTED"  // the scheduler did not take it
	Unknown   Phase = "UNKNOWN"   // the submit command ended without telling what became of it
	Dismissed Phase = "DISMISSED" // the scheduler gave it an id; the user put it aside, as nobody will see its end
)

// A Job is one submission and what is known of its job. Texts that are not
// known are empty.
type Job struct {
	Tag        string // UUID of the submission; never changes
	Target     string // name of the target it was submitted to
	Definition string // name or file of the target's definition
	Connection string // describes the connection it was submitted over

	ID      string // the scheduler's id, empty until it is known
	ShortID string // the form of the id that people type, where it differs
	Name    string
	Queue   string
	Owner   string
	// Directory is where the submit command ran.
	Directory   string
	Phase       Phase
	Interactive bool

	Detail   state.Detail
	Native   string // the scheduler's own word for the state
	Reason   string // why the job is in this state, in the scheduler's words
	ExitCode *int   // nil while not known
	Signal   *int   // the signal that ended the job, nil while none is known
	Nodes    string

	// Submitted, Started and Ended are the scheduler's texts of these times.
	Submitted, Started, Ended string

	Created  time.Time // when the submission was recorded
	Observed time.Time // when the state was last seen; zero if it never was
	Source   string    // the command that the state was seen by
	Origin   Origin    // the line that the state was read from
	Evidence string    // the output around it, where that tells more; at most MaximumEvidence bytes

	Stale       bool      // whether the state is in doubt: newer queries failed, or something was done to the job since
	StaleReason string    // why, at most MaximumEvidence bytes
	StaleSince  time.Time // from when on; what was asked before does not end the doubt. Zero if there is none

	Missing      bool      // whether newer listings lack the job
	MissingSince time.Time // when it was first found missing; zero if it is not
	MissingCount int       // how many listings in a row lacked it

	// Identity is a text of the scheduler that never changes for this job, and
	// that another job with the same id would not have; empty where none is known.
	Identity string

	// Submitter names the process that records the outcome of the submission, in
	// words of that process.
	Submitter string

	// Successor is the tag of the job that the scheduler gave the same id later;
	// empty if there is none. Nobody can ask for the end of the earlier one.
	Successor string

	OutputPath, ErrorPath string // the job's output files at the place it runs

	Error string // why the submission was rejected or is in doubt; at most MaximumEvidence bytes

	// Attributes are the resolved values of the definition's attributes. A
	// value is nil, a string, a bool, an int, a []string or a map[string]string.
	Attributes map[string]any
	Arguments  []string // the words of the submit command
	Script     string   // the generated job script
	// Request is what was asked for, in words of the one who submitted the job;
	// empty where that is not known.
	Request string

	// Irregular tells in words what was out of order in how the job was seen; empty
	// if nothing was.
	Irregular string

	// What an observation said that is not believed, and from when the record was
	// that an observation took the place of though it is older: these become events.
	contradicted, replaced *Observation
	ahead                  time.Time
}

// An Origin is the line of a command's output that tells a job's state; all is
// empty where the state was told in another way.
type Origin struct {
	Stream string // stdout, stderr, or output where a command has both in one
	Line   int    // counted from 1; 0 where the output is not read line by line
	Text   string // the line, at most MaximumEvidence bytes
}

// MaximumEvidence bounds, in bytes, each text that quotes what a scheduler
// said at length. Longer ones are cut when they are recorded.
const MaximumEvidence = 4096

// Accepted is what a scheduler answered to a submission that it took.
type Accepted struct {
	ID, ShortID           string
	Detail                state.Detail // as of the submission; may be undetermined
	Native                string
	Queue, Owner          string // empty to keep what the intent said
	OutputPath, ErrorPath string // empty to keep what the intent said
	Source, Evidence      string
	Origin                Origin
	Observed              time.Time // when the answer came; the present moment if zero
}

// An Observation is what one query told about a job. Facts that it does not
// tell are empty or nil, and do not erase what was known.
type Observation struct {
	Detail   state.Detail
	Native   string
	Reason   string
	ExitCode *int
	Signal   *int

	Name, Queue, Owner, Nodes string
	Identity                  string // as of Job
	Submitted, Started, Ended string
	OutputPath, ErrorPath     string

	Observed time.Time // when the query was made; the present moment if zero
	Source   string
	Origin   Origin
	Evidence string
}

// A Filter chooses jobs of a listing.
type Filter struct {
	// All adds what is over: jobs that have ended, or whose id was given to
	// another one, or that the user put aside, and submissions that were rejected.
	All    bool
	Target string // empty for every target
	Limit  int    // greatest number of jobs; 0 for no limit
}

// ErrNotFound is matched by the errors for jobs and sessions that the store
// does not have.
var ErrNotFound = errors.New("not recorded")

// A PhaseError tells that a submission is past the point where an operation
// could apply to it.
type PhaseError struct {
	Tag       string
	ID        string // the id that the submission has, if any
	Phase     Phase
	Operation string // what was tried, such as "reject"
}

func (e *PhaseError) Error() string {
	if e.ID != "" {
		return fmt.Sprintf("cannot %s submission %s: it is %s with job id %q", e.Operation, e.Tag, e.Phase, e.ID)
	}
	return fmt.Sprintf("cannot %s submission %s: it is %s", e.Operation, e.Tag, e.Phase)
}

// LastAsked returns when a query last told or failed to tell anything of the job.
func (j *Job) LastAsked() time.Time {
	latest := j.Observed
	for _, moment := range []time.Time{j.StaleSince, j.MissingSince} {
		if moment.After(latest) {
			latest = moment
		}
	}
	return latest
}

// over reports whether nothing more is to be learned of the job.
func (j *Job) over() bool {
	return j.Detail.Ended() || j.Phase == Rejected || j.Phase == Dismissed || j.Successor != ""
}

// doubt makes what is known of the job stale from a time on.
func (j *Job) doubt(reason string, since time.Time) {
	j.Stale, j.StaleReason = true, bounded(reason)
	if since.After(j.StaleSince) {
		j.StaleSince = since
	}
}

// failed makes the job stale as a query that began at a time has failed, unless
// it was seen since. It reports whether that changed anything.
func (j *Job) failed(reason string, attempted time.Time) bool {
	if isOvertaken(attempted, j.Observed) {
		return false
	}
	j.doubt(reason, attempted)
	return true
}

// trust ends the doubt about the job, unless it came up since the query that was
// made at a time: its answer may be of before.
func (j *Job) trust(asked time.Time) {
	if !isOvertaken(asked, j.StaleSince) {
		j.Stale, j.StaleReason, j.StaleSince = false, "", time.Time{}
	}
}

// miss counts a query of a time that did not find the job.
func (j *Job) miss(asked time.Time) {
	if !j.Missing {
		j.Missing, j.MissingSince = true, asked
	}
	j.MissingCount++
}

// clockTolerance is how far apart the clocks of machines that share a store may be
// before what is on record counts as recorded by a clock that was wrong.
const clockTolerance = time.Minute

// isOvertaken reports whether something newer is on record than what was asked for
// at a time. What is on record of a time that is still to come was recorded before
// a clock was set back, and overtakes nothing.
func isOvertaken(asked, recorded time.Time) bool { return asked.Before(recorded) && !isAhead(recorded) }

func isAhead(recorded time.Time) bool { return recorded.After(time.Now().Add(clockTolerance)) }

// IsAnother reports whether what was seen under the id of the job is not that job:
// its scheduler has given the id again. Where no identities can be compared, a
// job that goes back and was submitted at another time is another one.
func (j *Job) IsAnother(seen Observation) bool {
	switch {
	case seen.Identity != "" && j.Tag != "" && uuid.Validate(seen.Identity) == nil:
		return seen.Identity != j.Tag
	case seen.Identity != "" && j.Identity != "":
		return seen.Identity != j.Identity
	}
	transition := state.TransitionOf(j.Detail, seen.Detail)
	goesBack := transition == state.Returns || transition == state.Contradicts
	return goesBack && j.Submitted != "" && seen.Submitted != "" && !state.IsSameTime(seen.Submitted, j.Submitted)
}

// observe applies an observation to the job and reports whether it changed
// anything.
func (j *Job) observe(seen Observation) bool {
	if isOvertaken(seen.Observed, j.Observed) {
		return false
	}
	if j.IsAnother(seen) {
		return j.replace(seen)
	}
	if seen.Observed.Before(j.Observed) {
		j.ahead = j.Observed
	}
	transition := state.TransitionOf(j.Detail, seen.Detail)
	switch {
	case transition == state.Follows || transition == state.Returns:
		j.record(seen)
		j.Native, j.Reason = bounded(seen.Native), bounded(seen.Reason)
		if j.Irregular == replacedWords || seen.Detail.Primary() != state.PrimarySubmitted {
			j.Irregular = "" // it is in order again
		}
	case transition == state.Contradicts:
		// An ended job keeps the evidence of its end.
		j.contradict(seen)
	case !j.Detail.Ended():
		// The scheduler answered with a word that the definition does not
		// know. The word is shown beside the state that is kept.
		j.record(seen)
		if seen.Native != "" {
			j.Native, j.Reason = bounded(seen.Native), bounded(seen.Reason)
		}
	}
	if transition == state.Returns {
		j.Irregular = fmt.Sprintf("it waits again after it was %s", j.Detail)
	}
	j.Detail = state.Next(j.Detail, seen.Detail)
	j.learn(seen)
	j.trust(seen.Observed)
	j.Missing, j.MissingSince, j.MissingCount = false, time.Time{}, 0
	return true
}

// contradict takes notice of what was seen of a job that has ended otherwise.
func (j *Job) contradict(seen Observation) {
	words := fmt.Sprintf("it was seen %s after it had ended, which is not believed", seen.Detail)
	if seen.Detail.Ended() {
		words = fmt.Sprintf("it was seen %s, too, which is not believed", seen.Detail)
	}
	if words != j.Irregular {
		j.Irregular, j.contradicted = words, &seen
	}
}

const replacedWords = "another job has its id"

// replace takes notice that the id of the job is another job's by now. Of this one
// the scheduler tells nothing any more.
func (j *Job) replace(seen Observation) bool {
	if j.Irregular != replacedWords {
		j.Irregular, j.replaced = replacedWords, &seen
	}
	return j.lack(seen.Observed) || j.replaced != nil
}

// lack takes notice that a listing made at a time lacks the job, and reports
// whether that is of any account.
func (j *Job) lack(listed time.Time) bool {
	if j.Detail.Ended() || isOvertaken(listed, j.Observed) {
		return false
	}
	j.miss(listed)
	j.trust(listed) // it was answered, so what an older query failed of is over
	return true
}

// record takes over where and when the state was seen.
func (j *Job) record(seen Observation) {
	j.Observed, j.Source, j.Evidence = seen.Observed, seen.Source, bounded(seen.Evidence)
	j.Origin = seen.Origin
	j.Origin.Text = bounded(j.Origin.Text)
}

// learn takes over the facts that an observation tells.
func (j *Job) learn(seen Observation) {
	for _, fact := range []struct {
		known *string
		told  string
	}{
		{&j.Name, seen.Name}, {&j.Queue, seen.Queue}, {&j.Owner, seen.Owner}, {&j.Nodes, seen.Nodes}, {&j.Identity, seen.Identity},
		{&j.Submitted, seen.Submitted}, {&j.Started, seen.Started}, {&j.Ended, seen.Ended},
		{&j.OutputPath, seen.OutputPath}, {&j.ErrorPath, seen.ErrorPath},
	} {
		if fact.told != "" {
			*fact.known = bounded(fact.told)
		}
	}
	if seen.ExitCode != nil {
		j.ExitCode = seen.ExitCode
	}
	if seen.Signal != nil {
		j.Signal = seen.Signal
	}
}

// bounded cuts a text to what the store keeps of evidence.
func bounded(text string) string {
	if len(text) > MaximumEvidence {
		return text[:MaximumEvidence]
	}
	return text
}
