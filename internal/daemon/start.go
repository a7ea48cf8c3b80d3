package daemon

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartProcess starts a program as a background process: in a session of its
// own, which no terminal can end, in the root folder, with nothing to read or
// to write. It does not wait for it.
func StartProcess(program string, arguments ...string) error {
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer nothing.Close()
	child := exec.Command(program, arguments...)
	child.Stdin, child.Stdout, child.Stderr = nothing, nothing, nothing
	child.Dir = "/"
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return fmt.Errorf("starting %q: %w", program, err)
	}
	return child.Process.Release()
}

// longestLog bounds the log of the background process: one that is longer is
// emptied.
const longestLog = 1 << 20

// OpenLog opens the log in the folder of a background process, to append to
// it, private to this user and bounded: a log that has grown long is emptied.
func OpenLog(folder string) (io.WriteCloser, error) {
	if err := makePrivate(folder); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, logName), os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of the background process: %w", err)
	}
	return &boundedLog{file: file}, nil
}

// boundedLog is a file that does not grow without end. Its writer, a
// slog.Handler, does not write at the same time as itself.
type boundedLog struct{ file *os.File }

func (l *boundedLog) Write(line []byte) (int, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size()+int64(len(line)) > longestLog {
		if err := l.file.Truncate(0); err != nil {
			return 0, err
		}
	}
	return l.file.Write(line)
}

func (l *boundedLog) Close() error { return l.file.Close() }

// BuildIdentity identifies a build of this program, even one that was not built from a commit.
func BuildIdentity(version, revision string) string {
	identity := version + " " + revision
	program, err := os.Executable()
	if err != nil {
		return identity
	}
	file, err := os.Stat(program)
	if err != nil {
		return identity
	}
	return fmt.Sprintf("%s %d %d", identity, file.Size(), file.ModTime().UnixNano())
}
