package coalloc

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

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

// NewID returns a new id of an ensemble, short enough to type.
func NewID() string {
	id := make([]byte, idBytes)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// isID reports whether a text has the form of an id, so that it is safe in paths.
func isID(text string) bool {
	id, err := hex.DecodeString(text)
	return err == nil && len(id) == idBytes && strings.ToLower(text) == text
}

func invalidID(id string) error {
	return fmt.Errorf("invalid id %.50q: write %d hexadecimal digits", id, 2*idBytes)
}

// folderOf returns the folder of an ensemble in a state folder.
func folderOf(state, id string) string { return filepath.Join(state, ensemblesFolder, id) }

// writeKey writes the keys of an ensemble.
func writeKey(folder string, key []byte) error {
	if err := settings.WritePrivateFile(filepath.Join(folder, keyFile), key); err != nil {
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

// lock gives this process the exclusive right to run or record the ensemble of a folder, until it calls the
// returned function or dies. If another process has the right, the error is ErrRunning.
func lock(folder string) (unlock func() error, err error) {
	unlock, err = settings.TryLock(filepath.Join(folder, lockFile))
	if errors.Is(err, settings.ErrLocked) {
		return nil, ErrRunning
	}
	return unlock, err
}
