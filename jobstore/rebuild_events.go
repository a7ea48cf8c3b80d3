package jobstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// complete puts jobs whose rows are lost together from their events, and finds what lacks its
// other half.
func (r *rebuilding) complete(ctx context.Context, transaction *sql.Tx) error {
	tags, err := textsOf(ctx, transaction, "SELECT DISTINCT tag FROM events WHERE tag NOT IN (SELECT tag FROM jobs)")
	if err != nil {
		return err
	}
	for _, tag := range tags {
		if err := restore(ctx, transaction, tag); err != nil {
			return err
		}
	}
	r.restored = tags
	if r.lostJobs, err = textsOf(ctx, transaction, "SELECT tag FROM submissions WHERE tag NOT IN (SELECT tag FROM jobs)"); err != nil {
		return err
	}
	if r.unsent, err = textsOf(ctx, transaction, "SELECT tag FROM jobs WHERE tag NOT IN (SELECT tag FROM submissions)"); err != nil {
		return err
	}
	for _, tag := range r.unsent {
		empty, err := submissionOf(job.Job{Tag: tag})
		if err == nil {
			_, err = transaction.ExecContext(ctx, insertSubmission, append(empty.values(), empty.sum())...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// textsOf returns the texts that a statement selects.
func textsOf(ctx context.Context, source stored.Queryer, statement string) (texts []string, err error) {
	var text string
	err = stored.Each(ctx, source, []any{&text}, func() error {
		texts = append(texts, text)
		return nil
	}, statement)
	return texts, err
}

// restore adds the job of a tag as its events describe it. They lack how it is reached, which is
// taken from the newest job of its target.
func restore(ctx context.Context, transaction *sql.Tx, tag string) error {
	events, err := queryEvents(ctx, transaction, "WHERE tag = ? ORDER BY sequence", tag)
	if err != nil || len(events) == 0 {
		return err
	}
	j := jobOf(events)
	others, err := queryJobs(ctx, transaction, "WHERE target = ? AND definition <> ''"+newestFirst+" LIMIT 1", j.Target)
	if err == nil && len(others) > 0 {
		j.Definition, j.Connection, j.Owner = others[0].Definition, others[0].Connection, others[0].Owner
	}
	if err == nil {
		row := jobRow{job: j}
		_, err = transaction.ExecContext(ctx, insertJob(), row.values()...)
	}
	return err
}

// jobOf returns the job that some events happened to. Unless it has ended its state is stale:
// later events may be lost.
func jobOf(events []job.Event) job.Job {
	first := events[0]
	j := job.Job{Tag: first.Tag, Target: first.Target, Phase: job.PhaseUnknown, Undated: first.Kind != eventIntended}
	j.Created, j.Error = first.Recorded, "the record was damaged"
	for _, event := range events {
		if event.ID != "" {
			j.ID, j.Phase, j.Error = event.ID, job.PhaseSubmitted, ""
		}
		switch event.Kind {
		case eventRejected, eventDismissed:
			j.Phase, j.Error = map[job.EventKind]job.Phase{eventRejected: job.PhaseRejected, eventDismissed: job.PhaseDismissed}[event.Kind], event.Reason
		case eventCanceling:
			j.CancelAccepted = event.Observed
		case eventSucceeded:
			j.Successor = event.Reason[strings.LastIndexByte(event.Reason, ' ')+1:]
		case job.EventAccepted, job.EventState, job.EventReturned:
			j.Observation = event.Observation
		}
	}
	if j.ID != "" && !j.IsOver() {
		j.Stale, j.StaleSince = true, events[len(events)-1].Recorded
		j.StaleReason = fmt.Sprintf("the record was damaged: restored from event %d", events[len(events)-1].Sequence)
	}
	return j
}
