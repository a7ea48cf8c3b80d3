package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// fileWork are the operations on files, over SFTP or through commands. Paths are absolute
// and hold no zero byte.
type fileWork interface {
	// do runs one of the other methods, and ends it when ctx is done.
	do(ctx context.Context, work func() error) error

	stat(ctx context.Context, path string) (fs.FileInfo, error)
	open(ctx context.Context, path string) (remote.File, error)
	write(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error
	makeDirectories(ctx context.Context, path string, mode fs.FileMode) error
	chmod(ctx context.Context, path string, mode fs.FileMode) error
	remove(ctx context.Context, path string) error
}

// fileService chooses between the ways to work on files.
type fileService struct {
	connection *connection

	mutex   sync.Mutex // held while SFTP is opened
	service *sftpFiles // nil while it is not open
	without bool       // the host does not offer it, or has no channel to spare
}

// do runs an operation on one path in the way that the host offers.
func (f *fileService) do(ctx context.Context, operation, path string, work func(way fileWork, absolute string) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %q: %w", operation, path, err)
	}
	if strings.ContainsRune(path, 0) {
		return fmt.Errorf("%s %q: %w", operation, path, &fs.PathError{Op: operation, Path: path, Err: errZeroByte})
	}
	way, err := f.way(ctx)
	if err == nil {
		err = way.do(ctx, func() error { return work(way, f.connection.absolute(path)) })
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", operation, path, err)
	}
	return nil
}

var errZeroByte = errors.New("the name contains a zero byte")

// way opens SFTP when it is first needed, and again when its channel broke.
func (f *fileService) way(ctx context.Context) (fileWork, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.service != nil && f.service.usable() {
		return f.service, nil
	}
	f.service = nil
	if !f.without {
		service, err := openSFTP(ctx, f.connection.pool)
		switch {
		case err == nil:
			f.service = service
			return service, nil
		case errors.Is(err, ErrNoSubsystem), errors.Is(err, errNoRoom):
			f.without = true
		default:
			return nil, err
		}
	}
	return shellFiles{f.connection}, nil
}

// Stat describes the file that path leads to, following symbolic links.
func (c *connection) Stat(ctx context.Context, path string) (info fs.FileInfo, err error) {
	err = c.files.do(ctx, "describing", path, func(way fileWork, absolute string) error {
		info, err = way.stat(ctx, absolute)
		return err
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// Open opens a file for reading. It refuses a named pipe, which would block.
func (c *connection) Open(ctx context.Context, path string) (file remote.File, err error) {
	err = c.files.do(ctx, "opening", path, func(way fileWork, absolute string) error {
		file, err = way.open(ctx, absolute)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// WriteFile writes content to a temporary file, makes it durable where the host can,
// and renames it. The file has exactly the permissions of mode. A symbolic link
// is replaced, not followed. When content, the context or the host fails, what
// was there before stays.
func (c *connection) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	return c.files.do(ctx, "writing", path, func(way fileWork, absolute string) error {
		return way.write(ctx, absolute, execution.ContextReader(ctx, content), mode.Perm())
	})
}

// MkdirAll creates a directory and those above it that are missing.
func (c *connection) MkdirAll(ctx context.Context, path string, mode fs.FileMode) error {
	return c.files.do(ctx, "creating directory", path, func(way fileWork, absolute string) error {
		return way.makeDirectories(ctx, absolute, mode.Perm())
	})
}

// Chmod gives a file exactly the permissions of mode.
func (c *connection) Chmod(ctx context.Context, path string, mode fs.FileMode) error {
	return c.files.do(ctx, "changing the permissions of", path, func(way fileWork, absolute string) error {
		return way.chmod(ctx, absolute, mode.Perm())
	})
}

// Remove removes a file or an empty directory.
func (c *connection) Remove(ctx context.Context, path string) error {
	return c.files.do(ctx, "removing", path, func(way fileWork, absolute string) error {
		return way.remove(ctx, absolute)
	})
}
