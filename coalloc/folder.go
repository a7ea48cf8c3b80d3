package coalloc

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/settings"
)

const (
	ensemblesFolder = "ensembles" // in the state folder
	keyFile         = "key"
	lockFile        = "lock"
	mostKey         = 64 << 10
	idBytes         = 6
)

// newID returns a new id of an ensemble. It is short because users type it.
func newID() string {
	id := make([]byte, idBytes)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// isID reports whether a text has the form of an id, so that it is safe in paths.
func isID(text string) bool {
	id, err := hex.DecodeString(text)
	return err == nil && len(id) == idBytes
}

// folderOf returns the folder of an ensemble in a state folder.
func folderOf(state, id string) string { return filepath.Join(state, ensemblesFolder, id) }

// makeFolder makes the folder of an ensemble with its keys.
func makeFolder(folder string, key []byte) error {
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = settings.WritePrivateFile(filepath.Join(folder, keyFile), key)
	}
	if err != nil {
		return fmt.Errorf("making the keys of the ensemble: %w", err)
	}
	return nil
}

// readKey reads the keys of an ensemble.
func readKey(folder string) ([]byte, error) {
	file, err := os.OpenFile(filepath.Join(folder, keyFile), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of the ensemble: %w", err)
	}
	key, err := io.ReadAll(io.LimitReader(file, mostKey))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("reading the keys of the ensemble: %w", err)
	}
	return key, nil
}

// lock makes this process the only one that runs the ensemble of a folder, until the file is closed or
// the process dies. The error is ErrRunning if another process runs it.
func lock(folder string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(folder, lockFile), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the ensemble: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrRunning
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// unlock lets other processes run the ensemble. A process that is being started may still have the file open.
func unlock(file *os.File) error {
	return errors.Join(unix.Flock(int(file.Fd()), unix.LOCK_UN), file.Close())
}
