package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// RefuseSharedKey returns an error if another user could read or change a file with a
// secret key. Its group may read it, as servers share keys; root may own it.
func RefuseSharedKey(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	switch {
	case info.Mode().Perm()&0o027 != 0:
		return fmt.Errorf("%s has mode %04o: others can read or change it; run chmod 600", path, info.Mode().Perm())
	case isForeign(info):
		return fmt.Errorf("%s belongs to another user", path)
	}
	return nil
}

// RefuseForeignSocket returns an error that matches [ErrForeign] if another user could
// replace the socket at a path: its directory is theirs, or they may write to it. The sticky bit of a directory for all, such as /tmp, keeps them from it.
func RefuseForeignSocket(path string) error {
	directory, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	info, err := os.Stat(directory)
	if err != nil {
		return err
	}
	switch {
	case isForeign(info):
		return fmt.Errorf("%q belongs to another user: %w", directory, ErrForeign)
	case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("%q has the permissions %v: %w", directory, info.Mode(), ErrForeign)
	}
	return RefuseForeign(directory)
}

// isForeign reports whether a file belongs to a user other than this one and root.
func isForeign(info fs.FileInfo) bool {
	status, known := info.Sys().(*syscall.Stat_t)
	return known && int(status.Uid) != os.Geteuid() && status.Uid != 0
}
