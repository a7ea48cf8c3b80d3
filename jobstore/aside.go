package jobstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// SetAside renames the files of a store, as they may be damaged, and returns the
// new name of the first: [Open] makes an empty store then, and who can repair the
// old one still has it. The error matches os.ErrNotExist where there is no store.
func SetAside(directory string) (string, error) {
	path := filepath.Join(directory, databaseName)
	aside := fmt.Sprintf("%s.damaged-%s", path, time.Now().UTC().Format("20060102-150405.000000000"))
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("setting the job store in %q aside: %w", directory, err)
	}
	// The log belongs to the file; without it what was recorded last is lost.
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return aside, fmt.Errorf("setting the job store in %q aside: %w", directory, err)
		}
	}
	return aside, nil
}
