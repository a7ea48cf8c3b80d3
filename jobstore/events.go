package jobstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
)

// The other kinds of events.
const (
	eventIntended      job.EventKind = "intended"      // its submission is about to begin
	eventRejected      job.EventKind = "rejected"      // the scheduler did not accept it
	eventDoubted       job.EventKind = "doubted"       // it is unknown whether the submission became a job
	eventAdopted       job.EventKind = "adopted"       // it was submitted in another way and is followed from now on
	eventContradiction job.EventKind = "contradiction" // it has ended, but was observed in an earlier state or with another end, which is not believed
	eventReplaced      job.EventKind = "replaced"      // another job was observed under its id, which is not believed
	eventClock         job.EventKind = "clock"         // the record had an observation from the future
	eventStale         job.EventKind = "stale"         // its state is in doubt
	eventMissing       job.EventKind = "missing"       // a listing lacks it
	eventCanceling     job.EventKind = "canceling"     // the scheduler accepted a request to cancel it
	eventSucceeded     job.EventKind = "succeeded"     // another job got its id
	eventDismissed     job.EventKind = "dismissed"     // the user stopped following it
)

// events returns what the change did to its job, as events.
func (c *change) events() []job.Event {
	var events []job.Event
	add := func(kind job.EventKind, seen job.Observation) {
		events = append(events, job.Event{Kind: kind, Before: c.before.Detail, Observation: seen})
	}
	before, after := &c.before, &c.job
	if kind := eventOfPhase(after.Phase); kind != "" && after.Phase != before.Phase {
		add(kind, decisionOf(kind, after))
	}
	if !c.ahead.IsZero() {
		add(eventClock, job.Observation{Detail: after.Detail, Observed: after.Observed, Reason: "a clock was set back: the record said " + stored.Time(c.ahead)})
	}
	if c.hasMoved() && after.Phase == before.Phase {
		add(movementOf(before, after), after.Observation)
	}
	if c.contradicted != nil {
		add(eventContradiction, *c.contradicted)
	}
	if c.replaced != nil {
		add(eventReplaced, *c.replaced)
	}
	if c.canceled != nil {
		add(eventCanceling, job.Observation{Detail: after.Detail, Observed: c.canceled.Observed, Source: c.canceled.Source, Evidence: c.canceled.Evidence})
	}
	if c.isNewlyStale() {
		add(eventStale, job.Observation{Detail: after.Detail, Reason: after.StaleReason, Observed: after.StaleSince})
	}
	if after.Missing && !before.Missing && after.Phase != job.PhaseRejected {
		add(eventMissing, job.Observation{Detail: after.Detail, Observed: after.MissingSince})
	}
	if after.Successor != before.Successor {
		events = append(events, succeededEvent(after, after.Observed))
	}
	return events
}

// hasMoved reports whether the job has another state, or another word for it.
func (c *change) hasMoved() bool {
	return c.job.Detail != c.before.Detail || c.job.Native != c.before.Native && c.job.Native != ""
}

// isNewlyStale reports whether the job is in doubt for a new reason.
func (c *change) isNewlyStale() bool {
	return c.job.Stale && (!c.before.Stale || c.job.StaleReason != c.before.StaleReason)
}

// movementOf returns the event of a job that has moved.
func movementOf(before, after *job.Job) job.EventKind {
	if transition.Between(before.Detail, after.Detail) == transition.Returns {
		return job.EventReturned
	}
	return job.EventState
}

// eventOfPhase returns the event of entering a phase; empty for PhaseIntended.
func eventOfPhase(phase job.Phase) job.EventKind {
	switch phase {
	case job.PhaseSubmitted:
		return job.EventAccepted
	case job.PhaseRejected:
		return eventRejected
	case job.PhaseDismissed:
		return eventDismissed
	case job.PhaseUnknown:
		return eventDoubted
	}
	return ""
}

// decisionOf returns what the event of a decision about a submission says.
func decisionOf(kind job.EventKind, after *job.Job) job.Observation {
	if kind == job.EventAccepted {
		return after.Observation
	}
	return job.Observation{Detail: after.Detail, Reason: after.Error, Observed: time.Now()}
}

// succeededEvent is the event that another job has the id of a job, as seen at a time.
func succeededEvent(j *job.Job, seen time.Time) job.Event {
	return job.Event{Kind: eventSucceeded, Observation: job.Observation{Observed: seen, Reason: "the scheduler gave its id to submission " + j.Successor}}
}

// eventColumns returns the columns of the table events but for its number.
func eventColumns(e *job.Event) []column {
	return []column{
		{"tag", &e.Tag}, {"target", &e.Target}, {"id", &e.ID}, {"kind", (*string)(&e.Kind)}, {"before", (*string)(&e.Before)}, {"detail", (*string)(&e.Detail)},
		{"native", &e.Native}, {"reason", &e.Reason}, {"exit_code", &e.ExitCode}, {"signal", &e.Signal},
		{"seen", stored.At(&e.Observed)}, {"recorded", stored.At(&e.Recorded)}, {"source", &e.Source},
		{"origin_stream", &e.Origin.Stream}, {"origin_line", &e.Origin.Line}, {"origin_text", &e.Origin.Text}, {"evidence", &e.Evidence},
	}
}

// The statements of the table events, composed at first use.
var (
	selectEvents = sync.OnceValue(func() string {
		return "SELECT sequence, sum, " + strings.Join(columnNames(eventColumns(&job.Event{})), ", ") + " FROM events "
	})
	insertEventRow = sync.OnceValue(func() string { return insertInto("events", append(columnNames(eventColumns(&job.Event{})), "sum")) })
)

// insertEvent records an event of a job.
func insertEvent(ctx context.Context, transaction *sql.Tx, event job.Event, of *job.Job) error {
	event.Tag, event.Target, event.ID, event.Recorded = of.Tag, of.Target, of.ID, time.Now()
	event.Reason, event.Evidence, event.Origin.Text = stored.Bounded(event.Reason), stored.Bounded(event.Evidence), stored.Bounded(event.Origin.Text)
	values := columnValues(eventColumns(&event))
	_, err := transaction.ExecContext(ctx, insertEventRow(), append(values, stored.Sum("events", values...))...)
	return err
}

// maximumEvents bounds what Events returns at once.
const maximumEvents = 1000

// Events returns up to a thousand events, oldest first, that were recorded after
// the one with a sequence number, 0 for all: of the jobs with the tags, or of
// all jobs without tags. Called again with the last number, it misses and repeats no event,
// even in another process.
func (s *Store) Events(ctx context.Context, after int64, tags ...string) ([]job.Event, error) {
	condition, arguments := "WHERE sequence > ?", []any{after}
	if len(tags) > 0 {
		among, chosen := amongTags(tags)
		condition += " AND " + among
		arguments = append(arguments, chosen...)
	}
	events, err := queryEvents(ctx, s.database, condition+fmt.Sprintf(" ORDER BY sequence LIMIT %d", maximumEvents), arguments...)
	if err == nil {
		err = addWholes(ctx, s.database, events)
	}
	if err != nil {
		return nil, fmt.Errorf("reading events after %d: %w", after, explained(err))
	}
	return events, nil
}

// addWholes adds to events what their jobs are parts of.
func addWholes(ctx context.Context, source stored.Queryer, events []job.Event) error {
	if len(events) == 0 {
		return nil
	}
	var row jobRow
	values := columnValues(row.columns(whole))
	wholes := map[string][2]string{}
	err := stored.EachReadable(ctx, source, append(values, &row.whole), func() error {
		if stored.Verify(row.whole, whole.sumColumn(), values...) == nil {
			wholes[row.job.Tag] = [2]string{row.job.Ensemble, row.job.Part}
		}
		return nil
	}, func(error) error { return nil }, "SELECT tag, ensemble, part, whole_sum FROM jobs WHERE ensemble <> '' AND tag IN (SELECT tag FROM events WHERE sequence BETWEEN ? AND ?)",
		events[0].Sequence, events[len(events)-1].Sequence)
	for i := range events {
		events[i].Ensemble, events[i].Part = wholes[events[i].Tag][0], wholes[events[i].Tag][1]
	}
	return err
}

// History gives all events of a job, oldest first, to a function until that
// returns an error.
func (s *Store) History(ctx context.Context, tag string, do func(job.Event) error) error {
	for after := int64(0); ; {
		events, err := s.Events(ctx, after, tag)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, event := range events {
			after = event.Sequence
			if err := do(event); err != nil {
				return err
			}
		}
	}
}

// LastEvent returns the number of the newest event ever recorded, or 0. Pruning does
// not decrease it.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	var last int64
	if err := s.database.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'").Scan(&last); err != nil {
		return 0, fmt.Errorf("looking for the newest event: %w", explained(err))
	}
	return last, nil
}

// queryEvents returns the events that the rest of a query chooses, without those that cannot be
// read.
func queryEvents(ctx context.Context, source stored.Queryer, rest string, arguments ...any) (events []job.Event, err error) {
	var event job.Event
	var sum int64
	values := columnValues(eventColumns(&event))
	err = stored.EachReadable(ctx, source, append([]any{&event.Sequence, &sum}, values...), func() error {
		if stored.Verify(sum, "events", values...) == nil {
			events = append(events, event)
		}
		return nil
	}, func(error) error { return nil }, selectEvents()+rest, arguments...)
	return events, err
}
