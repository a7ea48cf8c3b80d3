package files

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
)

// RemoveDeadSocket removes a socket without a listener.
func RemoveDeadSocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an old socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen on %s: it exists and is not a socket", path)
	}
	if conn, err := net.Dial("unix", path); err == nil {
		return errors.Join(fmt.Errorf("listen on %s: another process is listening", path), conn.Close())
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove an old socket: %w", err)
	}
	return nil
}
