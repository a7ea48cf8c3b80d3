package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/salvage"
)

// Rebuild replaces the store in a directory, which may be damaged, with a new one that has
// everything that can be read of it. It renames the files of the old one, and returns the new
// name of the first, and lines that say what was copied and what is lost. The error matches
// os.ErrNotExist where there is no store.
func Rebuild(ctx context.Context, directory string) (aside string, report []string, err error) {
	path := filepath.Join(directory, databaseName)
	draft, report, err := rebuildDraft(ctx, path)
	if err == nil {
		aside, err = setAside(path)
	}
	if err == nil {
		err = os.Link(draft, path)
	}
	if draft != "" {
		err = errors.Join(err, removeFiles(draft))
	}
	if err != nil {
		return aside, report, fmt.Errorf("rebuilding the job store in %q: %w", directory, explained(err))
	}
	return aside, report, nil
}

// rebuildDraft makes a new store next to another one, and returns its path.
func rebuildDraft(ctx context.Context, path string) (draft string, report []string, err error) {
	if err := makePrivate(path, 0o600); err != nil {
		return "", nil, err
	}
	old, err := salvage.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	onNetwork, err := isNetworkFileSystem(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".create-*.db")
	if err != nil {
		return "", nil, err
	}
	draft = file.Name()
	if err := errors.Join(file.Close(), furnish(ctx, draft, onNetwork)); err != nil {
		return draft, nil, err
	}
	store, err := connect(draft, false)
	if err != nil {
		return draft, nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	r := rebuilding{old: old, copied: map[string]int{}}
	err = store.write(ctx, durable, func(ctx context.Context, transaction *sql.Tx) error {
		return r.copy(ctx, transaction)
	})
	return draft, r.report(), err
}

// setAside renames the files of a store, and returns the new name of the first.
func setAside(path string) (string, error) {
	aside := fmt.Sprintf("%s.damaged-%s", path, time.Now().UTC().Format("20060102-150405.000000000"))
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	for _, suffix := range databaseSuffixes { // the log belongs to the file
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return aside, err
		}
	}
	return aside, nil
}

// rebuilding copies what can be read of a damaged store into a new one.
type rebuilding struct {
	old        *salvage.Database
	copied     map[string]int // rows, by table
	unreadable int            // rows
	stray      int            // rows that were copied and may be out of date
	restored   []string       // tags of jobs that were put together from their events
	lostJobs   []string       // tags of submissions whose jobs are lost
	unsent     []string       // tags of jobs whose submissions are lost
}

// greatestNumber bounds the numbers of rows that are kept: SQLite counts on from the greatest.
const greatestNumber = 1 << 40

func (r *rebuilding) copy(ctx context.Context, transaction *sql.Tx) error {
	tables, err := copiedTables(ctx, transaction)
	if err != nil {
		return err
	}
	var failure error
	var stray []salvage.Row
	add := func(tables []*copiedTable, row salvage.Row) {
		if failure == nil {
			failure = r.add(ctx, transaction, tables, row)
		}
	}
	unreadable := func() { r.unreadable++ }
	for _, table := range tables {
		among := append([]*copiedTable{table}, tables...)
		r.old.Each(table.name, func(row salvage.Row) {
			if row.IsStray {
				stray = append(stray, row) // after those that are certain
				return
			}
			add(among, row)
		}, unreadable)
	}
	for _, row := range stray {
		add(tables, row)
	}
	r.old.EachStray(func(row salvage.Row) { add(tables, row) }, unreadable)
	if failure == nil {
		failure = r.continueNumbers(ctx, transaction)
	}
	if failure == nil {
		failure = r.complete(ctx, transaction)
	}
	return failure
}

// add adds a row to the first of the tables that it is of.
func (r *rebuilding) add(ctx context.Context, transaction *sql.Tx, tables []*copiedTable, row salvage.Row) error {
	for _, table := range tables {
		if !table.read(row) {
			continue
		}
		if row.IsStray && table.onlyReached {
			return nil
		}
		number := row.Number
		if number < 1 || number > greatestNumber {
			number = 0
		}
		isNew, err := table.insert(ctx, transaction, number)
		if isNew {
			r.copied[table.name]++
			if row.IsStray {
				r.stray++
			}
		}
		return err
	}
	if !row.IsStray {
		r.unreadable++
	}
	return nil
}

// continueNumbers keeps the numbers of jobs and events from being given again.
func (r *rebuilding) continueNumbers(ctx context.Context, transaction *sql.Tx) (err error) {
	r.old.Each("sqlite_sequence", func(row salvage.Row) {
		if len(row.Values) != 2 || err != nil {
			return
		}
		name, isText := row.Values[0].(string)
		last, isNumber := row.Values[1].(int64)
		if isText && isNumber && (name == "jobs" || name == "events") && last <= greatestNumber {
			_, err = transaction.ExecContext(ctx, "INSERT INTO sqlite_sequence (name, seq) SELECT ?, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)", name, name)
			if err == nil {
				_, err = transaction.ExecContext(ctx, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", last, name)
			}
		}
	}, func() {})
	return err
}

// report says what was copied and what is lost.
func (r *rebuilding) report() []string {
	lines := []string{fmt.Sprintf("copied: %s, %s, %s", counted(r.copied["jobs"], "job"), counted(r.copied["submissions"], "submission"), counted(r.copied["events"], "event"))}
	add := func(tags []string, what string) {
		if len(tags) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s", what, strings.Join(tags, ", ")))
		}
	}
	add(r.restored, counted(len(r.restored), "job")+" restored from events, not seen since")
	add(r.lostJobs, counted(len(r.lostJobs), "job")+" lost, by the tags of the submissions")
	add(r.unsent, counted(len(r.unsent), "job")+" kept without what was submitted")
	if r.unreadable > 0 || r.old.Lost() > 0 {
		lines = append(lines, fmt.Sprintf("unreadable: %s, %s", counted(r.unreadable, "row"), counted(r.old.Lost(), "page")))
	}
	if r.stray > 0 {
		lines = append(lines, counted(r.stray, "row")+" found where no table refers to: some may be out of date, or of jobs that were forgotten")
	}
	return lines
}
