package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrForeign is matched by the error for a directory, below one that everybody
// may write to, that another user can put something else in the place of.
var ErrForeign = errors.New("another user may change what is in it")

// refuseForeign looks at the directories on the way to one that lie below a
// directory for all, such as /tmp: names there are anybody's to take first. The
// sticky bit keeps others from renaming what is this user's, so that what was
// found in order stays so.
func refuseForeign(directory string) error {
	shared := false
	for _, each := range downTo(directory) {
		info, err := os.Lstat(each)
		if err != nil {
			return fmt.Errorf("looking at the directory %q: %w", each, err)
		}
		if shared {
			if err := refuseForeignEntry(each, info); err != nil {
				return err
			}
		}
		if info, err = os.Stat(each); err != nil { // /tmp itself may be a link of the system's
			return fmt.Errorf("looking at the directory %q: %w", each, err)
		}
		shared = shared || isForAll(info)
	}
	return nil
}

// RefuseForeign returns an error that matches [ErrForeign] where another user could
// put something else in the place of a directory of this machine, as MkdirAll of
// [Local] does. Of one that is not there yet it looks at those above it.
func RefuseForeign(directory string) error {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return err
	}
	for {
		_, err := os.Lstat(directory)
		if !errors.Is(err, fs.ErrNotExist) || directory == filepath.Dir(directory) {
			return refuseForeign(directory)
		}
		directory = filepath.Dir(directory)
	}
}

// refuseForeignEntry refuses what other users own or may write to. A symbolic link
// of theirs leads where they like.
func refuseForeignEntry(path string, info fs.FileInfo) error {
	status, known := info.Sys().(*syscall.Stat_t)
	if known && int(status.Uid) != os.Geteuid() && status.Uid != 0 {
		return fmt.Errorf("%q belongs to user id %d: %w", path, status.Uid, ErrForeign)
	}
	if info.IsDir() && isForAll(info) && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%q has the permissions %v: %w", path, info.Mode(), ErrForeign)
	}
	return nil
}

// isForAll reports whether everybody may make files in a directory.
func isForAll(info fs.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }

// downTo returns the directories from the root to a path, the path included.
func downTo(path string) []string {
	var way []string
	for each := filepath.Clean(path); ; each = filepath.Dir(each) {
		way = append([]string{each}, way...)
		if each == filepath.Dir(each) {
			return way
		}
	}
}
