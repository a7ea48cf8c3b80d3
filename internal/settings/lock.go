package settings

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked reports that another process has locked a file.
var ErrLocked = errors.New("locked by another process")

// TryLock locks a file, which it creates if needed, until the returned function is called or this process dies. The error
// matches ErrLocked if another process has locked it.
func TryLock(file string) (unlock func() error, err error) {
	opened, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(opened.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %q: %w", file, err), opened.Close())
	}
	// A process that is being started may still have the file open, so closing it does not suffice.
	return func() error { return errors.Join(unix.Flock(int(opened.Fd()), unix.LOCK_UN), opened.Close()) }, nil
}
