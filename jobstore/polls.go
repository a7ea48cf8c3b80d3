package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// pollsKept is how long single polls are remembered, to tell how many there were.
const pollsKept = 24 * time.Hour

// A Poll is the state of a query that all processes share: the listing of the
// jobs of one user over one connection by one definition.
type Poll struct {
	Key     string   // tells connection and definition from others
	Targets []string // that share it, sorted
	Holder  string   // the process that is asking now; empty if none is

	Begun    time.Time     // when the last one that ended began; zero if there was none
	Took     time.Duration // how long it took
	Jobs     int           // that it told about
	Changed  time.Time     // when one last showed a change
	Failures int           // that have failed in a row
	Error    string        // of the last one; empty if it went well
	Failure  PollFailure   // the kind of what Error tells

	// Paused is when asking was given up after repeated failures; zero if it was not.
	Paused time.Time
}

// A PollFailure is a kind of failure of a query, for those who read of it as they
// would meet it themselves.
type PollFailure int

// The kinds of failures, as they are stored. No failure is 0.
const (
	PollFailed    PollFailure = 1 // a command of the scheduler failed
	PollTimedOut  PollFailure = 2 // it took too long
	PollUnreached PollFailure = 3 // there was no connection, or it was lost
)

// kind is what is stored of how a query went.
func (p *Poll) kind() PollFailure {
	if p.Error == "" {
		return 0
	}
	return max(p.Failure, PollFailed)
}

// A Claim is the wish of one process to make a shared query.
type Claim struct {
	Key, Target string
	Holder      string        // tells the process from all others
	Lease       time.Duration // how long it may be busy before others take over; it can be renewed
	Now         time.Time
	// Due reports whether the query should be made now, given how it last went.
	Due func(Poll) bool
	// IsGone reports whether the process that a holder names has ended for certain,
	// so that nobody has to wait for the end of its lease. It may be nil.
	IsGone func(holder string) bool
}

// ClaimPoll gives the right to make a shared query to one process at a time. It
// reports whether the claim was granted; it is not while another process holds
// it, unless its lease has run out or it is gone, or when the query is not due. The poll is
// returned as it was before, with the target among those that share it. Who was granted it ends it with FinishPoll.
func (s *Store) ClaimPoll(ctx context.Context, claim Claim) (poll Poll, granted bool, err error) {
	// Most claims are not due; these need not wait for whoever writes.
	poll, err = s.readClaimed(ctx, s.database, claim)
	if err == nil && slices.Contains(poll.Targets, claim.Target) && (poll.Holder != "" || !claim.Due(poll)) {
		return poll, false, nil
	}
	err = s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		poll, err = s.readClaimed(ctx, transaction, claim)
		if err == nil && !slices.Contains(poll.Targets, claim.Target) {
			err = join(ctx, transaction, &poll, claim)
		}
		if err != nil || poll.Holder != "" || !claim.Due(poll) {
			return err
		}
		granted = true
		_, err := transaction.ExecContext(ctx,
			`INSERT INTO polls (key, target, holder, held, until, begun, took, jobs, changed, failures, error, paused)
			VALUES (?, ?, ?, ?, ?, '', 0, 0, '', 0, '', '')
			ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, held = excluded.held, until = excluded.until`,
			claim.Key, strings.Join(poll.Targets, targetSeparator), claim.Holder, storedTime(claim.Now), storedTime(claim.Now.Add(claim.Lease)))
		return err
	})
	if err != nil {
		return Poll{}, false, fmt.Errorf("claiming the query of target %q: %w", claim.Target, err)
	}
	return poll, granted, nil
}

// targetSeparator stands between the names of targets, which have none in them.
const targetSeparator = "\n"

// join adds the target of a claim to those that share a query, and takes it from
// those of the query that it shared before. As the query has told nothing of its
// jobs yet, it is made again as soon as after a change.
func join(ctx context.Context, transaction *sql.Tx, poll *Poll, claim Claim) error {
	keys, err := pollKeys(ctx, transaction)
	for _, key := range keys {
		if err != nil || key == claim.Key {
			continue
		}
		var other Poll
		if other, _, err = readPoll(ctx, transaction, key); err == nil && slices.Contains(other.Targets, claim.Target) {
			left := slices.DeleteFunc(other.Targets, func(name string) bool { return name == claim.Target })
			_, err = transaction.ExecContext(ctx, "UPDATE polls SET target = ? WHERE key = ?", strings.Join(left, targetSeparator), key)
		}
	}
	if err != nil {
		return err
	}
	poll.Targets = slices.Sorted(slices.Values(append(poll.Targets, claim.Target)))
	if !poll.Begun.IsZero() {
		poll.Changed = claim.Now
	}
	_, err = transaction.ExecContext(ctx, "UPDATE polls SET target = ?, changed = ? WHERE key = ?",
		strings.Join(poll.Targets, targetSeparator), storedTime(poll.Changed), claim.Key)
	return err
}

// readClaimed returns the poll of a claim. It has a holder where somebody else than
// the claimant is at work.
func (s *Store) readClaimed(ctx context.Context, source queryer, claim Claim) (Poll, error) {
	poll, held, err := readPoll(ctx, source, claim.Key)
	if !held.by(claim) {
		poll.Holder = ""
	}
	return poll, err
}

// A hold is the right of a process to make a query.
type hold struct {
	holder      string
	from, until time.Time
}

// by reports whether somebody else than the claimant is at work. Clocks of hosts
// that share a store may differ: a hold of the future is none.
func (h hold) by(claim Claim) bool {
	return h.holder != "" && h.holder != claim.Holder && claim.Now.Before(h.until) && !h.from.After(claim.Now.Add(claim.Lease)) &&
		(claim.IsGone == nil || !claim.IsGone(h.holder))
}

// RenewPoll lets the holder of a claim be busy for longer. It reports false
// where the claim is no longer its own.
func (s *Store) RenewPoll(ctx context.Context, claim Claim) (bool, error) {
	var renewed int64
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		result, err := transaction.ExecContext(ctx, "UPDATE polls SET held = ?, until = ? WHERE key = ? AND holder = ?",
			storedTime(claim.Now), storedTime(claim.Now.Add(claim.Lease)), claim.Key, claim.Holder)
		if err == nil {
			renewed, err = result.RowsAffected()
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("renewing the claim on the query of target %q: %w", claim.Target, err)
	}
	return renewed > 0, nil
}

// FinishPoll records how a shared query went and ends the claim of its holder.
// What a process tells whose claim was taken over counts all the same: it asked.
func (s *Store) FinishPoll(ctx context.Context, claim Claim, poll Poll) error {
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		_, err := transaction.ExecContext(ctx,
			`UPDATE polls SET begun = ?, took = ?, jobs = ?, changed = max(changed, ?), failures = ?, error = ?, paused = ?,
			holder = CASE holder WHEN ? THEN '' ELSE holder END WHERE key = ?`,
			storedTime(poll.Begun), poll.Took.Nanoseconds(), poll.Jobs, storedTime(poll.Changed), poll.Failures, bounded(poll.Error), storedTime(poll.Paused),
			claim.Holder, claim.Key)
		if err == nil {
			_, err = transaction.ExecContext(ctx, "INSERT INTO polls_past (key, begun, took, jobs, failed) VALUES (?, ?, ?, ?, ?)",
				claim.Key, storedTime(poll.Begun), poll.Took.Nanoseconds(), poll.Jobs, poll.kind())
		}
		if err == nil {
			err = forgetPolls(ctx, transaction, claim.Key, poll.Begun.Add(-pollsKept))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("recording the query of target %q: %w", claim.Target, err)
	}
	return nil
}

// forgetPolls removes what is told of no longer: single polls of before a time, and
// queries that nobody has made since then, as after a change of the definition.
func forgetPolls(ctx context.Context, transaction *sql.Tx, key string, before time.Time) error {
	if _, err := transaction.ExecContext(ctx, "DELETE FROM polls_past WHERE key = ? AND begun < ?", key, storedTime(before)); err != nil {
		return err
	}
	gone, err := transaction.ExecContext(ctx, "DELETE FROM polls WHERE key <> ? AND begun < ? AND until < ?", key, storedTime(before), storedTime(before))
	if err != nil {
		return err
	}
	if count, err := gone.RowsAffected(); err != nil || count == 0 {
		return err
	}
	_, err = transaction.ExecContext(ctx, "DELETE FROM polls_past WHERE key NOT IN (SELECT key FROM polls)")
	return err
}

// ResumePoll ends the pause of a query, so that the next claim of it is due by
// its ordinary interval. It reports whether there was a pause.
func (s *Store) ResumePoll(ctx context.Context, key string) (bool, error) {
	var resumed int64
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		result, err := transaction.ExecContext(ctx, "UPDATE polls SET paused = '', failures = 0, error = '' WHERE key = ? AND paused <> ''", key)
		if err == nil {
			resumed, err = result.RowsAffected()
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("resuming a query: %w", err)
	}
	return resumed > 0, nil
}

// Poll returns the state of a shared query. One that was never made is the zero
// Poll with its key.
func (s *Store) Poll(ctx context.Context, key string) (Poll, error) {
	poll, _, err := readPoll(ctx, s.database, key)
	if err != nil {
		return Poll{}, fmt.Errorf("looking up a query: %w", explained(err))
	}
	return poll, nil
}

// A PollCount tells how often a shared query was made.
type PollCount struct {
	Poll
	Hour, Day int           // how many in the last hour and the last day
	Spent     time.Duration // that these of the day took in all
	Failed    int           // how many of these of the day failed
}

// A PollLoad tells how much a shared query has asked of its scheduler in some time.
type PollLoad struct {
	Count   int           // how often it was made, the last time included
	First   time.Time     // when the first of these began
	Spent   time.Duration // that all of them took
	Longest time.Duration // that one of them took, but for the last one
}

// PollLoad returns the load of a query since a time.
func (s *Store) PollLoad(ctx context.Context, key string, since time.Time) (PollLoad, error) {
	var load PollLoad
	var first string
	var spent, longest int64
	row := s.database.QueryRowContext(ctx, `WITH lately AS (SELECT begun, took FROM polls_past WHERE key = ? AND begun >= ?)
		SELECT count(*), coalesce(min(begun), ''), coalesce(sum(took), 0),
		coalesce((SELECT max(took) FROM lately WHERE begun < (SELECT max(begun) FROM lately)), 0) FROM lately`, key, storedTime(since))
	err := row.Scan(&load.Count, &first, &spent, &longest)
	if err == nil {
		load.First, err = parseTime(first)
	}
	if err != nil {
		return PollLoad{}, fmt.Errorf("looking up how long a query took: %w", explained(err))
	}
	load.Spent, load.Longest = time.Duration(spent), time.Duration(longest)
	return load, nil
}

// Polls returns all shared queries with their counts up to now, by targets.
func (s *Store) Polls(ctx context.Context, now time.Time) (counts []PollCount, err error) {
	keys, err := pollKeys(ctx, s.database)
	for _, key := range keys {
		var count PollCount
		if count.Poll, _, err = readPoll(ctx, s.database, key); err != nil {
			break
		}
		var spent int64
		row := s.database.QueryRowContext(ctx,
			"SELECT count(*), coalesce(sum(begun >= ?), 0), coalesce(sum(took), 0), coalesce(sum(failed <> 0), 0) FROM polls_past WHERE key = ? AND begun >= ?",
			storedTime(now.Add(-time.Hour)), key, storedTime(now.Add(-pollsKept)))
		if err = row.Scan(&count.Day, &count.Hour, &spent, &count.Failed); err != nil {
			break
		}
		count.Spent = time.Duration(spent)
		counts = append(counts, count)
	}
	if err != nil {
		return nil, fmt.Errorf("counting the queries: %w", explained(err))
	}
	return counts, nil
}

func pollKeys(ctx context.Context, source queryer) (keys []string, err error) {
	rows, err := source.QueryContext(ctx, "SELECT key FROM polls ORDER BY target, key")
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

func readPoll(ctx context.Context, source queryer, key string) (Poll, hold, error) {
	poll := Poll{Key: key}
	var targets, held, until, begun, changed, paused string
	var took int64
	var failure int
	row := source.QueryRowContext(ctx, `SELECT target, holder, held, until, begun, took, jobs, changed, failures, error, paused,
		coalesce((SELECT failed FROM polls_past AS past WHERE past.key = polls.key AND past.begun = polls.begun ORDER BY rowid DESC LIMIT 1), 0)
		FROM polls WHERE key = ?`, key)
	err := row.Scan(&targets, &poll.Holder, &held, &until, &begun, &took, &poll.Jobs, &changed, &poll.Failures, &poll.Error, &paused, &failure)
	if errors.Is(err, sql.ErrNoRows) {
		return poll, hold{}, nil
	}
	if err != nil {
		return Poll{}, hold{}, err
	}
	if targets != "" {
		poll.Targets = strings.Split(targets, targetSeparator)
	}
	poll.Took = time.Duration(took)
	poll.Failure = PollFailure(failure)
	poll.Failure = poll.kind() // none of a failure that counts no more
	holding := hold{holder: poll.Holder}
	for _, moment := range []struct {
		text string
		time *time.Time
	}{{held, &holding.from}, {until, &holding.until}, {begun, &poll.Begun}, {changed, &poll.Changed}, {paused, &poll.Paused}} {
		if *moment.time, err = parseTime(moment.text); err != nil {
			return Poll{}, hold{}, err
		}
	}
	return poll, holding, nil
}
