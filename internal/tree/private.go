package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// PrivateDirectory returns the directory for sockets on this host that only the user can enter.
func PrivateDirectory() (string, error) {
	var failed error
	for _, parent := range []string{"/tmp", "/dev/shm"} {
		directory := filepath.Join(parent, "rmctl-"+strconv.Itoa(os.Geteuid()))
		err := ensurePrivate(directory)
		if err == nil {
			return directory, nil
		}
		failed = errors.Join(failed, err)
	}
	return "", errors.New(strings.ReplaceAll(failed.Error(), "\n", "; "))
}

// ensurePrivate makes a directory, and refuses one that other users own or can enter.
func ensurePrivate(directory string) error {
	if err := os.Mkdir(directory, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(directory)
	if err != nil {
		return err
	}
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", directory)
	case !isOwn(info):
		return fmt.Errorf("%s belongs to another user", directory)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is accessible to other users", directory)
	}
	return nil
}

func isOwn(info os.FileInfo) bool {
	status, isStatus := info.Sys().(*syscall.Stat_t)
	return isStatus && int(status.Uid) == os.Geteuid()
}

// longestName keeps the paths of sockets within what the system allows.
const longestName = 48

// shortName returns a name for a file of a job or session on this host.
func shortName(name string) string {
	isSafe := name != "" && name[0] != '.' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
	if isSafe && len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// ReadSecret reads the secret of a job from its directory. It refuses files that others
// can read or own.
func ReadSecret(directory string) ([]byte, error) {
	return ReadSecretFile(filepath.Join(directory, "secret"))
}

// ReadSecretFile reads a secret, as ReadSecret does.
func ReadSecretFile(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the secret of the job: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the secret of the job: %w", err)
	}
	if !info.Mode().IsRegular() || !isOwn(info) || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("reading the secret of the job: %s is not a file of this user alone", path)
	}
	var text [256]byte
	n, _ := file.Read(text[:]) // what is missing is no secret
	secret, err := hex.DecodeString(strings.TrimSpace(string(text[:n])))
	if err != nil || len(secret) < 32 {
		return nil, fmt.Errorf("reading the secret of the job: %s holds no secret", path)
	}
	return secret, nil
}

// LockSession makes this process the only relay of a session on this host. It reports false if another process
// is; otherwise the caller calls release at its end.
func LockSession(private, session string) (release func(), isFirst bool, err error) {
	removeStale(private)
	path := filepath.Join(private, shortName("session-"+session)+".lock")
	file, err := tryLock(path)
	if err != nil || file == nil {
		return nil, false, err
	}
	return func() { unlock(file) }, true, nil
}

// staleAfter is the age at which files of killed processes are removed.
const staleAfter = 24 * time.Hour

// removeStale removes old locks that no process holds, and their sockets.
func removeStale(private string) {
	locks, _ := filepath.Glob(filepath.Join(private, "*.lock")) // the pattern is valid
	for _, path := range locks {
		info, err := os.Lstat(path)
		if err != nil || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if file, err := tryLock(path); err == nil && file != nil {
			_ = os.Remove(strings.TrimSuffix(path, ".lock") + ".sock") // most have none
			unlock(file)
		}
	}
}

// mostLockTries bounds how often a lock file may be replaced while it is being locked.
const mostLockTries = 100

// tryLock locks a file, which it makes, or returns nil if another process has it locked.
// The system unlocks it when this process ends.
func tryLock(path string) (*os.File, error) {
	for range mostLockTries {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			_ = file.Close() // it was not written
			if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
				return nil, nil
			}
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if isFileAt(file, path) {
			return file, nil
		}
		_ = file.Close() // another process removed it before it was locked
	}
	return nil, fmt.Errorf("locking %s: other processes replace it", path)
}

func isFileAt(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}

// unlock removes and unlocks a file of tryLock.
func unlock(file *os.File) {
	_ = os.Remove(file.Name()) // an empty file may stay
	_ = file.Close()
}

// dialHost connects to the socket of a process of this user.
func dialHost(ctx context.Context, socket string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := checkUser(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// checkUser refuses processes of other users at the other end of a unix socket.
func checkUser(conn net.Conn) error {
	socket, isUnix := conn.(*net.UnixConn)
	if !isUnix {
		return errors.New("not a unix socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var user int
	var failed error
	if err := raw.Control(func(descriptor uintptr) { user, failed = userBehind(int(descriptor)) }); err != nil || failed != nil {
		return fmt.Errorf("looking up the user at the other end: %w", errors.Join(err, failed))
	}
	if user != os.Geteuid() {
		return fmt.Errorf("the process at the other end runs as user %d", user)
	}
	return nil
}
