package jobstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/state"
)

// An EventKind tells what happened to a job.
type EventKind string

// The kinds of events.
const (
	EventIntended      EventKind = "intended"      // its submission is about to begin
	EventAccepted      EventKind = "accepted"      // the scheduler gave it an id
	EventRejected      EventKind = "rejected"      // the scheduler did not take it
	EventDoubted       EventKind = "doubted"       // nobody knows what became of its submission
	EventAdopted       EventKind = "adopted"       // it was submitted in another way and is followed from now on
	EventState         EventKind = "state"         // it was seen in another state, or with another word of its scheduler
	EventReturned      EventKind = "returned"      // it waits again after it had begun
	EventContradiction EventKind = "contradiction" // it has ended, but was seen in a state before that or with another end, which is not believed
	EventReplaced      EventKind = "replaced"      // another job was seen under its id, which is not believed
	EventClock         EventKind = "clock"         // it was on record as seen at a time that is still to come
	EventStale         EventKind = "stale"         // what is known of it is in doubt
	EventMissing       EventKind = "missing"       // a listing lacks it
	EventSucceeded     EventKind = "succeeded"     // its id was given to another job
	EventDismissed     EventKind = "dismissed"     // the user put it aside
)

// An Event is one entry of a job's history.
type Event struct {
	Sequence int64 // grows with each event of the store; what a reader has seen of it, it need not read again
	Tag      string
	Target   string
	ID       string
	Kind     EventKind

	Before   state.Detail // the state until then
	Detail   state.Detail // and since; of what is not believed, what was seen
	Native   string
	Reason   string // of the state in the scheduler's words, or why it is in doubt, rejected or succeeded
	ExitCode *int
	Signal   *int

	Seen     time.Time // when it was seen, by the clock of the machine that rmctl ran on
	Recorded time.Time // when it was written down
	Source   string    // the command it was seen by
	Origin   Origin    // the line it was read from
	Evidence string    // the output around it, where that tells more; at most MaximumEvidence bytes
}

// happened returns what a change did to a job, as events.
func happened(before, after *Job) []Event {
	var events []Event
	if after.Phase != before.Phase {
		switch after.Phase {
		case Submitted:
			events = append(events, seenEvent(EventAccepted, before, after))
		case Rejected:
			events = append(events, Event{Kind: EventRejected, Before: before.Detail, Detail: after.Detail, Reason: after.Error, Seen: time.Now()})
		case Dismissed:
			events = append(events, Event{Kind: EventDismissed, Before: before.Detail, Detail: after.Detail, Reason: after.Error, Seen: time.Now()})
		case Unknown:
			events = append(events, Event{Kind: EventDoubted, Before: before.Detail, Detail: after.Detail, Reason: after.Error, Seen: time.Now()})
		}
	}
	moved := after.Detail != before.Detail || after.Native != before.Native && after.Native != ""
	if !after.ahead.IsZero() {
		events = append(events, Event{Kind: EventClock, Before: before.Detail, Detail: after.Detail, Seen: after.Observed,
			Reason: "a clock was set back: the record said " + storedTime(after.ahead)})
	}
	if moved && after.Phase == before.Phase {
		kind := EventState
		if state.TransitionOf(before.Detail, after.Detail) == state.Returns {
			kind = EventReturned
		}
		events = append(events, seenEvent(kind, before, after))
	}
	if after.contradicted != nil {
		events = append(events, disbelieved(EventContradiction, before, after.contradicted))
	}
	if after.replaced != nil {
		events = append(events, disbelieved(EventReplaced, before, after.replaced))
	}
	if after.Stale && (!before.Stale || after.StaleReason != before.StaleReason) {
		events = append(events, Event{Kind: EventStale, Before: before.Detail, Detail: after.Detail, Reason: after.StaleReason, Seen: after.StaleSince})
	}
	if after.Missing && !before.Missing && after.Phase != Rejected {
		events = append(events, Event{Kind: EventMissing, Before: before.Detail, Detail: after.Detail, Seen: after.MissingSince})
	}
	if after.Successor != before.Successor {
		events = append(events, succeededEvent(after, after.Observed))
	}
	return events
}

// succeededEvent is the event of a job whose id another one has, as was seen at a time.
func succeededEvent(job *Job, seen time.Time) Event {
	return Event{Kind: EventSucceeded, Seen: seen, Reason: "the scheduler gave its id to submission " + job.Successor}
}

// seenEvent is an event of what was observed.
func seenEvent(kind EventKind, before, after *Job) Event {
	return Event{
		Kind: kind, Before: before.Detail, Detail: after.Detail, Native: after.Native, Reason: after.Reason,
		ExitCode: after.ExitCode, Signal: after.Signal, Seen: after.Observed, Source: after.Source, Origin: after.Origin, Evidence: after.Evidence,
	}
}

// disbelieved is an event of what was seen and is not believed.
func disbelieved(kind EventKind, before *Job, seen *Observation) Event {
	return Event{
		Kind: kind, Before: before.Detail, Detail: seen.Detail, Native: seen.Native, Reason: seen.Reason,
		Seen: seen.Observed, Source: seen.Source, Origin: seen.Origin, Evidence: seen.Evidence,
	}
}

// eventColumns are the columns of the table events but for its number, in the order of
// insertEvent and scanEvent.
const eventColumns = "tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, origin_stream, origin_line, origin_text, evidence"

const insertEventRow = "INSERT INTO events (" + eventColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

// insertEvent records an event of a job.
func insertEvent(ctx context.Context, transaction *sql.Tx, event Event, job *Job) error {
	_, err := transaction.ExecContext(ctx, insertEventRow,
		job.Tag, job.Target, job.ID, string(event.Kind), string(event.Before), string(event.Detail), event.Native, bounded(event.Reason),
		storedInt(event.ExitCode), storedInt(event.Signal), storedTime(event.Seen), storedTime(time.Now()), event.Source,
		event.Origin.Stream, event.Origin.Line, bounded(event.Origin.Text), bounded(event.Evidence))
	return err
}

// maximumEvents bounds what Events returns at once.
const maximumEvents = 1000

// Events returns up to a thousand events, oldest first, that were recorded after
// the one with a sequence number, 0 for all: of the jobs with the tags, or of
// all where there are none. Called again with the last number that it returned
// it leaves out none and repeats none, also in another process.
func (s *Store) Events(ctx context.Context, after int64, tags ...string) ([]Event, error) {
	condition, arguments := "WHERE sequence > ?", []any{after}
	if len(tags) > 0 {
		among, chosen := amongTags(tags)
		condition += " AND " + among
		arguments = append(arguments, chosen...)
	}
	events, err := queryEvents(ctx, s.database, condition+fmt.Sprintf(" ORDER BY sequence LIMIT %d", maximumEvents), arguments...)
	if err != nil {
		return nil, fmt.Errorf("reading what happened since event %d: %w", after, explained(err))
	}
	return events, nil
}

// History gives all events of a job, oldest first, to a function until that
// returns an error.
func (s *Store) History(ctx context.Context, tag string, tell func(Event) error) error {
	for after := int64(0); ; {
		events, err := s.Events(ctx, after, tag)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, event := range events {
			after = event.Sequence
			if err := tell(event); err != nil {
				return err
			}
		}
	}
}

// LastEvent returns the number of the newest event there ever was, 0 if there was
// none. It never becomes smaller, whatever is pruned.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	var last int64
	if err := s.database.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'").Scan(&last); err != nil {
		return 0, fmt.Errorf("looking for the newest event: %w", explained(err))
	}
	return last, nil
}

func queryEvents(ctx context.Context, source queryer, rest string, arguments ...any) (events []Event, err error) {
	rows, err := source.QueryContext(ctx,
		"SELECT sequence, "+eventColumns+" FROM events "+rest, arguments...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		event, err := scanEvent(rows)
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	return events, rows.Err()
}

func scanEvent(rows *sql.Rows) (Event, error) {
	var event Event
	var kind, before, detail, seen, recorded string
	var exitCode, signal sql.NullInt64
	err := rows.Scan(&event.Sequence, &event.Tag, &event.Target, &event.ID, &kind, &before, &detail, &event.Native, &event.Reason,
		&exitCode, &signal, &seen, &recorded, &event.Source, &event.Origin.Stream, &event.Origin.Line, &event.Origin.Text, &event.Evidence)
	if err != nil {
		return Event{}, err
	}
	event.Kind, event.Before, event.Detail = EventKind(kind), state.Detail(before), state.Detail(detail)
	event.ExitCode, event.Signal = plainInt(exitCode), plainInt(signal)
	if event.Seen, err = parseTime(seen); err == nil {
		event.Recorded, err = parseTime(recorded)
	}
	if err != nil {
		return Event{}, fmt.Errorf("reading event %d: %w", event.Sequence, err)
	}
	return event, nil
}
