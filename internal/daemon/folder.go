package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The files of the process, in its folder.
const (
	socketName = "socket"
	lockName   = "lock"
	// logName is the name of the log in the folder.
	logName = "log"
)

// leavePatience bounds the wait for the lock of a process that has removed its socket.
const leavePatience = 5 * time.Second

// longestSocket is how many bytes the path of a unix socket may have on every
// system: macOS has room for 104 with the zero byte at the end.
const longestSocket = 103

// Folder returns the folder of the background process of this host below a
// state folder, which several hosts may share.
func Folder(state string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("finding the host name: %w", err)
	}
	return filepath.Join(state, "background-"+strings.ReplaceAll(host, "/", "-")), nil
}

// SocketPath returns the path of the socket of a folder: in the folder or, if that path is
// too long, in a private folder with a short path.
func SocketPath(folder string) string {
	inside := filepath.Join(folder, socketName)
	if len(inside) <= longestSocket {
		return inside
	}
	sum := sha256.Sum256([]byte(folder))
	name := hex.EncodeToString(sum[:8])
	base := filepath.Join("/tmp", "rmctl-"+strconv.Itoa(os.Geteuid()))
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) && checkPrivate(runtime) == nil {
		base = filepath.Join(runtime, "rmctl")
	}
	short := filepath.Join(base, name)
	if len(short) > longestSocket {
		short = filepath.Join("/tmp", "rmctl-"+strconv.Itoa(os.Geteuid()), name)
	}
	return short
}

// makePrivate creates a folder for this user alone, with its parents. It refuses a
// folder of another user, one with permissions for others, and a symbolic link.
func makePrivate(folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return fmt.Errorf("creating a private directory: %w", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("creating a private directory: %w", err)
	}
	return checkPrivate(folder)
}

// checkPrivate refuses a folder that other users may enter. Nobody else can replace it
// after the check: the folder above belongs to the user or is sticky, as /tmp is.
func checkPrivate(folder string) error {
	descriptor, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("checking the private directory %q: %w", folder, err)
	}
	var status unix.Stat_t
	err = errors.Join(unix.Fstat(descriptor, &status), unix.Close(descriptor))
	if err != nil {
		return fmt.Errorf("checking the private directory %q: %w", folder, err)
	}
	if int(status.Uid) != os.Geteuid() {
		return fmt.Errorf("private directory %q belongs to user %d", folder, status.Uid)
	}
	if status.Mode&0o077 != 0 {
		return fmt.Errorf("private directory %q has mode %04o: run chmod 700", folder, status.Mode&0o7777)
	}
	return nil
}

// ErrRunning reports that a background process has that folder already.
var ErrRunning = errors.New("a background process is already running")

// lock locks a folder until the file is closed or the process dies.
func lock(folder string) (*os.File, error) {
	path := filepath.Join(folder, lockName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the directory of the background process: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrRunning
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %q: %w", path, err), file.Close())
	}
	return file, nil
}

// awaitLock locks a folder. It waits for a process that has removed its socket and is
// about to end, so that a client starts a new one only once.
func awaitLock(folder string) (*os.File, error) {
	impatient := time.Now().Add(leavePatience)
	for {
		held, err := lock(folder)
		if !errors.Is(err, ErrRunning) || time.Now().After(impatient) {
			return held, err
		}
		if _, absent := os.Lstat(SocketPath(folder)); absent == nil {
			return nil, err
		}
		time.Sleep(startPoll)
	}
}

// removeStale removes the socket of a process that died. The caller holds the lock.
func removeStale(socket string) error {
	info, err := os.Lstat(socket)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("checking for an old socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%q exists and is not a socket", socket)
	}
	if err := os.Remove(socket); err != nil {
		return fmt.Errorf("removing an old socket: %w", err)
	}
	return nil
}
