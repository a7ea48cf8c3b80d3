package jobstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"modernc.org/sqlite"
	sqlitecodes "modernc.org/sqlite/lib"
)

// Errors that the machine of the store causes, and what users can do about them.
var (
	errFull        = errors.New("disk or quota full: free some space; nothing recorded is lost")
	errReadOnly    = errors.New("read-only: check permissions and mount options, or choose another directory with --state-dir")
	errUnopened    = errors.New("cannot open its files: check permissions and mount options, or choose another directory with --state-dir")
	errFileDamaged = errors.New("its file is damaged: rmctl recover --rebuild keeps what is readable and searches the schedulers for the rest")
	errNoLocks     = errors.New("cannot lock its file, as on some network file systems: choose a local directory with --state-dir")
	errBusy        = errors.New("other rmctl processes keep it locked")
)

// meanings are the errors that explained adds.
var meanings = []error{errFull, errReadOnly, errUnopened, errFileDamaged, errNoLocks, errBusy}

// explained adds what a failure of the database means for the user, once.
func explained(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) || slices.ContainsFunc(meanings, func(meaning error) bool { return errors.Is(err, meaning) }) {
		return err
	}
	// The lower eight bits are the kind of the failure, says sqlite.org/rescode.html.
	switch code := failure.Code(); {
	case code == sqlitecodes.SQLITE_IOERR_LOCK, code == sqlitecodes.SQLITE_IOERR_RDLOCK, code == sqlitecodes.SQLITE_IOERR_UNLOCK,
		code == sqlitecodes.SQLITE_IOERR_CHECKRESERVEDLOCK, code == sqlitecodes.SQLITE_IOERR_SHMLOCK, code&0xff == sqlitecodes.SQLITE_PROTOCOL:
		return fmt.Errorf("%w (%w)", errNoLocks, err)
	case code&0xff == sqlitecodes.SQLITE_FULL, code == sqlitecodes.SQLITE_IOERR_WRITE, code == sqlitecodes.SQLITE_IOERR_SHMSIZE, code == sqlitecodes.SQLITE_IOERR_SHMOPEN:
		return fmt.Errorf("%w (%w)", errFull, err)
	case code&0xff == sqlitecodes.SQLITE_READONLY, code&0xff == sqlitecodes.SQLITE_PERM:
		return fmt.Errorf("%w (%w)", errReadOnly, err)
	case code&0xff == sqlitecodes.SQLITE_CANTOPEN:
		return fmt.Errorf("%w (%w)", errUnopened, err)
	case code&0xff == sqlitecodes.SQLITE_CORRUPT, code&0xff == sqlitecodes.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", errFileDamaged, err)
	case code&0xff == sqlitecodes.SQLITE_BUSY:
		return fmt.Errorf("%w (%w)", errBusy, err)
	}
	return err
}

// failed says what failed, and what the failure means; it returns nil for no error.
func failed(err error, format string, arguments ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(arguments, explained(err))...)
}

// explainedAt is explained for the store in a directory. To SQLite a file
// system without locks looks like one where others hold them.
func explainedAt(directory string, err error) error {
	err = explained(err)
	if !errors.Is(err, errBusy) {
		return err
	}
	if lockErr := tryLock(filepath.Join(directory, lockName)); lockErr != nil {
		return fmt.Errorf("%w (%w)", errNoLocks, lockErr)
	}
	return err
}

// lockName is a file that is made to try whether files can be locked. It is not the
// store's own: closing that would give up what SQLite has locked.
const lockName = ".locks"

// tryLock returns why files cannot be locked; nil if they can.
func tryLock(path string) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		removal := os.Remove(path)
		if errors.Is(removal, os.ErrNotExist) {
			removal = nil // another process tries it, too
		}
		err = errors.Join(err, file.Close(), removal)
	}()
	err = syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart})
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return nil
	}
	return err
}
