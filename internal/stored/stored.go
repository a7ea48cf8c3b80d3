// Package stored reads and writes rows of the jobs database.
package stored

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// ErrDamaged is matched by errors for data that rmctl never writes.
var ErrDamaged = errors.New("the record is damaged; rmctl recover --rebuild keeps what is readable")

// MaximumText bounds, in bytes, each text that quotes what a scheduler said at length.
const MaximumText = 4096

// Bounded cuts a text to [MaximumText].
func Bounded(text string) string { return text[:min(len(text), MaximumText)] }

// timeLayout sorts as text like the times themselves. All are kept in UTC.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// Time returns a time as the database has it; the zero time is empty.
func Time(moment time.Time) string {
	if moment.IsZero() {
		return ""
	}
	return moment.UTC().Format(timeLayout)
}

// A Moment reads a time from the database, and writes it.
type Moment struct{ time *time.Time }

// At returns the Moment of a time.
func At(moment *time.Time) Moment { return Moment{moment} }

// Scan implements sql.Scanner.
func (m Moment) Scan(value any) error {
	text, isText := value.(string)
	if !isText {
		return fmt.Errorf("%w: a time is a %T", ErrDamaged, value)
	}
	*m.time = time.Time{}
	if text == "" {
		return nil
	}
	moment, err := time.Parse(timeLayout, text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	*m.time = moment
	return nil
}

// Value implements driver.Valuer.
func (m Moment) Value() (driver.Value, error) { return Time(*m.time), nil }

// A Queryer is a database or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, arguments ...any) *sql.Row
}

// Each scans the rows that a statement selects into fields, one after the other, and
// calls a function after each until that returns an error.
func Each(ctx context.Context, source Queryer, fields []any, do func() error, statement string, arguments ...any) error {
	return EachReadable(ctx, source, fields, do, func(err error) error { return err }, statement, arguments...)
}

// EachReadable is Each for a record that may be damaged: it passes the error for a row whose
// values cannot be read to a function, and goes on if that returns nil.
func EachReadable(ctx context.Context, source Queryer, fields []any, do func() error, unreadable func(error) error, statement string, arguments ...any) (err error) {
	rows, err := source.QueryContext(ctx, statement, arguments...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			err = unreadable(AsDamage(err))
			if err != nil {
				return err
			}
			continue
		}
		if err := do(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// AsDamage returns the error for a value that does not have the type of its column.
func AsDamage(err error) error {
	if err == nil || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// A Change is what is done in a transaction.
type Change = func(ctx context.Context, transaction *sql.Tx) error

// A Reader runs queries that see the database as it is at one moment.
type Reader func(ctx context.Context, read func(ctx context.Context, source Queryer) error) error

// A Writer makes a change in a transaction.
type Writer func(ctx context.Context, change Change) error

// Execute runs one statement in a transaction of its own, and returns how many rows it
// changed.
func (w Writer) Execute(ctx context.Context, statement string, arguments ...any) (changed int64, err error) {
	err = w(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		result, err := transaction.ExecContext(ctx, statement, arguments...)
		if err == nil {
			changed, err = result.RowsAffected()
		}
		return err
	})
	return changed, err
}
