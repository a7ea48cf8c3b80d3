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

// Local is the connection to this machine. Commands run as children of this
// process, with its environment, and files are those of its file system.
type Local struct {
	// Grace is how long processes may take to end after they were asked to,
	// before they are killed.
	Grace time.Duration
	// Linger is how long output is still read after a process has ended while
	// other processes hold its pipes open, and how long a killed process may
	// take to vanish before Wait gives up on it.
	Linger time.Duration

	info Info
}

var _ Connection = (*Local)(nil)

// NewLocal returns the connection to this machine, with a Grace of 3 s and a
// Linger of 2 s. It fails when this user has no home directory.
func NewLocal() (*Local, error) {
	info, err := describeMachine()
	if err != nil {
		return nil, err
	}
	return &Local{Grace: 3 * time.Second, Linger: 2 * time.Second, info: info}, nil
}

// Info describes this machine and this user.
func (l *Local) Info() Info { return l.info }

// Close does nothing: nothing is kept open. Processes run on.
func (l *Local) Close() error { return nil }

// describeMachine collects what Info promises. HOME goes before the user
// database, as for every shell: a user may have set it elsewhere on purpose.
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

// absolute returns the path that a caller's path means.
func (l *Local) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.info.Home, path)
}

// contextError returns an error that says what was not begun, if ctx is done.
func contextError(ctx context.Context, operation, path string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %q: %w", operation, path, err)
	}
	return nil
}
