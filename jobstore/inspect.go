package jobstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Place describes the folder of a store.
type Place struct {
	Exists    bool   // the folder is there
	HasStore  bool   // and a store in it
	OnNetwork bool   // its file system is one that other hosts share
	OnFUSE    bool   // its file system is a program's (FUSE): this host may cache what others have changed since
	Free      uint64 // bytes that this user may still write to its file system
}

// Inspect looks at the folder of a store and changes nothing. The error says
// why [Open] would fail: the folder, or the nearest above it that exists, may
// not be written to or belongs to another user.
func Inspect(directory string) (Place, error) {
	place, err := inspect(directory)
	if err != nil {
		return Place{}, fmt.Errorf("checking the directory of the job store %q: %w", directory, err)
	}
	return place, nil
}

func inspect(directory string) (Place, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return Place{}, err
	}
	place := Place{Exists: true}
	nearest := directory
	info, err := os.Stat(nearest)
	for errors.Is(err, fs.ErrNotExist) && nearest != filepath.Dir(nearest) {
		place.Exists = false
		nearest = filepath.Dir(nearest)
		info, err = os.Stat(nearest)
	}
	if err != nil {
		return Place{}, err
	}
	if !info.IsDir() {
		return Place{}, fmt.Errorf("%q is no folder", nearest)
	}
	if place.Exists {
		if err := refuseForeign(nearest, info); err != nil {
			return Place{}, err
		}
	}
	if err := unix.Access(nearest, unix.W_OK|unix.X_OK); err != nil {
		return Place{}, fmt.Errorf("you may not write to %q: %w", nearest, err)
	}
	if _, err := os.Stat(filepath.Join(directory, databaseName)); err == nil {
		place.HasStore = true
	}
	if place.OnNetwork, err = isNetworkFileSystem(nearest); err != nil {
		return Place{}, err
	}
	if place.OnFUSE, err = isFUSE(nearest); err != nil {
		return Place{}, err
	}
	var system unix.Statfs_t
	if err := unix.Statfs(nearest, &system); err != nil {
		return Place{}, fmt.Errorf("finding the free space for %q: %w", nearest, err)
	}
	place.Free = uint64(system.Bavail) * uint64(system.Bsize)
	return place, nil
}
