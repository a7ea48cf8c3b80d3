package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// draftPrefix begins the names of files that are written to become another one.
const draftPrefix = ".rmctl-draft-"

// draftLife is how old a draft is that a process has left that was killed: writing
// one takes no time.
const draftLife = time.Hour

// writePrivately writes a file, which put moves into its place under its name:
// os.Rename where it may replace another one, or [putNew]. What a link leads to is
// replaced, not the link: people keep their configuration elsewhere and link it into place.
func writePrivately(file string, text []byte, put func(draft, file string) error) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if err := removeDrafts(filepath.Dir(file)); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(file), draftPrefix+"*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(text)
	if err == nil {
		err = draft.Sync()
	}
	err = errors.Join(err, draft.Close())
	if err == nil {
		err = put(draft.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}

// WritePrivateFile writes a file that its owner alone may read, in the place of one that
// there is: others see the old text or the new one, never a part. What was left of
// attempts that were cut off is removed from its folder, which must be there.
func WritePrivateFile(file string, text []byte) error { return writePrivately(file, text, os.Rename) }

// removeDrafts removes what processes that were killed have left in a folder.
func removeDrafts(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), draftPrefix) || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > draftLife {
			err = os.Remove(filepath.Join(folder, entry.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have removed it
			return err
		}
	}
	return nil
}

// putNew moves a draft to a name that no file has; the error matches fs.ErrExist
// where one has it.
func putNew(draft, file string) error {
	err := os.Link(draft, file) // which replaces nothing, as renaming would
	if err == nil {
		return os.Remove(draft)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system has no second names. Two processes may take the name at the same moment there.
	if _, err := os.Lstat(file); err == nil {
		return fs.ErrExist
	}
	return os.Rename(draft, file)
}

// ReadFile reads a regular file, at most one byte more than it may
// have. Errors are *ConfigurationError.
func ReadFile(file string, most int64) ([]byte, error) {
	refuse := func(err error) error { return &ConfigurationError{File: file, Reason: reasonOf(err), Err: err} }
	// A pipe would be waited for at opening already.
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Lstat(file); linkErr == nil {
			return nil, refuse(errors.New("it is a link that leads nowhere"))
		}
	}
	if err != nil {
		return nil, refuse(err)
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(errors.New("it is not a regular file"))
	}
	opened, err := os.Open(file)
	if err != nil {
		return nil, refuse(err)
	}
	text, err := io.ReadAll(io.LimitReader(opened, most+1))
	if err = errors.Join(err, opened.Close()); err != nil {
		return nil, refuse(err)
	}
	return text, nil
}

// reasonOf returns what went wrong with a file without its name.
func reasonOf(err error) string {
	if path, isPath := errors.AsType[*fs.PathError](err); isPath {
		return path.Err.Error()
	}
	return err.Error()
}

// lockPatience bounds the wait for others that change the same file, who need little
// time for it unless they are stopped: several, on a slow disk, need some seconds.
// lockPoll is how often it is tried.
const (
	lockPatience = 30 * time.Second
	lockPoll     = 10 * time.Millisecond
)

// lockFile takes a lock, which is a file that stays, and lets go of it in unlock. The
// system does so when the process dies. Where the file system has no locks nobody
// waits for anybody, and it is no error.
func lockFile(ctx context.Context, file string) (unlock func() error, err error) {
	opened, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, lockPatience, fmt.Errorf("another process of rmctl has held %q for %v; try again once it has gone on or ended", file, lockPatience))
	defer cancel()
	poll := time.NewTicker(lockPoll)
	defer poll.Stop()
	for {
		err := unix.Flock(int(opened.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil, hasNoLocks(err):
			return opened.Close, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return nil, errors.Join(fmt.Errorf("locking %q: %w", file, err), opened.Close())
		}
		select {
		case <-poll.C:
		case <-waiting.Done():
			return nil, errors.Join(context.Cause(waiting), opened.Close())
		}
	}
}

// hasNoLocks reports whether an error of locking means that the file system has no
// locks, as some network file systems.
func hasNoLocks(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.ENOTSUP, unix.EINVAL}, func(absent error) bool {
		return errors.Is(err, absent)
	})
}
