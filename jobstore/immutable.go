package jobstore

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// SQLite creates files next to a database with a write-ahead log, even to read it. In a
// read-only directory, a closed database is read as immutable.

// isReadOnly reports whether nothing may be written in a folder.
func isReadOnly(directory string) bool {
	err := unix.Access(directory, unix.W_OK)
	return errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES)
}

// hasNoLog reports whether a database uses a write-ahead log that does not exist: its file has
// all changes.
func hasNoLog(path string) bool {
	const modesAt, logged = 18, "\x02\x02" // sqlite.org/fileformat2.html
	info, err := os.Stat(path + "-wal")
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size() > 0) {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	modes := make([]byte, len(logged))
	_, err = io.ReadFull(io.NewSectionReader(file, modesAt, int64(len(modes))), modes)
	return errors.Join(err, file.Close()) == nil && string(modes) == logged
}
