package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/rmctl/rmctl/model"
)

// A Source runs the listings of a scheduler.
type Source interface {
	// Rows lists all elements of a kind, [model.Queue], [model.Node] or [model.Job],
	// the jobs of everybody where the scheduler shows them. It hands out each row
	// while the command still prints, and ends with the error that each returns. Facts
	// are used by another goroutine for some time after that, and must not change.
	// Of several rows with one id the last one that has a fact counts.
	// Without an error, the rows are all there are. An error that matches
	// [ErrUnsupported] means that there is no such listing, now or later.
	Rows(ctx context.Context, kind model.Kind, each func(id string, facts Facts) error) (Outcome, error)
}

// Facts are what a row of a listing says, by the entries of x:list-jobs,
// x:list-nodes and x:list-queues.
type Facts interface {
	Fact(name string) string // empty where the row does not have it
}

// An Outcome is what a listing amounted to beside its rows.
type Outcome struct {
	Begun         time.Time     // of the scheduler's own command, which may have been made for somebody else; the present moment if zero
	Took          time.Duration // of the scheduler's own command; 0 to have it measured here
	NotUnderstood int           // rows that the definition made no element of
	// Unreached is set if the listing failed before it reached the scheduler, which was
	// not kept busy by it, however long that took.
	Unreached bool
}

// ErrUnsupported is matched by the error for a listing that a scheduler does not
// have.
var ErrUnsupported = errors.New("there is no such listing")
