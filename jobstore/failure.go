package jobstore

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlitecodes "modernc.org/sqlite/lib"
)

// Errors that the store's own machine causes, and what can be done about them.
var (
	ErrFull     = errors.New("the disk, or this user's share of it, is full: make room, nothing that was recorded is lost")
	ErrReadOnly = errors.New("it may only be read: check the permissions and how the file system is mounted, or name another folder with --state")
	ErrDamaged  = errors.New("its file is damaged: rmctl recover --rebuild puts it aside and looks for the jobs with the schedulers")
	ErrNoLocks  = errors.New("its file cannot be locked, as some network file systems have it: name a folder on this machine with --state")
	ErrBusy     = errors.New("other processes of rmctl are writing to it all the time")
)

// explained adds what a failure of the database means for the user.
func explained(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	// The lower eight bits are the kind of the failure, says sqlite.org/rescode.html.
	switch code := failure.Code(); {
	case code == sqlitecodes.SQLITE_IOERR_LOCK, code == sqlitecodes.SQLITE_IOERR_RDLOCK, code == sqlitecodes.SQLITE_IOERR_UNLOCK,
		code == sqlitecodes.SQLITE_IOERR_CHECKRESERVEDLOCK, code == sqlitecodes.SQLITE_IOERR_SHMLOCK, code&0xff == sqlitecodes.SQLITE_PROTOCOL:
		return fmt.Errorf("%w (%w)", ErrNoLocks, err)
	case code&0xff == sqlitecodes.SQLITE_FULL, code == sqlitecodes.SQLITE_IOERR_WRITE, code == sqlitecodes.SQLITE_IOERR_SHMSIZE:
		return fmt.Errorf("%w (%w)", ErrFull, err)
	case code&0xff == sqlitecodes.SQLITE_READONLY, code&0xff == sqlitecodes.SQLITE_PERM:
		return fmt.Errorf("%w (%w)", ErrReadOnly, err)
	case code&0xff == sqlitecodes.SQLITE_CORRUPT, code&0xff == sqlitecodes.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", ErrDamaged, err)
	case code&0xff == sqlitecodes.SQLITE_BUSY:
		return fmt.Errorf("%w (%w)", ErrBusy, err)
	}
	return err
}
