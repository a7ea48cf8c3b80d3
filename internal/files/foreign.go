// Package files names incomplete files, and refuses local directories that other users can
// tamper with.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrForeign is matched by the error for a directory whose content another user could
// replace.
var ErrForeign = errors.New("another user can change its content")

// RefuseForeign returns an error that matches [ErrForeign] if another user could replace a
// directory of this machine or one above it. If it does not exist yet, only those above
// it count.
//
// In a directory for all, such as /tmp, anybody may create a name first. The sticky bit
// keeps others from renaming this user's files, so that the result of the check stays
// true.
func RefuseForeign(directory string) error {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return err
	}
	shared := false
	for _, each := range downTo(directory) {
		info, err := os.Lstat(each)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("checking the directory %q: %w", each, err)
		}
		if shared {
			if err := refuseForeignEntry(each, info); err != nil {
				return err
			}
		}
		if info, err = os.Stat(each); err != nil { // /tmp itself may be a link of the system's
			return fmt.Errorf("checking the directory %q: %w", each, err)
		}
		shared = shared || isForAll(info)
	}
	return nil
}

// refuseForeignEntry refuses files, links included, that other users own or may write to.
func refuseForeignEntry(path string, info fs.FileInfo) error {
	if isForeign(info) {
		return fmt.Errorf("%q belongs to another user: %w", path, ErrForeign)
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
