package control

import (
	"io"
	"strings"
)

// StagingProgress tells how far a file of a submission is on its way to the target.
type StagingProgress struct {
	Path string // on the target
	Sent int64  // bytes that were handed over so far
	Size int64  // bytes in all
	// Done tells that nothing more will be told of the file: it is in place, or
	// could not be put there.
	Done bool
}

// staging returns what WriteFile is to read of a file, and a function to call
// when that has ended.
func staging(file StagedFile, told func(StagingProgress)) (content io.Reader, done func()) {
	content = strings.NewReader(file.Content)
	if told == nil {
		return content, func() {}
	}
	counted := &countedContent{content: content, told: told, progress: StagingProgress{Path: file.Path, Size: int64(len(file.Content))}}
	return counted, func() {
		counted.progress.Done = true
		told(counted.progress)
	}
}

// countedContent tells how much of a content was read. WriteFile reads it on one
// goroutine at a time, and not any more once it has returned.
type countedContent struct {
	content  io.Reader
	told     func(StagingProgress)
	progress StagingProgress
}

// Read reads a part of the content.
func (c *countedContent) Read(p []byte) (int, error) {
	n, err := c.content.Read(p)
	if n > 0 {
		c.progress.Sent += int64(n)
		c.told(c.progress)
	}
	return n, err
}
