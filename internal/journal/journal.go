// Package journal records ensembles in the jobs database: parts, releases and events. It records
// a release before the processes get it.
package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/stored"
)

// ErrUnknown is matched by the error for an ensemble that is not on record.
var ErrUnknown = errors.New("unknown ensemble")

// errOtherRelease reports that the same part was released with other processes.
var errOtherRelease = errors.New("another release of it is on record")

// A Record keeps ensembles in the database of a store of jobs.
type Record struct {
	read     stored.Queryer
	snapshot stored.Reader
	write    stored.Writer
	durable  stored.Writer     // waits for the disk
	explain  func(error) error // explains a failure of the database
}

// NewRecord returns the record in a database that has its tables.
func NewRecord(read stored.Queryer, snapshot stored.Reader, write, durable stored.Writer, explain func(error) error) *Record {
	return &Record{read, snapshot, write, durable, explain}
}

// Saved is a recorded ensemble.
type Saved struct {
	Ensemble barrier.Ensemble
	Parts    []barrier.Part   // by serial
	Rosters  []barrier.Roster // that were released, by serial and incarnation
}

// An Exchange is the result of an exchange between the parts of an ensemble: a JSON document.
type Exchange struct{ Name, Result string }

func (r *Record) failed(err error, format string, arguments ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(arguments, r.explain(err))...)
}

// Create records a new ensemble with its parts, durably.
func (r *Record) Create(ctx context.Context, ensemble barrier.Ensemble, parts []barrier.Part) error {
	for _, part := range parts {
		ensemble.Serials = max(ensemble.Serials, part.Serial)
	}
	err := r.durable(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		isNew, err := newEnsembleRow(ensemble).insert(ctx, transaction)
		if err == nil && !isNew {
			err = errors.New("the id is in use")
		}
		for _, part := range parts {
			if err == nil {
				_, err = newPartRow(ensemble.ID, part).insert(ctx, transaction)
			}
		}
		return err
	})
	return r.failed(err, "recording ensemble %q", ensemble.ID)
}

// Discard removes an ensemble that has no parts: one that was to run on another host.
func (r *Record) Discard(ctx context.Context, id string) error {
	err := r.write(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		_, err := transaction.ExecContext(ctx, "DELETE FROM ensembles WHERE id = ? AND NOT EXISTS (SELECT 1 FROM ensemble_parts WHERE ensemble = ensembles.id)", id)
		return err
	})
	return r.failed(err, "removing ensemble %q", id)
}

// Save records what a step changed. To save a change again changes nothing.
func (r *Record) Save(ctx context.Context, change barrier.Change) error {
	err := r.write(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		return save(ctx, transaction, change)
	})
	return r.failed(err, "recording ensemble %q", change.Ensemble.ID)
}

func save(ctx context.Context, transaction *sql.Tx, change barrier.Change) error {
	isKnown, err := newEnsembleRow(change.Ensemble).update(ctx, transaction)
	if err != nil {
		return err
	}
	if !isKnown {
		return ErrUnknown
	}
	for _, part := range change.Parts {
		row := newPartRow(change.Ensemble.ID, part)
		isKnown, err := row.update(ctx, transaction)
		if err == nil && !isKnown {
			_, err = row.insert(ctx, transaction)
		}
		if err != nil {
			return err
		}
	}
	for _, notice := range change.Notices {
		if _, err := newNoticeRow(change.Ensemble.ID, notice).insert(ctx, transaction); err != nil {
			return err
		}
	}
	return nil
}

// RecordRelease records that processes are released, durably and all together. The same release may
// be recorded again; another one of the same part and incarnation is an error.
func (r *Record) RecordRelease(ctx context.Context, id string, rosters []barrier.Roster, at time.Time) error {
	err := r.durable(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		for _, roster := range rosters {
			row := newReleaseRow(id, roster, at)
			isNew, err := row.insert(ctx, transaction)
			if err == nil && !isNew {
				err = compare(ctx, transaction, row)
			}
			if err != nil {
				return fmt.Errorf("part %d: %w", roster.Serial, err)
			}
		}
		return nil
	})
	return r.failed(err, "recording the release of ensemble %q", id)
}

// RecordExchange records the result of an exchange, durably. The first one of a name counts.
func (r *Record) RecordExchange(ctx context.Context, id string, exchange Exchange) error {
	err := r.durable(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		_, err := newExchangeRow(id, exchange).insert(ctx, transaction)
		return err
	})
	return r.failed(err, "recording an exchange of ensemble %q", id)
}

// Exchanges returns the exchanges of an ensemble that can be read.
func (r *Record) Exchanges(ctx context.Context, id string) (exchanges []Exchange, err error) {
	row := newExchangeRow("", Exchange{})
	err = row.each(ctx, r.read, func(err error) error {
		if err == nil {
			exchanges = append(exchanges, row.exchange)
		}
		return nil
	}, "WHERE ensemble = ? ORDER BY name", id)
	return exchanges, r.failed(err, "reading the exchanges of ensemble %q", id)
}

// compare returns an error unless a release is on record with the same processes.
func compare(ctx context.Context, source stored.Queryer, row *releaseRow) error {
	known := newReleaseRow("", barrier.Roster{}, time.Time{})
	return known.each(ctx, source, func(err error) error {
		if err == nil && known.instances != row.instances {
			err = errOtherRelease
		}
		return err
	}, "WHERE ensemble = ? AND serial = ? AND incarnation = ?", row.ensemble, row.roster.Serial, row.roster.Incarnation)
}

// Load returns an ensemble. The error matches [ErrUnknown] if it is not on record.
func (r *Record) Load(ctx context.Context, id string) (saved Saved, err error) {
	err = r.snapshot(ctx, func(ctx context.Context, source stored.Queryer) error {
		saved, err = load(ctx, source, id)
		return err
	})
	return saved, r.failed(err, "reading ensemble %q", id)
}

// load reads an ensemble from a snapshot: another process may add a part at any time.
func load(ctx context.Context, source stored.Queryer, id string) (Saved, error) {
	var saved Saved
	ensemble := newEnsembleRow(barrier.Ensemble{})
	err := ensemble.each(ctx, source, func(err error) error {
		if err == nil {
			saved.Ensemble, err = ensemble.value()
		}
		return err
	}, "WHERE id = ?", id)
	if err == nil && saved.Ensemble.ID == "" {
		err = ErrUnknown
	}
	if err != nil {
		return Saved{}, err
	}
	part := newPartRow("", barrier.Part{})
	err = part.each(ctx, source, func(err error) error {
		saved.Parts = append(saved.Parts, part.part)
		return err
	}, "WHERE ensemble = ? ORDER BY serial", id)
	if err != nil {
		return Saved{}, err
	}
	release := newReleaseRow("", barrier.Roster{}, time.Time{})
	err = release.each(ctx, source, func(err error) error {
		if err != nil {
			return err
		}
		roster, err := release.value()
		saved.Rosters = append(saved.Rosters, roster)
		return err
	}, "WHERE ensemble = ? ORDER BY serial, incarnation", id)
	if err == nil {
		err = saved.check()
	}
	return saved, err
}

// check returns an error if rows are lost, as of a store that was rebuilt: an ensemble without one of
// its parts or releases must not run.
func (s Saved) check() error {
	if len(s.Parts) != s.Ensemble.Serials {
		return fmt.Errorf("%w: %d of %d parts are left", stored.ErrDamaged, len(s.Parts), s.Ensemble.Serials)
	}
	isReleased := map[int]bool{}
	for _, roster := range s.Rosters {
		isReleased[roster.Serial] = true
	}
	if !s.Ensemble.Released.IsZero() && !isReleased[0] {
		return fmt.Errorf("%w: the commit is lost", stored.ErrDamaged)
	}
	for _, part := range s.Parts {
		if !part.Released.IsZero() && !isReleased[part.Serial] {
			return fmt.Errorf("%w: the release of part %q is lost", stored.ErrDamaged, part.Label)
		}
	}
	return nil
}

// Ensembles returns the ensembles, newest first: all, or those that have not ended. It leaves out
// those that cannot be read.
func (r *Record) Ensembles(ctx context.Context, all bool) (list []barrier.Ensemble, err error) {
	row := newEnsembleRow(barrier.Ensemble{})
	err = row.each(ctx, r.read, func(err error) error {
		ensemble, damage := row.value()
		if err == nil && damage == nil && (all || !ensemble.State.Ended()) {
			list = append(list, ensemble)
		}
		return nil
	}, "ORDER BY created DESC, id")
	return list, r.failed(err, "listing ensembles")
}

// Notices returns the events of an ensemble after a sequence number, in their order.
func (r *Record) Notices(ctx context.Context, id string, after int) (notices []barrier.Notice, err error) {
	row := newNoticeRow("", barrier.Notice{})
	err = row.each(ctx, r.read, func(err error) error {
		notices = append(notices, row.notice)
		return err
	}, "WHERE ensemble = ? AND sequence > ? ORDER BY sequence", id, after)
	return notices, r.failed(err, "reading the events of ensemble %q", id)
}

// Prune removes the ensembles that ended before a time and have no job on record any more.
func Prune(ctx context.Context, transaction *sql.Tx, before time.Time) error {
	_, err := transaction.ExecContext(ctx, `DELETE FROM ensembles WHERE ended <> '' AND ended < ? AND NOT EXISTS
		(SELECT 1 FROM ensemble_parts AS part JOIN jobs USING (tag) WHERE part.ensemble = ensembles.id)`, stored.Time(before))
	for _, table := range []string{"ensemble_parts", "ensemble_releases", "ensemble_events", "ensemble_exchanges"} {
		if err == nil {
			_, err = transaction.ExecContext(ctx, "DELETE FROM "+table+" WHERE ensemble NOT IN (SELECT id FROM ensembles)")
		}
	}
	return err
}

// A Table is a table of the journal with one row, to copy what can be read of a damaged database.
type Table struct {
	Name    string
	Columns []Column
	IsWhole func() bool // reports whether the row is undamaged
	Insert  func(ctx context.Context, transaction *sql.Tx) (bool, error)
}

// Tables returns the tables.
func Tables() []Table {
	var tables []Table
	for _, row := range []*row{
		&newEnsembleRow(barrier.Ensemble{}).row, &newPartRow("", barrier.Part{}).row,
		&newReleaseRow("", barrier.Roster{}, time.Time{}).row, &newNoticeRow("", barrier.Notice{}).row,
		&newExchangeRow("", Exchange{}).row,
	} {
		tables = append(tables, Table{row.table, row.read(), func() bool { return row.verify() == nil }, row.insert})
	}
	return tables
}
