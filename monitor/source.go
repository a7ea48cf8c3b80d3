package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/state"
)

// A Source runs the listings of a scheduler.
type Source interface {
	// Rows lists all elements of a kind, [model.Queue], [model.Node] or [model.Job],
	// the jobs of everybody where the scheduler shows them. It hands out each row
	// while the command still prints, and ends with the error that each returns. Facts
	// are used by another goroutine for some time after that, and must not change.
	// Of several rows with one id the last one that tells a fact counts.
	// Without an error, the rows are all there are. An error that matches
	// [ErrUnsupported] tells that there is no such listing, now or later.
	Rows(ctx context.Context, kind model.Kind, each func(id string, facts Facts) error) (Outcome, error)
}

// Facts are what a row of a listing tells, by the entries of x:list-jobs,
// x:list-nodes and x:list-queues.
type Facts interface {
	Fact(name string) string // empty where the row does not tell it
}

// An Outcome is what a listing amounted to beside its rows.
type Outcome struct {
	Begun         time.Time     // of the scheduler's own command, which may have been made for somebody else; the present moment if zero
	Took          time.Duration // of the scheduler's own command; 0 to have it measured here
	NotUnderstood int           // rows that the definition made no element of
	// Unreached tells that the listing failed since it did not get to the scheduler,
	// which was not kept busy by it, however long that took.
	Unreached bool
}

// ErrUnsupported is matched by the error for a listing that a scheduler does not
// have.
var ErrUnsupported = errors.New("there is no such listing")

// A Record holds the jobs that this user submitted to the resource manager.
type Record interface {
	// Jobs gives all jobs that are to be shown to a function, in any order, until that
	// returns an error. The job is the function's for the call only.
	Jobs(ctx context.Context, each func(*Recorded) error) error
	// Processes gives all processes of those jobs that are known, likewise.
	Processes(ctx context.Context, each func(tag string, process Process) error) error
}

// A Recorded is what is on record of a job. What is not known is empty, or nil.
type Recorded struct {
	Tag         string // of the submission; never empty
	ID, ShortID string // the scheduler's; empty while it has given none
	Identity    string // what tells it from another job with the same id
	Name, Queue string
	Owner       string
	Detail      state.Detail
	Native      string
	Reason      string
	Nodes       string
	ExitCode    *int
	Signal      *int
	Doubt       string    // why the state may be another by now; empty where it is not in doubt
	Created     time.Time // when the submission was recorded
	IsUndated   bool      // whether Created is when the job was adopted, and nobody knows when it was submitted
	// Submitted, Started and Ended are the scheduler's texts of these times.
	Submitted, Started, Ended string
}

// A Process is what is on record of one process of a job.
type Process struct {
	Rank     int    // its index in the job, from 0
	Node     string // empty while not known
	PID      int    // 0 while not known
	State    string // such as RUNNING, EXITED, EXITED_SIGNALLED or UNKNOWN
	ExitCode *int   // nil while not known
	Signal   *int   // the signal that ended it, nil if none is known
	Output   string // the end of what it printed
}

// A Clock tells the time, and when some of it has passed.
type Clock interface {
	Now() time.Time
	// After returns a channel that a time comes from once d has passed.
	After(d time.Duration) <-chan time.Time
}

// A systemClock goes by the time of this machine.
type systemClock struct{}

// Now implements [Clock].
func (systemClock) Now() time.Time { return time.Now() }

// After implements [Clock].
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
