package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// Intend records that a job is about to be submitted. Once it has returned
// without an error, the record survives the loss of power. The tag must be new.
// The job's phase becomes Intended, and its time of creation now if it is zero. Staged are
// the files of the submission, some to be removed once it has an outcome; see Leftovers.
func (s *Store) Intend(ctx context.Context, j job.Job, staged ...Staged) error {
	if j.Tag == "" {
		return errors.New("recording a submission: it has no tag")
	}
	j.Phase = job.PhaseIntended
	prepare(&j)
	if err := s.makeRoom(); err != nil {
		return fmt.Errorf("recording submission %s: %w", j.Tag, err)
	}
	err := s.write(ctx, durable, func(ctx context.Context, transaction *sql.Tx) error {
		if err := insert(ctx, transaction, j); err != nil {
			return err
		}
		for _, file := range staged {
			if err := stage(ctx, transaction, j.Tag, file); err != nil {
				return err
			}
		}
		return insertEvent(ctx, transaction, job.Event{Kind: eventIntended, Observation: job.Observation{Observed: j.Created}}, &j)
	})
	return failed(err, "recording submission %s", j.Tag)
}

// prepare completes a job before it is inserted.
func prepare(job *job.Job) {
	if job.Created.IsZero() {
		job.Created = time.Now()
	}
	job.Evidence, job.StaleReason, job.Error = stored.Bounded(job.Evidence), stored.Bounded(job.StaleReason), stored.Bounded(job.Error)
}

// Accept records that the scheduler accepted a submission: the ID and ShortID that
// it gave the job, and what the submit command said about it. Accepting it again
// under the same id changes nothing; under another id the error matches ErrDecided. A
// submission that was rejected or in doubt is accepted too: an id proves that the
// job exists. Of several jobs of the target with one id, the one that was submitted
// last is the successor of the others, in whichever order they are accepted.
func (s *Store) Accept(ctx context.Context, tag string, accepted job.Job) (job.Job, error) {
	if accepted.ID == "" {
		return job.Job{}, fmt.Errorf("accepting submission %s: the job has no id", tag)
	}
	if accepted.Observed.IsZero() {
		accepted.Observed = time.Now()
	}
	return s.change(ctx, durable, "accept", tag, func(ctx context.Context, transaction *sql.Tx, c *change) (bool, error) {
		j := &c.job
		if j.Phase == job.PhaseSubmitted {
			if j.ID == accepted.ID {
				return false, nil
			}
			return false, phaseError(j, fmt.Sprintf("accept as %q", accepted.ID))
		}
		j.Phase, j.Error = job.PhaseSubmitted, ""
		j.ID, j.ShortID = accepted.ID, accepted.ShortID
		c.observe(accepted.Observation)
		return true, succeed(ctx, transaction, j)
	})
}

// Reject records that the scheduler did not accept a submission. For one with a job id
// the error matches ErrDecided.
func (s *Store) Reject(ctx context.Context, tag, reason string) error {
	_, err := s.change(ctx, durable, "reject", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		j := &c.job
		if j.ID != "" {
			return false, phaseError(j, "reject")
		}
		j.Phase, j.Error = job.PhaseRejected, stored.Bounded(reason)
		c.found() // there is no job to look for
		return true, nil
	})
	return err
}

// RejectUnseen records that a scheduler which was queried at a time has no job of a
// submission, and returns the job after it, without its submission. It is
// rejected, and missing from then on: MissingSince and MissingCount say when and
// how often it was looked for, as a scheduler may accept a submission late. It changes
// nothing for one that the submit command itself rejected, or that has a job id.
func (s *Store) RejectUnseen(ctx context.Context, tag, reason string, queried time.Time) (job.Job, error) {
	return s.change(ctx, durable, "absence", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		j := &c.job
		if j.ID != "" || j.Phase == job.PhaseRejected && !j.Missing {
			return false, nil
		}
		j.Phase, j.Error = job.PhaseRejected, stored.Bounded(reason)
		c.miss(queried)
		return true, nil
	})
}

// Dismiss records that the user stopped following a job, and why, and returns the job after
// it, without its submission. It changes nothing for a job whose end is known. For a
// submission without a job id the error matches ErrDecided.
func (s *Store) Dismiss(ctx context.Context, tag, reason string) (job.Job, error) {
	return s.change(ctx, durable, "dismiss", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		j := &c.job
		if j.ID == "" {
			return false, phaseError(j, "dismiss")
		}
		if j.IsOver() {
			return false, nil
		}
		j.Phase, j.Error = job.PhaseDismissed, stored.Bounded(reason)
		return true, nil
	})
}

// doubt records that the outcome of a submission is unknown. It changes nothing if the
// outcome was recorded meanwhile.
func (s *Store) doubt(ctx context.Context, tag, reason string) error {
	_, err := s.change(ctx, durable, "doubt", tag, func(_ context.Context, _ *sql.Tx, c *change) (bool, error) {
		j := &c.job
		if j.ID != "" || j.Phase == job.PhaseRejected {
			return false, nil
		}
		j.Phase, j.Error = job.PhaseUnknown, stored.Bounded(reason)
		return true, nil
	})
	return err
}

// phaseError is the error for an operation that a decided submission does not allow.
func phaseError(job *job.Job, operation string) error {
	err := fmt.Errorf("cannot %s submission %s: it is %s", operation, job.Tag, job.Phase)
	if job.ID != "" {
		err = fmt.Errorf("%w with job id %q", err, job.ID)
	}
	return markedError{err, ErrDecided}
}

// Adopt records a job that was not submitted through this store and returns it. It must
// have a target and an id. If the newest job of that target and id is on record, Adopt
// returns that job unchanged. It sets the tag and the time of creation if they are empty.
func (s *Store) Adopt(ctx context.Context, j job.Job) (job.Job, error) {
	if j.Target == "" || j.ID == "" {
		return job.Job{}, fmt.Errorf("adopting job %q of target %q: both must be known", j.ID, j.Target)
	}
	if j.Tag == "" {
		j.Tag = uuid.NewString()
	}
	j.Phase = job.PhaseSubmitted
	prepare(&j)
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		known, err := queryJobs(ctx, transaction, "WHERE id = ? AND id <> '' AND target = ? ORDER BY created DESC, sequence DESC LIMIT 1", j.ID, j.Target)
		if err != nil {
			return err
		}
		if len(known) == 0 {
			if err := insert(ctx, transaction, j); err != nil {
				return err
			}
			seen := j.Observed
			if seen.IsZero() {
				seen = j.Created
			}
			return insertEvent(ctx, transaction, job.Event{Kind: eventAdopted, Observation: job.Observation{Observed: seen}}, &j)
		}
		j = known[0]
		return addSubmission(ctx, transaction, &j)
	})
	if err != nil {
		return job.Job{}, fmt.Errorf("adopting job %q of target %q: %w", j.ID, j.Target, err)
	}
	return j, nil
}

// succeed makes a job that is accepted now the successor of earlier jobs with its id, or a
// later job with its id the successor of that job.
func succeed(ctx context.Context, transaction *sql.Tx, accepted *job.Job) error {
	// Ids are new as a rule, and whether one is takes far less to ask than for the jobs with it.
	const sameID = "WHERE id = ? AND id <> '' AND target = ? AND tag <> ?"
	var isGivenAgain bool
	row := transaction.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM jobs "+sameID+")", accepted.ID, accepted.Target, accepted.Tag)
	if err := row.Scan(&isGivenAgain); err != nil || !isGivenAgain {
		return err
	}
	others, err := queryJobs(ctx, transaction, sameID+newestFirst, accepted.ID, accepted.Target, accepted.Tag)
	if err != nil {
		return err
	}
	if len(others) > 0 && others[0].Created.After(accepted.Created) {
		accepted.Successor = others[0].Tag
		return nil
	}
	for _, job := range others {
		if job.IsOver() {
			continue
		}
		job.Successor = accepted.Tag
		if err := update(ctx, transaction, job); err != nil {
			return err
		}
		if err := insertEvent(ctx, transaction, succeededEvent(&job, accepted.Observed), &job); err != nil {
			return err
		}
	}
	return nil
}

// A decision changes a job and reports whether it did.
type decision func(ctx context.Context, transaction *sql.Tx, c *change) (bool, error)

// change applies a decision to the job of a tag in one transaction, records the
// events that follow from it, and returns the job after it, without its
// submission; operation names it in errors.
func (s *Store) change(ctx context.Context, lasting durability, operation, tag string, decide decision) (job.Job, error) {
	var c change
	err := s.write(ctx, lasting, func(ctx context.Context, transaction *sql.Tx) error {
		known, err := queryJob(ctx, transaction, tag)
		if err != nil {
			return err
		}
		c = change{before: known, job: known}
		changed, err := decide(ctx, transaction, &c)
		if err != nil || !changed {
			return err
		}
		return c.save(ctx, transaction)
	})
	if err != nil {
		if errors.Is(err, ErrDecided) {
			return job.Job{}, err
		}
		return job.Job{}, fmt.Errorf("recording (%s) of submission %s: %w", operation, tag, err)
	}
	return c.job, nil
}

// save records a changed job and its events.
func (c *change) save(ctx context.Context, transaction *sql.Tx) error {
	if err := update(ctx, transaction, c.job); err != nil {
		return err
	}
	for _, event := range c.events() {
		if err := insertEvent(ctx, transaction, event, &c.job); err != nil {
			return err
		}
	}
	return nil
}
