// Package agenttrace writes traces of agent sessions to private files. It omits the values of variables,
// which may be secrets.
package agenttrace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rmctl/rmctl/proxy"
)

// Renew creates a file for a trace, or empties one that contains a trace, and returns its absolute path.
// It does not change other files.
func Renew(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding the trace: %w", err)
	}
	file, err := open(whole, os.O_RDWR, checkTrace)
	if err != nil {
		return "", err
	}
	return whole, errors.Join(file.Truncate(0), file.Close())
}

// Append opens a file to which messages are appended.
func Append(path string) (*os.File, error) { return open(path, os.O_WRONLY) }

// open opens or creates a private file of this user.
func open(path string, access int, further ...func(*os.File) error) (*os.File, error) {
	file, err := os.OpenFile(path, access|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the trace: %w", err)
	}
	for _, check := range append(append([]func(*os.File) error{checkOwn}, further...), checkPrivate) {
		if err := check(file); err != nil {
			return nil, errors.Join(fmt.Errorf("the trace %s: %w", path, err), file.Close())
		}
	}
	return file, nil
}

// checkOwn refuses anything but a file of this user.
func checkOwn(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case known && int(owner.Uid) != os.Geteuid():
		return errors.New("owned by another user")
	}
	return nil
}

// checkTrace refuses files that are neither empty nor a trace.
func checkTrace(file *os.File) error {
	start := make([]byte, len("C> "))
	switch read, err := io.ReadFull(file, start); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case string(start[:read]) != "C> " && string(start[:read]) != "<E ":
		return errors.New("not a trace: choose another file")
	}
	return nil
}

// checkPrivate refuses a file that others can read.
func checkPrivate(file *os.File) error {
	info, err := file.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = errors.New("other users can access it: run chmod 600, or choose another file")
	}
	return err
}

// To returns a function that writes messages without values that may be secrets.
func To(file io.Writer) func(proxy.Line) error {
	trace := proxy.NewTrace(file)
	return func(line proxy.Line) error { return trace.Write(withoutValues(line)) }
}
