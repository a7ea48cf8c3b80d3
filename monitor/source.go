package monitor

import "time"

// Facts are the facts in a row of a listing, by the entries of x:list-jobs, x:list-nodes and
// x:list-queues.
type Facts interface {
	Fact(name string) string // empty where the row does not have it
}

// An Outcome summarizes a listing.
type Outcome struct {
	Begun         time.Time     // of the scheduler's own command, which another process may have run; now if zero
	Took          time.Duration // of the scheduler's own command; 0 to have it measured here
	NotUnderstood int           // rows that the definition made no element of
	Gone          []string      // ids of jobs that are gone, of [Options.JobChanges]
	// Unreached is set if the listing failed before it reached the scheduler, which was
	// not kept busy by it, however long that took.
	Unreached bool
	// Unsupported is set if the scheduler has no such listing, now or later.
	Unsupported bool
}
