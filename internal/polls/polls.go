// Package polls records shared queries: who makes one, how it went, and its rows. Package poller
// decides when to query.
package polls

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
)

// A Record keeps shared queries in the database of a store of jobs.
type Record struct {
	read    stored.Queryer
	write   stored.Writer
	explain func(error) error // explains a failure of the database
}

// NewRecord returns the record in a database that has its tables.
func NewRecord(read stored.Queryer, write stored.Writer, explain func(error) error) *Record {
	return &Record{read, write, explain}
}

// failed wraps an error with the failed action and its meaning; it returns nil for no error.
func (r *Record) failed(err error, format string, arguments ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(arguments, r.explain(err))...)
}

// pollsKept is how long single polls are remembered, to be counted.
const pollsKept = 24 * time.Hour

// A PollKind is the purpose of a shared query.
type PollKind string

// The kinds of queries that are no listings; those are named as the definition's commands
// are, such as "list-nodes".
const (
	OwnJobs   PollKind = "own-jobs"   // for the jobs of this user that are on record
	NamedJobs PollKind = "named-jobs" // for single jobs of waits
)

// A PollKey identifies a shared query.
type PollKey struct {
	Kind PollKind
	Key  string // identifies connection and definition
}

// A Poll is the state of a query that all processes share: the listing of the
// jobs of one user over one connection by one definition.
type Poll struct {
	PollKey
	Targets []string // that share it, sorted
	Holder  string   // the process that queries now; empty if none does

	Begun    time.Time     // when the last one that ended began; zero before the first
	Took     time.Duration // how long it took
	Jobs     int           // that it answered for
	Changed  time.Time     // when one last showed a change
	Failures int           // that have failed in a row
	Error    string        // of the last one; empty if it went well
	Failure  PollFailure   // the kind of Error

	// Paused is when rmctl stopped querying after repeated failures; zero if it did not.
	Paused time.Time
}

// A PollFailure is a kind of failure of a query.
type PollFailure int

// The stored kinds of failures. No failure is 0.
const (
	PollFailed    PollFailure = 1 // a command of the scheduler failed
	PollTimedOut  PollFailure = 2 // it took too long
	PollUnreached PollFailure = 3 // there was no connection, or it was lost
)

// kind is the stored kind of a result.
func (p *Poll) kind() PollFailure {
	if p.Error == "" {
		return 0
	}
	return max(p.Failure, PollFailed)
}

// A Claim is a request of one process to make a shared query.
type Claim struct {
	PollKey
	Target string
	Holder string        // identifies the process
	Lease  time.Duration // the time after which others take over; it can be renewed
	Now    time.Time
	// Due reports whether the query should be made now, given how it last went.
	Due func(Poll) bool
	// IsGone reports whether the process of a holder has certainly ended, so that no process
	// waits for the end of its lease. It may be nil.
	IsGone func(holder string) bool
}

// Claim gives the right to make a shared query to one process at a time. It reports whether
// the claim was granted: not while another process holds it, unless its lease has run out
// or it is gone, and not before the query is due. The poll is returned as it was before,
// with the target among those that share it. A process that was granted the claim ends it
// with Finish.
func (r *Record) Claim(ctx context.Context, claim Claim) (poll Poll, granted bool, err error) {
	// Most claims are not due; these do not wait for other writers.
	poll, err = r.readClaimed(ctx, r.read, claim)
	if err == nil && slices.Contains(poll.Targets, claim.Target) && (poll.Holder != "" || !claim.Due(poll)) {
		return poll, false, nil
	}
	err = r.write(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		poll, err = r.readClaimed(ctx, transaction, claim)
		if err == nil && !slices.Contains(poll.Targets, claim.Target) {
			err = join(ctx, transaction, &poll, claim)
		}
		if err != nil || poll.Holder != "" || !claim.Due(poll) {
			return err
		}
		granted = true
		_, err := transaction.ExecContext(ctx,
			`INSERT INTO polls (kind, key, holder, held, until, begun, took, jobs, changed, failures, error, paused)
			VALUES (?, ?, ?, ?, ?, '', 0, 0, '', 0, '', '')
			ON CONFLICT (kind, key) DO UPDATE SET holder = excluded.holder, held = excluded.held, until = excluded.until`,
			claim.Kind, claim.Key, claim.Holder, stored.Time(claim.Now), stored.Time(claim.Now.Add(claim.Lease)))
		return err
	})
	if err != nil {
		return Poll{}, false, r.failed(err, "claiming the query of target %q", claim.Target)
	}
	return poll, granted, nil
}

// join adds the target of a claim to those that share a query, and removes it from the
// query of this kind that it shared before. Since the query has said nothing about its jobs
// yet, the next query is made as soon as after a change.
func join(ctx context.Context, transaction *sql.Tx, poll *Poll, claim Claim) error {
	_, err := transaction.ExecContext(ctx, "INSERT OR REPLACE INTO poll_targets (kind, target, key) VALUES (?, ?, ?)", claim.Kind, claim.Target, claim.Key)
	if err != nil {
		return err
	}
	poll.Targets = slices.Sorted(slices.Values(append(poll.Targets, claim.Target)))
	if poll.Begun.IsZero() {
		return nil
	}
	poll.Changed = claim.Now
	_, err = transaction.ExecContext(ctx, "UPDATE polls SET changed = ? WHERE kind = ? AND key = ?", stored.Time(poll.Changed), claim.Kind, claim.Key)
	return err
}

// readClaimed returns the poll of a claim. Its holder is empty unless another process makes
// the query.
func (r *Record) readClaimed(ctx context.Context, source stored.Queryer, claim Claim) (Poll, error) {
	poll, held, err := readPoll(ctx, source, claim.PollKey)
	if !held.blocks(claim) {
		poll.Holder = ""
	}
	return poll, err
}

// A hold is the right of a process to make a query.
type hold struct {
	holder      string
	from, until time.Time
}

// blocks reports whether a hold of another process blocks a claim. Clocks of hosts that
// share a store may differ: a hold from the future does not count.
func (h hold) blocks(claim Claim) bool {
	return h.holder != "" && h.holder != claim.Holder && claim.Now.Before(h.until) && !h.from.After(claim.Now.Add(claim.Lease)) &&
		(claim.IsGone == nil || !claim.IsGone(h.holder))
}

// Renew extends the lease of a claim. It reports false if another process has taken the
// claim over.
func (r *Record) Renew(ctx context.Context, claim Claim) (bool, error) {
	renewed, err := r.write.Execute(ctx, "UPDATE polls SET held = ?, until = ? WHERE kind = ? AND key = ? AND holder = ?",
		stored.Time(claim.Now), stored.Time(claim.Now.Add(claim.Lease)), claim.Kind, claim.Key, claim.Holder)
	return renewed > 0, r.failed(err, "renewing the claim on the query of target %q", claim.Target)
}

// Finish records the result of a shared query and ends the claim of its holder. A process
// whose claim was taken over records its answer, too. A listing to share, if there is one,
// replaces the previous one.
func (r *Record) Finish(ctx context.Context, claim Claim, poll Poll, listed *Listing) error {
	err := r.write(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		if err := replaceListings(ctx, transaction, claim.PollKey, poll.Begun, listed); err != nil {
			return err
		}
		_, err := transaction.ExecContext(ctx,
			`UPDATE polls SET begun = ?, took = ?, jobs = ?, changed = max(changed, ?), failures = ?, error = ?, paused = ?,
			holder = CASE holder WHEN ? THEN '' ELSE holder END WHERE kind = ? AND key = ?`,
			stored.Time(poll.Begun), poll.Took.Nanoseconds(), poll.Jobs, stored.Time(poll.Changed), poll.Failures, stored.Bounded(poll.Error), stored.Time(poll.Paused),
			claim.Holder, claim.Kind, claim.Key)
		if err == nil {
			_, err = transaction.ExecContext(ctx, "INSERT INTO polls_past (kind, key, begun, took, jobs, failed) VALUES (?, ?, ?, ?, ?, ?)",
				claim.Kind, claim.Key, stored.Time(poll.Begun), poll.Took.Nanoseconds(), poll.Jobs, poll.kind())
		}
		if err == nil {
			err = forgetPolls(ctx, transaction, claim.PollKey, poll.Begun.Add(-pollsKept))
		}
		return err
	})
	return r.failed(err, "recording the query of target %q", claim.Target)
}

// forgetPolls removes single polls of before a time, and queries that no process has made
// since then, as after a change of the definition.
func forgetPolls(ctx context.Context, transaction *sql.Tx, key PollKey, before time.Time) error {
	_, err := transaction.ExecContext(ctx, "DELETE FROM polls_past WHERE kind = ? AND key = ? AND begun < ?", key.Kind, key.Key, stored.Time(before))
	if err != nil {
		return err
	}
	gone, err := transaction.ExecContext(ctx, "DELETE FROM polls WHERE NOT (kind = ? AND key = ?) AND begun < ? AND until < ?", key.Kind, key.Key, stored.Time(before), stored.Time(before))
	if err != nil {
		return err
	}
	if count, err := gone.RowsAffected(); err != nil || count == 0 {
		return err
	}
	for _, table := range []string{"polls_past", "poll_targets", "listings"} {
		if _, err := transaction.ExecContext(ctx, "DELETE FROM "+table+" WHERE (kind, key) NOT IN (SELECT kind, key FROM polls)"); err != nil {
			return err
		}
	}
	_, err = transaction.ExecContext(ctx, "DELETE FROM listing_chunks WHERE listing NOT IN (SELECT number FROM listings)")
	return err
}

// Resume ends the pause of a query, so that its next claim is due after the ordinary interval.
// It reports whether the query was paused.
func (r *Record) Resume(ctx context.Context, key PollKey) (bool, error) {
	resumed, err := r.write.Execute(ctx, "UPDATE polls SET paused = '', failures = 0, error = '' WHERE kind = ? AND key = ? AND paused <> ''", key.Kind, key.Key)
	return resumed > 0, r.failed(err, "resuming a query")
}

// Poll returns the state of a shared query. One that was never made is the zero
// Poll with its key.
func (r *Record) Poll(ctx context.Context, key PollKey) (Poll, error) {
	poll, _, err := readPoll(ctx, r.read, key)
	return poll, r.failed(err, "looking up a query")
}

func readPoll(ctx context.Context, source stored.Queryer, key PollKey) (Poll, hold, error) {
	poll := Poll{PollKey: key}
	targets, err := targetsOf(ctx, source, key)
	if err != nil {
		return Poll{}, hold{}, err
	}
	poll.Targets = targets
	var holding hold
	row := source.QueryRowContext(ctx, `SELECT holder, held, until, begun, took, jobs, changed, failures, error, paused,
		coalesce((SELECT failed FROM polls_past AS past WHERE past.kind = polls.kind AND past.key = polls.key AND past.begun = polls.begun ORDER BY rowid DESC LIMIT 1), 0)
		FROM polls WHERE kind = ? AND key = ?`, key.Kind, key.Key)
	err = row.Scan(&holding.holder, stored.At(&holding.from), stored.At(&holding.until), stored.At(&poll.Begun), &poll.Took, &poll.Jobs,
		stored.At(&poll.Changed), &poll.Failures, &poll.Error, stored.At(&poll.Paused), &poll.Failure)
	if errors.Is(err, sql.ErrNoRows) {
		return poll, hold{}, nil
	}
	if err != nil {
		return Poll{}, hold{}, err
	}
	poll.Holder = holding.holder
	poll.Failure = poll.kind() // no kind for a failure that no longer counts
	return poll, holding, nil
}

// targetsOf returns the targets that share a query, sorted.
func targetsOf(ctx context.Context, source stored.Queryer, key PollKey) (targets []string, err error) {
	var target string
	err = stored.Each(ctx, source, []any{&target}, func() error {
		targets = append(targets, target)
		return nil
	}, "SELECT target FROM poll_targets WHERE kind = ? AND key = ? ORDER BY target", key.Kind, key.Key)
	return targets, err
}
