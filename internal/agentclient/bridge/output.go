package bridge

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/remote"
)

// isOutput reports whether a path belongs to the output of a job.
func isOutput(name string) bool {
	return strings.HasPrefix(path.Clean(name), strings.TrimSuffix(definition.OutputFolder, "/"))
}

// Names of the files with the output of a job.
const (
	outputStream = "stdout"
	errorStream  = "stderr"
)

// read returns the output of a job so far.
func (c *Connection) read(ctx context.Context, operation, name string) (*outputFile, error) {
	fail := func(err error) (*outputFile, error) {
		return nil, &fs.PathError{Op: operation, Path: name, Err: err}
	}
	id, stream, isFile := strings.Cut(strings.TrimPrefix(path.Clean(name), definition.OutputFolder), "/")
	streams := map[string]agentclient.Stream{outputStream: agentclient.Stdout, errorStream: agentclient.Stderr}
	which, isStream := streams[stream]
	if !isFile || !isStream {
		return fail(fs.ErrNotExist)
	}
	_, session, err := c.session(ctx)
	if err != nil {
		return fail(err)
	}
	text, known := session.Output(id, which)
	if !known {
		return fail(fs.ErrNotExist)
	}
	content, err := io.ReadAll(text)
	if err != nil {
		return fail(err)
	}
	return &outputFile{bytes.NewReader(content), stream}, nil
}

// Stat describes a file, including the output of jobs.
func (c *Connection) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if !isOutput(name) {
		return c.Connection.Stat(ctx, name)
	}
	file, err := c.read(ctx, "stat", name)
	if err != nil {
		return nil, err
	}
	return file.Stat()
}

// Open opens a file, including the output of jobs.
func (c *Connection) Open(ctx context.Context, name string) (remote.File, error) {
	if !isOutput(name) {
		return c.Connection.Open(ctx, name)
	}
	file, err := c.read(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// WriteFile writes a file; the output of jobs cannot be written.
func (c *Connection) WriteFile(ctx context.Context, name string, content io.Reader, mode fs.FileMode) error {
	if isOutput(name) {
		return refuse("write", name)
	}
	return c.Connection.WriteFile(ctx, name, content, mode)
}

// Remove removes a file; the output of jobs cannot be removed.
func (c *Connection) Remove(ctx context.Context, name string) error {
	if isOutput(name) {
		return refuse("remove", name)
	}
	return c.Connection.Remove(ctx, name)
}

// MkdirAll creates a folder outside the output of jobs.
func (c *Connection) MkdirAll(ctx context.Context, name string, mode fs.FileMode) error {
	if isOutput(name) {
		return refuse("mkdir", name)
	}
	return c.Connection.MkdirAll(ctx, name, mode)
}

// Chmod changes the permissions of files other than the output of jobs.
func (c *Connection) Chmod(ctx context.Context, name string, mode fs.FileMode) error {
	if isOutput(name) {
		return refuse("chmod", name)
	}
	return c.Connection.Chmod(ctx, name, mode)
}

func refuse(operation, name string) error {
	return &fs.PathError{Op: operation, Path: name, Err: fmt.Errorf("the output of jobs is read-only: %w", fs.ErrPermission)}
}

// An outputFile is the output of a job at the time of opening.
type outputFile struct {
	*bytes.Reader
	name string
}

// Close implements remote.File.
func (f *outputFile) Close() error { return nil }

// Stat implements remote.File.
func (f *outputFile) Stat() (fs.FileInfo, error) { return outputInfo{f.name, f.Size()}, nil }

// outputInfo describes an outputFile.
type outputInfo struct {
	name string
	size int64
}

// Name implements [fs.FileInfo].
func (i outputInfo) Name() string { return i.name }

// Size implements [fs.FileInfo].
func (i outputInfo) Size() int64 { return i.size }

// Mode implements [fs.FileInfo].
func (i outputInfo) Mode() fs.FileMode { return 0o400 }

// ModTime implements [fs.FileInfo]; the time is not known.
func (i outputInfo) ModTime() time.Time { return time.Time{} }

// IsDir implements [fs.FileInfo].
func (i outputInfo) IsDir() bool { return false }

// Sys implements [fs.FileInfo].
func (i outputInfo) Sys() any { return nil }
