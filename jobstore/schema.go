package jobstore

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
)

// errNewerSchema is matched by the error of Open for the store of a later version.
var errNewerSchema = errors.New("the job store was made by a newer version of rmctl")

// schema makes the tables of a new store; upgrades those of earlier versions.
var (
	//go:embed schema.sql
	schema string
	//go:embed upgrades.sql
	upgrades string
)

// migrations returns the steps that lead from each version of the schema to the next.
func migrations() []string { return strings.Split(upgrades, "-- next version\n") }

// listingsFolder is where rmctl kept what was listed before the database did: a
// cache, which this version does not read.
const listingsFolder = "listings"

// migrate brings the database to the newest schema.
func (s *Store) migrate(ctx context.Context) error {
	version, err := versionOf(ctx, s.database)
	if err != nil {
		return err
	}
	steps := migrations()
	if version == len(steps) {
		return nil
	}
	err = s.write(ctx, durable, func(ctx context.Context, transaction *sql.Tx) error {
		// Another process may have migrated in the meantime.
		now, err := versionOf(ctx, transaction)
		if err != nil {
			return err
		}
		if now == 0 {
			return begin(ctx, transaction, len(steps))
		}
		return upgrade(ctx, transaction, now, steps)
	})
	if err != nil || version == 0 {
		return err
	}
	return os.RemoveAll(filepath.Join(s.directory(), listingsFolder))
}

// versionOf returns the version of the schema of a database, 0 if that has no tables yet.
func versionOf(ctx context.Context, source stored.Queryer) (version int, err error) {
	err = source.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// begin makes the tables of a new store. All steps from the first version on take three times as long.
func begin(ctx context.Context, transaction *sql.Tx, newest int) error {
	if _, err := transaction.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("making its tables: %w", err)
	}
	return setVersion(ctx, transaction, newest)
}

func setVersion(ctx context.Context, transaction *sql.Tx, version int) error {
	_, err := transaction.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

// upgrade applies those of the steps that a store of a version lacks.
func upgrade(ctx context.Context, transaction *sql.Tx, version int, steps []string) error {
	if version > len(steps) {
		return fmt.Errorf("%w: its schema has version %d, this rmctl supports %d; use the newer version, or choose another directory with --state-dir", errNewerSchema, version, len(steps))
	}
	for ; version < len(steps); version++ {
		if _, err := transaction.ExecContext(ctx, steps[version]); err != nil {
			return fmt.Errorf("upgrading its schema from version %d: %w", version, err)
		}
	}
	return setVersion(ctx, transaction, version)
}

// create makes an empty store under another name and links it into place, so
// that of several processes that start at once each sees a complete one.
func create(ctx context.Context, path string, onNetwork bool) error {
	if err := removeDrafts(filepath.Dir(path)); err != nil {
		return err
	}
	// SQLite gives its other files the permissions of this one, 0600.
	draft, err := os.CreateTemp(filepath.Dir(path), ".create-*.db")
	if err != nil {
		return err
	}
	err = draft.Close()
	if err == nil {
		err = furnish(ctx, draft.Name(), onNetwork)
	}
	if err == nil {
		err = os.Link(draft.Name(), path)
		if errors.Is(err, os.ErrExist) {
			err = nil // another process was first
		}
	}
	return errors.Join(err, removeFiles(draft.Name()))
}

// databaseSuffixes are the suffixes of the files that SQLite keeps next to a database.
var databaseSuffixes = []string{"-wal", "-shm", "-journal"}

// removeFiles removes a database.
func removeFiles(path string) (err error) {
	for _, suffix := range append([]string{""}, databaseSuffixes...) {
		if removal := os.Remove(path + suffix); !errors.Is(removal, os.ErrNotExist) {
			err = errors.Join(err, removal)
		}
	}
	return err
}

// draftAge is when a draft is certainly abandoned: one is made within milliseconds.
const draftAge = time.Hour

// removeDrafts removes the files of processes that were killed while they made a store.
func removeDrafts(directory string) error {
	drafts, err := filepath.Glob(filepath.Join(directory, ".create-*.db*"))
	for _, draft := range drafts {
		info, statErr := os.Lstat(draft)
		if statErr == nil && time.Since(info.ModTime()) > draftAge {
			statErr = os.Remove(draft)
		}
		if !errors.Is(statErr, os.ErrNotExist) { // another process removes it, too
			err = errors.Join(err, statErr)
		}
	}
	return err
}

// furnish makes an empty file a store.
func furnish(ctx context.Context, path string, onNetwork bool) error {
	mode := "WAL"
	if onNetwork {
		// The write-ahead log shares memory between processes, which those on
		// other hosts of the cluster would not see.
		mode = "DELETE"
	}
	store, err := connect(path, false)
	if err != nil {
		return err
	}
	// The mode is a property of the file, for every process that opens it later.
	_, err = store.database.ExecContext(ctx, "PRAGMA journal_mode = "+mode)
	if err == nil {
		err = store.migrate(ctx)
	}
	return errors.Join(err, store.Close())
}
