package jobstore

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// isNetworkFileSystem reports whether other hosts may have the files of a
// directory open at the same time.
func isNetworkFileSystem(directory string) (bool, error) {
	var status unix.Statfs_t
	if err := unix.Statfs(directory, &status); err != nil {
		return false, fmt.Errorf("finding the file system of %q: %w", directory, err)
	}
	return status.Flags&unix.MNT_LOCAL == 0, nil
}

// isFUSE reports whether a directory is on FUSE, which is unknown here.
func isFUSE(string) (bool, error) { return false, nil }
