package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Intend records that a job is about to be submitted. Once it has returned
// without an error, the record survives the loss of power. The tag must be new.
// The job's phase becomes Intended, and its time of creation now unless given.
// Staged are the files that it puts in place, of which some are to be removed once
// the submission has an outcome; see Leftovers.
func (s *Store) Intend(ctx context.Context, job Job, staged ...Staged) error {
	if job.Tag == "" {
		return errors.New("recording a submission: it has no tag")
	}
	job.Phase = Intended
	prepare(&job)
	if err := s.makeRoom(); err != nil {
		return fmt.Errorf("recording submission %s: %w", job.Tag, err)
	}
	err := s.write(ctx, durable, func(ctx context.Context, transaction *sql.Tx) error {
		if err := insert(ctx, transaction, job); err != nil {
			return err
		}
		for _, file := range staged {
			if _, err := transaction.ExecContext(ctx, "INSERT OR IGNORE INTO staged (tag, path, stays) VALUES (?, ?, ?)", job.Tag, file.Path, file.Stays); err != nil {
				return err
			}
		}
		return insertEvent(ctx, transaction, Event{Kind: EventIntended, Seen: job.Created}, &job)
	})
	if err != nil {
		return fmt.Errorf("recording submission %s: %w", job.Tag, err)
	}
	return nil
}

// prepare completes a job that is to be inserted.
func prepare(job *Job) {
	if job.Created.IsZero() {
		job.Created = time.Now()
	}
	job.Evidence, job.StaleReason, job.Error = bounded(job.Evidence), bounded(job.StaleReason), bounded(job.Error)
}

// Accept records that the scheduler took a submission and named it. Accepting it
// again under the same id changes nothing; under another id it is a *PhaseError.
// A submission that was rejected or in doubt is accepted too: an id proves that
// the job exists. Of the jobs of the target with one id the one that was submitted
// last is the successor of those before it, in whichever order they are accepted.
func (s *Store) Accept(ctx context.Context, tag string, accepted Accepted) (Job, error) {
	if accepted.ID == "" {
		return Job{}, fmt.Errorf("accepting submission %s: the job has no id", tag)
	}
	if accepted.Observed.IsZero() {
		accepted.Observed = time.Now()
	}
	return s.change(ctx, durable, "accept", tag, func(ctx context.Context, transaction *sql.Tx, job *Job) (bool, error) {
		if job.Phase == Submitted {
			if job.ID == accepted.ID {
				return false, nil
			}
			return false, phaseError(job, fmt.Sprintf("accept as %q", accepted.ID))
		}
		job.Phase, job.Error = Submitted, ""
		job.ID, job.ShortID = accepted.ID, accepted.ShortID
		job.observe(Observation{
			Detail: accepted.Detail, Native: accepted.Native, Queue: accepted.Queue, Owner: accepted.Owner,
			OutputPath: accepted.OutputPath, ErrorPath: accepted.ErrorPath,
			Observed: accepted.Observed, Source: accepted.Source, Evidence: accepted.Evidence, Origin: accepted.Origin,
		})
		return true, succeed(ctx, transaction, job)
	})
}

// Reject records that the scheduler did not take a submission. One that has a
// job id is past that: a *PhaseError.
func (s *Store) Reject(ctx context.Context, tag, reason string) error {
	_, err := s.change(ctx, durable, "reject", tag, func(_ context.Context, _ *sql.Tx, job *Job) (bool, error) {
		if job.ID != "" {
			return false, phaseError(job, "reject")
		}
		job.Phase, job.Error = Rejected, bounded(reason)
		job.Missing, job.MissingSince, job.MissingCount = false, time.Time{}, 0 // nobody is to look for it
		return true, nil
	})
	return err
}

// RejectUnseen records that a scheduler which was asked at a time has no job of a
// submission, and returns the job after it, without its submission. It is
// rejected, and missing from then on: MissingSince and MissingCount tell when and
// how often it was looked for, as a scheduler may take a submission up late. One
// that was rejected by the submit command itself, or has a job id, is left as it is.
func (s *Store) RejectUnseen(ctx context.Context, tag, reason string, asked time.Time) (Job, error) {
	return s.change(ctx, durable, "absence", tag, func(_ context.Context, _ *sql.Tx, job *Job) (bool, error) {
		if job.ID != "" || job.Phase == Rejected && !job.Missing {
			return false, nil
		}
		job.Phase, job.Error = Rejected, bounded(reason)
		job.miss(asked)
		return true, nil
	})
}

// Dismiss records that the user put a job aside, and why, and returns the job after
// it, without its submission. It changes nothing for a job whose end is known. A
// submission without a job id is a *PhaseError.
func (s *Store) Dismiss(ctx context.Context, tag, reason string) (Job, error) {
	return s.change(ctx, durable, "dismiss", tag, func(_ context.Context, _ *sql.Tx, job *Job) (bool, error) {
		if job.ID == "" {
			return false, phaseError(job, "dismiss")
		}
		if job.over() {
			return false, nil
		}
		job.Phase, job.Error = Dismissed, bounded(reason)
		return true, nil
	})
}

// Doubt records that nobody knows what became of a submission. Where that was
// found out in the meantime it changes nothing.
func (s *Store) Doubt(ctx context.Context, tag, reason string) error {
	_, err := s.change(ctx, durable, "doubt", tag, func(_ context.Context, _ *sql.Tx, job *Job) (bool, error) {
		if job.ID != "" || job.Phase == Rejected {
			return false, nil
		}
		job.Phase, job.Error = Unknown, bounded(reason)
		return true, nil
	})
	return err
}

func phaseError(job *Job, operation string) error {
	return &PhaseError{Tag: job.Tag, ID: job.ID, Phase: job.Phase, Operation: operation}
}

// Adopt records a job that was not submitted through this store and returns it.
// It must have a target and an id. If the newest job of that target and id is
// recorded already, that one is returned unchanged. A tag and the time of
// creation are given to it where it has none.
func (s *Store) Adopt(ctx context.Context, job Job) (Job, error) {
	if job.Target == "" || job.ID == "" {
		return Job{}, fmt.Errorf("adopting job %q of target %q: both must be known", job.ID, job.Target)
	}
	if job.Tag == "" {
		job.Tag = uuid.NewString()
	}
	job.Phase = Submitted
	prepare(&job)
	err := s.write(ctx, processed, func(ctx context.Context, transaction *sql.Tx) error {
		known, err := queryJobs(ctx, transaction, "WHERE id = ? AND id <> '' AND target = ? ORDER BY created DESC, sequence DESC LIMIT 1", job.ID, job.Target)
		if err != nil {
			return err
		}
		if len(known) == 0 {
			if err := insert(ctx, transaction, job); err != nil {
				return err
			}
			seen := job.Observed
			if seen.IsZero() {
				seen = job.Created
			}
			return insertEvent(ctx, transaction, Event{Kind: EventAdopted, Seen: seen}, &job)
		}
		job = known[0]
		return addSubmission(ctx, transaction, &job)
	})
	if err != nil {
		return Job{}, fmt.Errorf("adopting job %q of target %q: %w", job.ID, job.Target, err)
	}
	return job, nil
}

// succeed ends what can be learned of earlier jobs with the id of a job that is
// accepted now, or of that job itself where a later one has its id already.
func succeed(ctx context.Context, transaction *sql.Tx, accepted *Job) error {
	others, err := queryJobs(ctx, transaction, "WHERE id = ? AND id <> '' AND target = ? AND tag <> ?"+newestFirst, accepted.ID, accepted.Target, accepted.Tag)
	if err != nil {
		return err
	}
	if len(others) > 0 && others[0].Created.After(accepted.Created) {
		accepted.Successor = others[0].Tag
		return nil
	}
	for _, job := range others {
		if job.over() {
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
type decision func(ctx context.Context, transaction *sql.Tx, job *Job) (bool, error)

// change applies a decision to the job of a tag in one transaction, records what
// happened by it, and returns the job after it, without its submission; operation
// names it in errors.
func (s *Store) change(ctx context.Context, lasting durability, operation, tag string, decide decision) (Job, error) {
	var job Job
	err := s.write(ctx, lasting, func(ctx context.Context, transaction *sql.Tx) error {
		var err error
		if job, err = queryJob(ctx, transaction, tag); err != nil {
			return err
		}
		return decideOn(ctx, transaction, &job, decide)
	})
	if err != nil {
		var phase *PhaseError
		if errors.As(err, &phase) {
			return Job{}, err
		}
		return Job{}, fmt.Errorf("recording (%s) of submission %s: %w", operation, tag, err)
	}
	return job, nil
}

func decideOn(ctx context.Context, transaction *sql.Tx, job *Job, decide decision) error {
	before := *job
	changed, err := decide(ctx, transaction, job)
	if err != nil || !changed {
		return err
	}
	return replace(ctx, transaction, &before, job)
}

// replace records a job that has changed, and what happened to it by that.
func replace(ctx context.Context, transaction *sql.Tx, before, job *Job) error {
	if err := update(ctx, transaction, *job); err != nil {
		return err
	}
	events := happened(before, job)
	job.contradicted, job.replaced, job.ahead = nil, nil, time.Time{}
	for _, event := range events {
		if err := insertEvent(ctx, transaction, event, job); err != nil {
			return err
		}
	}
	return nil
}
