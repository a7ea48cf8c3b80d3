package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"modernc.org/sqlite"

	"github.com/rmctl/rmctl/internal/journal"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/stored"
)

// databaseName is the file of the store in its state directory.
const databaseName = "jobs.db"

// busyPatience is how long a process waits for another one that is writing.
const busyPatience = 10 * time.Second

// longestLog is how many pages the write-ahead log has before it is written back to the
// database. Each process reads the whole log when it opens the store, 2 µs a page; writing
// it back waits for the disk twice.
const longestLog = 250

// readers is how many queries of one process run at once.
const readers = 4

// A Store is an open record of jobs. Its methods may be called concurrently.
type Store struct {
	database *sql.DB
	path     string
	writer   chan struct{} // held by the one goroutine that writes
	waiting  writeQueue

	unrecorded unrecorded
	damage     damage
}

// Open opens the store in a state directory, and makes both where they are
// missing. The directory is made accessible to its owner alone; one that
// belongs to another user is refused, as is a store of a later version of the program.
func Open(ctx context.Context, directory string) (*Store, error) {
	store, err := open(ctx, directory)
	for begun := time.Now(); isBeingMade(err) && time.Since(begun) < longestDelay && wait(ctx, retryPause); {
		store, err = open(ctx, directory)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the job store in %q: %w", directory, explainedAt(directory, err))
	}
	return store, nil
}

// A file server may show a directory that another machine has just made with a delay, and
// refuses to make it again meanwhile.
const (
	longestDelay = 2 * time.Second
	retryPause   = 20 * time.Millisecond
)

// isBeingMade reports whether another machine may be making the directory of a store.
func isBeingMade(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE)
}

// wait pauses. It reports false if the context ends first.
func wait(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

func open(ctx context.Context, directory string) (*Store, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return nil, err
	}
	if err := makeDirectory(directory); err != nil {
		return nil, err
	}
	path := filepath.Join(directory, databaseName)
	err = makePrivate(path, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		var onNetwork bool
		if onNetwork, err = isNetworkFileSystem(directory); err == nil {
			err = create(ctx, path, onNetwork)
		}
	}
	if err != nil {
		return nil, err
	}
	store, err := openDatabase(ctx, path, isReadOnly(directory) && hasNoLog(path))
	if errors.Is(explained(err), errFull) && hasNoLog(path) {
		return openDatabase(ctx, path, true) // what is on record can be read
	}
	return store, err
}

// makeDirectory makes a directory of this user alone, or makes it so.
func makeDirectory(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	before, err := os.Stat(directory)
	if err != nil {
		return err
	}
	if err := makePrivate(directory, 0o700); err != nil {
		return err
	}
	if before.Mode().Perm()&0o022 != 0 {
		return refusePlanted(directory)
	}
	return nil
}

// openDatabase opens a database, and brings it to the newest schema.
func openDatabase(ctx context.Context, path string, immutable bool) (*Store, error) {
	store, err := connect(path, immutable)
	if err != nil {
		return nil, err
	}
	if err := store.migrate(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// connect returns a store over a database file, which its first use opens. Nobody may change an
// immutable one.
func connect(path string, immutable bool) (*Store, error) {
	options := url.Values{
		// A transaction that reads first and writes then would fail, not
		// wait, when another process wrote in between.
		"_txlock":       {"immediate"},
		"_busy_timeout": {fmt.Sprint(busyPatience.Milliseconds())},
		"_pragma":       {fmt.Sprintf("wal_autocheckpoint(%d)", longestLog)},
	}
	if immutable {
		options.Set("immutable", "1")
	}
	location := url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}
	plain, err := sqlite.NewConnector(location.String())
	if err != nil {
		return nil, err
	}
	database := sql.OpenDB(connector{plain})
	database.SetMaxOpenConns(readers)
	database.SetMaxIdleConns(readers)
	return &Store{database: database, path: path, writer: make(chan struct{}, 1), unrecorded: unrecorded{settling: make(chan struct{}, 1)}}, nil
}

// makePrivate makes a file or directory accessible to its owner alone, who must be this
// user.
func makePrivate(path string, mode os.FileMode) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() != (mode&0o100 != 0) {
		return fmt.Errorf("%q has the unexpected mode %v", path, info.Mode())
	}
	if err := refuseForeign(path, info); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(path, mode)
	}
	return nil
}

// refuseForeign refuses a file that belongs to another user.
func refuseForeign(path string, info os.FileInfo) error {
	status, known := info.Sys().(*syscall.Stat_t)
	if known && int(status.Uid) != os.Geteuid() {
		return fmt.Errorf("%q belongs to user id %d, not to this user (%d)", path, status.Uid, os.Geteuid())
	}
	return nil
}

// refusePlanted refuses files that others have put into a directory while they could write
// to it: a log there would become part of the store.
func refusePlanted(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if err := refuseForeign(filepath.Join(directory, entry.Name()), info); err != nil {
			return fmt.Errorf("%w: others could write to its directory until now; remove it", err)
		}
	}
	return nil
}

// directory is where the store's files are.
func (s *Store) directory() string { return filepath.Dir(s.path) }

// Close closes the store. Outcomes that could not be recorded stay next to it.
func (s *Store) Close() error {
	return failed(errors.Join(s.unrecorded.leave(), s.database.Close()), "closing the job store %q", s.path)
}

// durability says whether a committed transaction survives the loss of power, or only the
// end of the process.
type durability string

const (
	durable   durability = "FULL"
	processed durability = "NORMAL" // the scheduler can be queried again for what is lost
)

// writeProcessed is write for changes that another query would repeat.
func (s *Store) writeProcessed(ctx context.Context, change stored.Change) error {
	return s.write(ctx, processed, change)
}

// execute runs one statement in a transaction of its own.
func (s *Store) execute(ctx context.Context, statement string, arguments ...any) error {
	_, err := stored.Writer(s.writeProcessed).Execute(ctx, statement, arguments...)
	return err
}

// Polls returns the record of the queries that processes share.
func (s *Store) Polls() *polls.Record {
	return polls.NewRecord(s.database, s.writeProcessed, explained)
}

// Journal returns the record of ensembles.
func (s *Store) Journal() *journal.Record {
	return journal.NewRecord(s.database, s.snapshot, s.writeProcessed, func(ctx context.Context, change stored.Change) error {
		return s.write(ctx, durable, change)
	}, explained)
}

// snapshot runs queries in a transaction that locks nothing.
func (s *Store) snapshot(ctx context.Context, read func(ctx context.Context, source stored.Queryer) error) (err error) {
	transaction, err := s.database.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() {
		if end := transaction.Rollback(); !errors.Is(end, sql.ErrTxDone) {
			err = errors.Join(err, end)
		}
	}()
	return read(ctx, transaction)
}

// write runs change in a transaction. One goroutine of this process writes at a
// time; others wait for it here, where the context ends their wait at once. Changes
// that arrive meanwhile are committed together: the disk is waited for once.
func (s *Store) write(ctx context.Context, lasting durability, change stored.Change) error {
	mine := &pendingWrite{ctx: ctx, lasting: lasting, change: change, done: make(chan error, 1)}
	s.waiting.add(mine)
	select {
	case err := <-mine.done:
		return err
	case s.writer <- struct{}{}:
		defer func() { <-s.writer }()
		for {
			// Older changes go first, so this may take several rounds.
			select {
			case err := <-mine.done:
				return err
			default:
				s.writeTogether(s.waiting.next())
			}
		}
	case <-ctx.Done():
		if s.waiting.remove(mine) {
			return ctx.Err()
		}
		return <-mine.done // it is being written now
	}
}
