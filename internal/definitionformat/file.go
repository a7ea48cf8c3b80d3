package definitionformat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// File reports whether a file is not laid out, and lays it out if it is to be written: as a
// whole, with its permissions, also behind a symbolic link.
func File(name string, write bool) (isChanged bool, err error) {
	place, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false, err
	}
	info, err := os.Stat(place)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s: not a regular file", name)
	}
	source, err := os.ReadFile(place)
	if err != nil {
		return false, err
	}
	formatted, err := Format(name, source)
	if err != nil || bytes.Equal(source, formatted) {
		return false, err
	}
	if !write {
		return true, nil
	}
	return true, replace(place, formatted, info.Mode().Perm())
}

// replace writes a temporary file and renames it over the original.
func replace(name string, text []byte, permissions os.FileMode) error {
	draft, err := os.CreateTemp(filepath.Dir(name), ".rmctl-fmt-*")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name()) // where it does not become the file
	_, err = draft.Write(text)
	if err == nil {
		err = draft.Chmod(permissions)
	}
	if err == nil {
		err = draft.Sync()
	}
	if closed := draft.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return os.Rename(draft.Name(), name)
}
