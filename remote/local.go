package remote

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// local is the connection to this machine.
type local struct {
	grace, linger time.Duration
	info          Info
}

// NewLocal returns the connection to this machine. Commands run as children of this
// process, with its environment, and files are those of its file system. It fails when
// this user has no home directory.
func NewLocal() (Connection, error) { return NewLocalWith(3*time.Second, 2*time.Second) }

// NewLocalWith is [NewLocal] with other times. Grace is the time between the request to
// terminate and the kill. Linger is how long output is read after the end of a process
// whose pipes other processes hold open, and how long a killed process may take to end
// before Wait gives up.
func NewLocalWith(grace, linger time.Duration) (Connection, error) {
	info, err := describeMachine()
	if err != nil {
		return nil, err
	}
	return &local{grace, linger, info}, nil
}

// Info describes this machine and this user.
func (l *local) Info() Info { return l.info }

// Close does nothing: nothing is kept open. Processes run on.
func (l *local) Close() error { return nil }

// describeMachine returns the Info. As in a shell, HOME has priority over the user database.
func describeMachine() (Info, error) {
	info := Info{Transport: "local"}

	account, accountErr := user.Current()
	if accountErr == nil {
		info.User = account.Username
	} else {
		info.User = os.Getenv("USER")
	}
	info.Home = os.Getenv("HOME")
	if !filepath.IsAbs(info.Home) {
		if accountErr != nil {
			return Info{}, fmt.Errorf("finding the home directory: HOME is not set and the user is not known: %w", accountErr)
		}
		info.Home = account.HomeDir
	}
	if !filepath.IsAbs(info.Home) {
		return Info{}, fmt.Errorf("finding the home directory: %q of user %s is not an absolute path", info.Home, info.User)
	}
	info.Home = filepath.Clean(info.Home)

	host, err := os.Hostname()
	if err != nil {
		return Info{}, fmt.Errorf("finding the name of this host: %w", err)
	}
	info.Host = host

	var system unix.Utsname
	if err := unix.Uname(&system); err != nil {
		return Info{}, fmt.Errorf("asking for the operating system: %w", err)
	}
	info.System = strings.ToLower(unix.ByteSliceToString(system.Sysname[:]))
	info.Arch = unix.ByteSliceToString(system.Machine[:])
	info.Version = unix.ByteSliceToString(system.Release[:])
	return info, nil
}

// absolute resolves a path relative to the home directory.
func (l *local) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.info.Home, path)
}

// contextError returns an error for an operation if ctx is done.
func contextError(ctx context.Context, operation, path string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %q: %w", operation, path, err)
	}
	return nil
}
