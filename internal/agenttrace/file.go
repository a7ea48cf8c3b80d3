// Package agenttrace writes traces of sessions of the proxy protocol into files. They have no
// values of variables, which may be secrets, and nobody else can read them.
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

// Renew makes an empty file for a trace, or empties one that has a trace, and returns its whole
// path. Other files stay as they are.
func Renew(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding the trace: %w", err)
	}
	file, err := open(whole, os.O_RDWR)
	if err != nil {
		return "", err
	}
	err = emptyTrace(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("the trace %s: %w", path, err)
	}
	return whole, nil
}

var errNotTrace = errors.New("it has something else than a trace: name another file")

func emptyTrace(file *os.File) error {
	start := make([]byte, len("C> "))
	switch read, err := io.ReadFull(file, start); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case string(start[:read]) != "C> " && string(start[:read]) != "<E ":
		return errNotTrace
	}
	return file.Truncate(0)
}

// Append opens a file to which messages are appended.
func Append(path string) (*os.File, error) { return open(path, os.O_WRONLY) }

// open opens a file of this user that nobody else can read, or makes it.
func open(path string, access int) (*os.File, error) {
	file, err := os.OpenFile(path, access|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the trace: %w", err)
	}
	if err := checkPrivate(file); err != nil {
		return nil, errors.Join(fmt.Errorf("the trace %s: %w", path, err), file.Close())
	}
	return file, nil
}

// checkPrivate refuses what is no file, and a file that others can read.
func checkPrivate(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a file")
	case known && int(owner.Uid) != os.Geteuid():
		return errors.New("another user owns it")
	case info.Mode().Perm()&0o077 != 0:
		return errors.New("other users may access it: chmod 600, or name another file")
	}
	return nil
}

// To returns a trace into an opened file. The lines that it gets need not be without secrets.
func To(file io.Writer) func(proxy.Line) error {
	trace := proxy.NewTrace(file)
	return func(line proxy.Line) error { return trace.Write(withoutValues(line)) }
}
