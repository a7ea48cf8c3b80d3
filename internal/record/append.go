package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/cases"
)

// makeRoom removes the previous recording, or with Append finds a free folder next to it.
func (w *writer) makeRoom() error {
	w.known = map[string]bool{}
	if !w.Append {
		for _, former := range []string{flowFolder, casesFolder} {
			if err := os.RemoveAll(filepath.Join(w.Folder, former)); err != nil {
				return fmt.Errorf("removing the previous recording: %w", err)
			}
		}
	}
	if err := os.MkdirAll(w.Folder, 0o700); err != nil {
		return fmt.Errorf("creating the recording: %w", err)
	}
	w.flowAt = filepath.Join(w.Folder, flowFolder)
	for number := 2; isThere(w.flowAt); number++ {
		w.flowAt = filepath.Join(w.Folder, fmt.Sprintf("%s-%d", flowFolder, number))
	}
	entries, err := os.ReadDir(filepath.Join(w.Folder, casesFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the previous recording: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		number, _, _ := strings.Cut(entry.Name(), "-")
		if last, err := strconv.Atoi(number); err == nil {
			w.last = max(w.last, last)
		}
		w.know(filepath.Join(w.Folder, casesFolder, entry.Name()))
	}
	return nil
}

// know remembers an existing case, to avoid duplicates. It ignores unreadable ones.
func (w *writer) know(folder string) {
	former, err := cases.Read(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist): // something else
		return
	case err != nil:
		w.remark("%v", err)
		return
	}
	w.known[contents(former)] = true
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
