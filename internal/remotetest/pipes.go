package remotetest

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// OpenPipe opens a named pipe for writing as soon as a script reads it, and gives up if
// none does within a minute.
func OpenPipe(path string) (*os.File, error) {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for begun := time.Now(); ; <-look.C {
		pipe, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		switch {
		case !errors.Is(err, syscall.ENXIO):
			return pipe, err
		case time.Since(begun) > patience:
			return nil, fmt.Errorf("no script has read from it for %s: %w", patience, err)
		}
	}
}
