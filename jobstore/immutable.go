package jobstore

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// To read a database with a write-ahead log, SQLite makes files beside it. Where it cannot, a
// database that was closed is read as one that nobody changes.

// isReadOnly reports whether nothing may be written in a folder.
func isReadOnly(directory string) bool {
	err := unix.Access(directory, unix.W_OK)
	return errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES)
}

// hasNoLog reports whether a database has its changes in a write-ahead log, which is not there:
// its file has all of them.
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
