package peer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// openTables opens the lists of the TCP sockets of this machine, one after the other.
func openTables() (io.ReadCloser, error) {
	opened := &tables{}
	for _, path := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) && len(opened.files) > 0 {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", ErrUncheckable, err), opened.Close())
		}
		opened.files = append(opened.files, file)
		opened.readers = append(opened.readers, file)
	}
	opened.Reader = io.MultiReader(opened.readers...)
	return opened, nil
}

// tables are open files, read one after the other.
type tables struct {
	io.Reader
	readers []io.Reader
	files   []io.Closer
}

// Close closes all of them.
func (t *tables) Close() error {
	var failures []error
	for _, file := range t.files {
		failures = append(failures, file.Close())
	}
	return errors.Join(failures...)
}
