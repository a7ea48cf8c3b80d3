package openssh

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// The longest path that a unix socket has on every system is 103 bytes. While
// it makes the socket, ssh appends a dot and 16 characters.
const longestSocketPath = 103 - 17

const socketName = "master"

// makeFolder makes a folder that only this user can enter, below parent unless that makes
// the paths of sockets too long.
func makeFolder(parent string) (string, error) {
	if parent != "" {
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return "", fmt.Errorf("creating the directory for the sockets of ssh: %w", err)
		}
	}
	absolute, err := filepath.Abs(parent)
	if err != nil {
		return "", fmt.Errorf("finding the directory for the sockets of ssh: %w", err)
	}
	// os.MkdirTemp appends at most ten digits.
	fits := func(parent string) bool {
		return len(filepath.Join(parent, "ssh-0123456789", socketName)) <= longestSocketPath
	}
	switch {
	case parent != "" && fits(absolute):
	case fits(os.TempDir()) && filepath.IsAbs(os.TempDir()):
		absolute = os.TempDir()
	default:
		absolute = "/tmp"
	}
	folder, err := os.MkdirTemp(absolute, "ssh-")
	if err != nil {
		return "", fmt.Errorf("creating a directory for the sockets of ssh: %w", err)
	}
	return folder, nil
}

// socket is where the master of this connection listens.
func (d *dialer) socket() string { return filepath.Join(d.folder, socketName) }

// newMessagePath returns the path of the pipe for the messages of one process of ssh.
func (d *dialer) newMessagePath() string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.made++
	return filepath.Join(d.folder, "said-"+strconv.Itoa(d.made))
}
