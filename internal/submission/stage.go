package submission

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/rmctl/rmctl/remote"
)

// Stage writes files and reports their progress, unless onProgress is nil. With an error
// it returns those that may be there.
func Stage(ctx context.Context, connection remote.Connection, files []StagedFile, onProgress func(remote.Transfer)) ([]StagedFile, error) {
	for i, file := range files {
		err := connection.MkdirAll(ctx, path.Dir(file.Path), 0o700)
		if err == nil {
			err = write(ctx, connection, file, onProgress)
		}
		if err == nil && file.Source != "" {
			err = os.Remove(file.Source)
		}
		if err != nil {
			return files[:i+1], fmt.Errorf("staging %q: %w", file.Path, err)
		}
	}
	return files, nil
}

// A swiftPlace is this machine: reading a file there costs less than waiting for the disk.
type swiftPlace interface {
	// WriteTransient is WriteFile for a file that need not survive the loss of power.
	WriteTransient(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error
}

// write writes a file. On this machine it waits for the disk only if the file stays, and is
// not there already, as a program of the definition is after the first submission.
func write(ctx context.Context, connection remote.Connection, file StagedFile, onProgress func(remote.Transfer)) error {
	write := connection.WriteFile
	if swift, isSwift := connection.(swiftPlace); isSwift {
		if file.DeleteAfterSubmit {
			write = swift.WriteTransient
		} else if isThere(ctx, connection, file) {
			return nil
		}
	}
	content, done := staging(file, onProgress)
	defer done()
	return write(ctx, file.Path, content, file.Mode)
}

// isThere reports whether a file is in place already.
func isThere(ctx context.Context, connection remote.Connection, file StagedFile) bool {
	info, err := connection.Stat(ctx, file.Path)
	if err != nil || info.Mode() != file.Mode.Perm() || info.Size() != int64(len(file.Content)) {
		return false
	}
	opened, err := connection.Open(ctx, file.Path)
	if err != nil {
		return false
	}
	content := make([]byte, len(file.Content))
	_, err = io.ReadFull(opened, content)
	return opened.Close() == nil && err == nil && string(content) == file.Content
}

// staging returns what WriteFile is to read of a file, and a function to call
// when that has ended.
func staging(file StagedFile, onProgress func(remote.Transfer)) (content io.Reader, done func()) {
	content = strings.NewReader(file.Content)
	if onProgress == nil {
		return content, func() {}
	}
	counted := &countedContent{content: content, onProgress: onProgress, progress: remote.Transfer{Path: file.Path, Size: int64(len(file.Content))}}
	return counted, func() {
		counted.progress.Done = true
		onProgress(counted.progress)
	}
}

// A countedContent reports how much of a content was read. WriteFile reads it on one
// goroutine at a time, and not any more once it has returned.
type countedContent struct {
	content    io.Reader
	onProgress func(remote.Transfer)
	progress   remote.Transfer
}

// Read reads a part of the content.
func (c *countedContent) Read(p []byte) (int, error) {
	n, err := c.content.Read(p)
	if n > 0 {
		c.progress.Sent += int64(n)
		c.onProgress(c.progress)
	}
	return n, err
}
