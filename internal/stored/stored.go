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

// MaximumText bounds long texts from schedulers, in bytes.
const MaximumText = 4096

// Bounded truncates a text to [MaximumText].
func Bounded(text string) string { return text[:min(len(text), MaximumText)] }

// timeLayout makes texts sort like their times. All are in UTC.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// Time returns a time in the database's format, empty for the zero time.
func Time(moment time.Time) string {
	if moment.IsZero() {
		return ""
	}
	return moment.UTC().Format(timeLayout)
}

// A Moment is a time that can be read from and written to the database.
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

// Each scans each row of a query into fields and calls a function after it, until that returns an error.
func Each(ctx context.Context, source Queryer, fields []any, do func() error, statement string, arguments ...any) error {
	return EachReadable(ctx, source, fields, do, func(err error) error { return err }, statement, arguments...)
}

// EachReadable is Each for a record that may be damaged: it passes the error for an unreadable row to a
// function and continues if that returns nil.
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

// A Change is a function that runs in a transaction.
type Change = func(ctx context.Context, transaction *sql.Tx) error

// A Reader runs queries on a consistent view of the database.
type Reader func(ctx context.Context, read func(ctx context.Context, source Queryer) error) error

// A Writer makes a change in a transaction.
type Writer func(ctx context.Context, change Change) error

// Execute runs one statement in a separate transaction and returns the number of changed rows.
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
