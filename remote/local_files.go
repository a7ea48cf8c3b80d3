package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/files"
)

// Stat describes the file that path leads to, following symbolic links.
func (l *local) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	if err := contextError(ctx, "describing", path); err != nil {
		return nil, err
	}
	return os.Stat(l.absolute(path))
}

// Open opens a file for reading. A named pipe does not block it.
func (l *local) Open(ctx context.Context, path string) (File, error) {
	if err := contextError(ctx, "opening", path); err != nil {
		return nil, err
	}
	// Without O_NONBLOCK a named pipe in place of an output file would block until a
	// process writes to it.
	file, err := os.OpenFile(l.absolute(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// WriteFile writes content to a temporary file, makes it durable and renames it.
// The file has exactly the permissions of mode, whatever the umask. A symbolic
// link is replaced, not followed. When content, the context or the disk fails,
// what was there before stays.
func (l *local) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	if err := l.replace(ctx, path, content, mode, (*os.File).Sync); err != nil {
		return err
	}
	if err := syncDirectory(filepath.Dir(l.absolute(path))); err != nil {
		return fmt.Errorf("writing %q: making its name durable: %w", path, err)
	}
	return nil
}

// WriteTransient is WriteFile for a file that need not survive the loss of power: it does
// not wait for the disk.
func (l *local) WriteTransient(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	return l.replace(ctx, path, content, mode, func(*os.File) error { return nil })
}

// replace writes content to a temporary file, calls finish on what it has written, and renames it.
func (l *local) replace(ctx context.Context, path string, content io.Reader, mode fs.FileMode, finish func(*os.File) error) error {
	if err := contextError(ctx, "writing", path); err != nil {
		return err
	}
	target := l.absolute(path)
	temporary, err := os.CreateTemp(filepath.Dir(target), files.PartialName(path, "*"))
	if err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	if err := writeContent(ctx, temporary, content, mode, finish); err != nil {
		return errors.Join(fmt.Errorf("writing %q: %w", path, err), os.Remove(temporary.Name()))
	}
	if err := os.Rename(temporary.Name(), target); err != nil {
		return errors.Join(fmt.Errorf("writing %q: %w", path, err), os.Remove(temporary.Name()))
	}
	return nil
}

// writeContent writes content into an empty file, finishes it, and closes it.
func writeContent(ctx context.Context, file *os.File, content io.Reader, mode fs.FileMode, finish func(*os.File) error) error {
	_, err := io.Copy(file, execution.ContextReader(ctx, content))
	if err == nil {
		err = file.Chmod(mode.Perm())
	}
	if err == nil {
		err = finish(file)
	}
	return errors.Join(err, file.Close())
}

func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	err = directory.Sync()
	// Some network file systems cannot sync a directory; the rename is as
	// durable there as it can be.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, directory.Close())
}

// MkdirAll creates a directory and missing parents. It refuses a directory that another
// user of this machine could replace, below a directory for all such as /tmp.
func (l *local) MkdirAll(ctx context.Context, path string, mode fs.FileMode) error {
	if err := contextError(ctx, "creating directory", path); err != nil {
		return err
	}
	if err := os.MkdirAll(l.absolute(path), mode); err != nil {
		return err
	}
	return files.RefuseForeign(l.absolute(path))
}

// Chmod gives a file exactly the permissions of mode.
func (l *local) Chmod(ctx context.Context, path string, mode fs.FileMode) error {
	if err := contextError(ctx, "changing the permissions of", path); err != nil {
		return err
	}
	return os.Chmod(l.absolute(path), mode.Perm())
}

// Remove removes a file or an empty directory.
func (l *local) Remove(ctx context.Context, path string) error {
	if err := contextError(ctx, "removing", path); err != nil {
		return err
	}
	return os.Remove(l.absolute(path))
}
