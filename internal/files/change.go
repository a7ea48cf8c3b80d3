package files

import (
	"context"
	"os"
	"time"
)

// A State identifies the version of a file, so that changes can be detected.
type State struct {
	size     int64
	modified time.Time
}

// StateOf returns the state of a file; the zero value for one that is not there.
func StateOf(name string) State {
	info, err := os.Stat(name)
	if err != nil {
		return State{}
	}
	return State{info.Size(), info.ModTime()}
}

// WaitForChange waits until a file is there and has changed, and returns false if the context
// is done before.
func WaitForChange(ctx context.Context, name string, before State) bool {
	const often = 200 * time.Millisecond
	ticker := time.NewTicker(often)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
			if now := StateOf(name); now != before && now != (State{}) {
				return true
			}
		}
	}
}
