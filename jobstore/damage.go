package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlitecodes "modernc.org/sqlite/lib"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// damage are the jobs that this process could not read.
type damage struct {
	lock sync.Mutex
	jobs map[string]string // their names, by the numbers of their rows or their tags
}

// addRow adds a job by the number of its row and, if that can be read, its tag.
func (d *damage) addRow(number int64, tag string) {
	key := fmt.Sprintf("number %d", number)
	name := key
	if tag != "" {
		name = fmt.Sprintf("%s (submission %q)", key, stored.Bounded(tag))
	}
	d.add(key, name)
}

// mostNamed bounds how many of them an error names.
const mostNamed = 10

// add adds a job.
func (d *damage) add(key, name string) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.jobs == nil {
		d.jobs = map[string]string{}
	}
	d.jobs[key] = name
}

// A lenient source is one whose unreadable jobs are left out and counted.
type lenient struct {
	stored.Queryer
	damage  *damage
	skipped int // rows
}

// lenient returns a source for queries of many jobs: one that cannot be read leaves the others.
func (s *Store) lenient(source stored.Queryer) *lenient {
	return &lenient{Queryer: source, damage: &s.damage}
}

// Damaged returns an error that names the jobs that were left out of listings because they could not
// be read; nil if all were readable.
func (s *Store) Damaged() error {
	s.damage.lock.Lock()
	defer s.damage.lock.Unlock()
	count := len(s.damage.jobs)
	if count == 0 {
		return nil
	}
	names := slices.Sorted(maps.Values(s.damage.jobs))[:min(count, mostNamed)]
	if count > mostNamed {
		names = append(names, fmt.Sprintf("and %d more", count-mostNamed))
	}
	return fmt.Errorf("%w: %s unreadable: %s", stored.ErrDamaged, counted(count, "job"), strings.Join(names, "; "))
}

// counted returns a count with its noun.
func counted(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", count, noun)
}

// isDamage reports whether a row or pages of the database cannot be read.
func isDamage(err error) bool { return isCorrupt(err) || errors.Is(err, stored.ErrDamaged) }

// isCorrupt reports whether pages of the database cannot be read.
func isCorrupt(err error) bool {
	var failure *sqlite.Error
	return errors.As(err, &failure) && failure.Code()&0xff == sqlitecodes.SQLITE_CORRUPT
}

// listReadable returns the jobs that a condition chooses, newest first, from a table with pages
// that cannot be read, and without indexes.
func (s *Store) listReadable(ctx context.Context, each jobReader, limit int, condition string, arguments ...any) (rows []jobRow, err error) {
	var last int64
	// Both are read in ways that may be damaged, but rarely at once.
	for _, query := range []string{"SELECT max(sequence) FROM jobs NOT INDEXED", "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'"} {
		var number int64
		if rowErr := s.database.QueryRowContext(ctx, query).Scan(&number); rowErr != nil {
			err = rowErr
		}
		last = max(last, number)
	}
	if last == 0 {
		return nil, err
	}
	err = s.split(ctx, 1, last, func(first, last int64) error {
		var found []jobRow
		err := each(ctx, s.lenient(unindexed{s.database}), func(row *jobRow) error {
			found = append(found, *row)
			return nil
		}, condition+" AND sequence BETWEEN ? AND ?", append(slices.Clone(arguments), first, last)...)
		if err == nil {
			rows = append(rows, found...)
		}
		return err
	})
	slices.SortFunc(rows, func(a, b jobRow) int { return newerFirst(&a, &b) })
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return rows, err
}

// unindexed reads the table of jobs without its indexes.
type unindexed struct{ stored.Queryer }

// QueryContext runs a query of jobs.
func (u unindexed) QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error) {
	return u.Queryer.QueryContext(ctx, strings.Replace(query, "FROM jobs ", "FROM jobs NOT INDEXED ", 1), arguments...)
}

func newerFirst(a, b *jobRow) int {
	if order := b.job.Created.Compare(a.job.Created); order != 0 {
		return order
	}
	return int(b.number - a.number)
}

// split reads the rows with numbers of a range. If it contains pages that cannot be read, it
// reads each half, down to the single rows.
func (s *Store) split(ctx context.Context, first, last int64, read func(first, last int64) error) error {
	err := read(first, last)
	switch {
	case err == nil || !isCorrupt(err) || ctx.Err() != nil:
		return err
	case first == last:
		s.damage.addRow(first, "")
		return nil
	}
	middle := first + (last-first)/2
	if err := s.split(ctx, first, middle, read); err != nil {
		return err
	}
	return s.split(ctx, middle+1, last, read)
}

// jobsOf returns the jobs of rows.
func jobsOf(rows []jobRow) []job.Job {
	jobs := make([]job.Job, len(rows))
	for i := range rows {
		jobs[i] = rows[i].job
	}
	return jobs
}
