package coalloc

import (
	"time"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/job"
)

// A Request describes parts that start together.
type Request struct {
	ID        string // of the ensemble, as [NewID] makes it; empty for a new one
	Name      string
	Parts     []Part
	Sets      []Set
	HoldFirst bool // submit all parts on hold, and release the holds once all were accepted
	DryRun    bool // the parts are to be shown by [Plan], not submitted: [Record] refuses the request
	Limits    Limits
}

// A Part is one job of an ensemble, on one target.
type Part struct {
	Label  string // unique in the ensemble; never empty after a request was read
	Target string
	Kind   Kind
	Gate   Gate
	// Independent parts stay out of the group whose parts exchange messages.
	Independent bool
	// Count is the number of processes that check in; at least 1.
	Count      int
	JobType    JobType
	Submission job.Submission
	Start      time.Duration // limit from the submission until the job runs; 0: none
	CheckIn    time.Duration // limit from the start of the job until all processes checked in; 0: none
	// Problem says why the part cannot be submitted, for example an unknown attribute of RSL. Its submission
	// fails with it, while the others continue.
	Problem string
	// Tag is the tag of the part's submission; empty for a new one. If the ensemble has a part with this tag
	// already, it treats the edit as a repetition whose first answer was lost.
	Tag string
}

// A JobType says how the processes of a part are started.
type JobType string

// The types of jobs.
const (
	Multiple JobType = "multiple" // the scheduler, or the launcher of the definition, starts Count copies of the program; the default
	Single   JobType = "single"   // the program is started once, and may start others itself
	MPI      JobType = "mpi"      // as Multiple, with the definition's launcher for MPI
)

// A Kind says what the failure of a part means for the others.
type Kind = barrier.Kind

// The kinds of parts.
const (
	Required    = barrier.Required    // its failure ends the ensemble, before and after the release
	Interactive = barrier.Interactive // its failure is an event; before the release the user deletes or substitutes it
	Optional    = barrier.Optional    // its failure has no effect; the release does not wait for it
)

// A Gate says what the processes of a part do before the release.
type Gate = barrier.Gate

// The gates.
const (
	Held    = barrier.Held    // rmctl-node holds the program until the release
	Program = barrier.Program // the program starts at once and calls the barrier itself
	NoGate  = barrier.NoGate  // the program starts at once and never waits
)

// A Set is parts that are alternatives: AtLeast of them have to check in, the rest is
// deleted at the release.
type Set = barrier.Set

// Limits bound an ensemble. Zero means none.
type Limits struct {
	Commit time.Duration // from the submission to the release
}
