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

// draftPrefix begins the names of files that are renamed once they are written.
const draftPrefix = ".rmctl-draft-"

// draftLife is the age of a draft after which its process was certainly killed.
const draftLife = time.Hour

// writePrivately writes a draft, which move moves to the file: os.Rename, or [moveNew] to
// replace nothing. If the file is a link, its target is replaced: users keep their
// configuration elsewhere and link to it.
func writePrivately(file string, text []byte, move func(draft, file string) error) error {
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
		err = move(draft.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}

// WritePrivateFile writes or replaces a file that only its owner can read. Others see the old
// or the new text, never a part. It removes old drafts from the folder, which must exist.
func WritePrivateFile(file string, text []byte) error { return writePrivately(file, text, os.Rename) }

// removeDrafts removes the drafts of killed processes from a folder.
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

// moveNew moves a draft to a new name. If a file has that name, the error matches
// fs.ErrExist.
func moveNew(draft, file string) error {
	err := os.Link(draft, file) // which does not overwrite, unlike renaming
	if err == nil {
		return os.Remove(draft)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system has no hard links. Here two processes may use the name at the same moment.
	if _, err := os.Lstat(file); err == nil {
		return fs.ErrExist
	}
	return os.Rename(draft, file)
}

// ReadFile reads a regular file, up to one byte more than the limit. Errors are
// *ConfigurationError.
func ReadFile(file string, most int64) ([]byte, error) {
	refuse := func(err error) error { return &ConfigurationError{File: file, Reason: reasonOf(err), Err: err} }
	// Opening a pipe would block.
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Lstat(file); linkErr == nil {
			return nil, refuse(errors.New("broken symbolic link"))
		}
	}
	if err != nil {
		return nil, refuse(err)
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(errors.New("not a regular file"))
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

// reasonOf returns the text of an error without the name of the file.
func reasonOf(err error) string {
	if path, isPath := errors.AsType[*fs.PathError](err); isPath {
		return path.Err.Error()
	}
	return err.Error()
}

// lockPatience bounds the wait for other processes that change the same file: several on a
// slow disk need some seconds. lockPoll is how often the lock is tried.
const (
	lockPatience = 30 * time.Second
	lockPoll     = 10 * time.Millisecond
)

// lockFile locks a file, which it creates if needed and never removes. The system unlocks it
// if the process dies. On a file system without locks it does nothing.
func lockFile(ctx context.Context, file string) (unlock func() error, err error) {
	opened, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, lockPatience, fmt.Errorf("another rmctl process has locked %q for %v\ntry again when it has ended", file, lockPatience))
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

// hasNoLocks reports whether an error means that the file system has no locks, as some network
// file systems.
func hasNoLocks(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.ENOTSUP, unix.EINVAL}, func(absent error) bool {
		return errors.Is(err, absent)
	})
}
