package coalloc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/rmctl/rmctl/jobstore"
)

// unknownAfter is how old a folder of an ensemble that is not on record has to be: a younger one may be being recorded.
const unknownAfter = time.Hour

// sweep removes the folders of ensembles that have ended or were pruned. What it cannot remove stays until the
// next ensemble is recorded.
func sweep(ctx context.Context, store *jobstore.Store, state string, now time.Time) {
	entries, err := os.ReadDir(filepath.Join(state, ensemblesFolder))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && isID(entry.Name()) {
			saved, err := readSaved(ctx, store, entry.Name())
			isOld := errors.Is(err, ErrUnknownEnsemble) && now.Sub(info.ModTime()) > unknownAfter
			if isOld || err == nil && saved.Ensemble.State.Ended() {
				removeFolder(folderOf(state, entry.Name()))
			}
		}
	}
}

// removeFolder removes the folder of an ensemble, unless a process still uses it.
func removeFolder(folder string) {
	unlock, err := lock(folder)
	if err != nil {
		return
	}
	_ = os.RemoveAll(folder) // the next call tries again
	_ = unlock()             // its file is gone
}
