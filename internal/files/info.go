package files

import (
	"io/fs"
	"time"
)

// Info is an fs.FileInfo that can be constructed and sent as JSON. The name is bytes,
// because JSON changes strings that are not UTF-8.
type Info struct {
	FileName []byte
	FileSize int64
	FileMode fs.FileMode
	Modified time.Time
}

// Name implements fs.FileInfo.
func (i Info) Name() string { return string(i.FileName) }

// Size implements fs.FileInfo.
func (i Info) Size() int64 { return i.FileSize }

// Mode implements fs.FileInfo.
func (i Info) Mode() fs.FileMode { return i.FileMode }

// ModTime implements fs.FileInfo.
func (i Info) ModTime() time.Time { return i.Modified }

// IsDir implements fs.FileInfo.
func (i Info) IsDir() bool { return i.FileMode.IsDir() }

// Sys implements fs.FileInfo: nothing else is known.
func (i Info) Sys() any { return nil }
