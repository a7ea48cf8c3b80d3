package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until a child has ended, and leaves it to be reaped.
func awaitEnd(id int) error {
	for {
		err := unix.Waitid(unix.P_PID, id, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// sessionMembers returns the processes of a session that live.
func sessionMembers(session int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var members []int
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		status, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) || errors.Is(err, fs.ErrPermission) {
			continue // it has ended, or is not ours
		}
		if err != nil {
			return nil, fmt.Errorf("looking at process %d: %w", id, err)
		}
		if livesInSession(status, session) {
			members = append(members, id)
		}
	}
	return members, nil
}

// livesInSession reads what /proc says about a process: its id, its name in
// parentheses, which may hold any, its state, parent, group and session.
func livesInSession(status []byte, session int) bool {
	fields := bytes.Fields(status[bytes.LastIndexByte(status, ')')+1:])
	if len(fields) < 4 {
		return false
	}
	state := string(fields[0])
	return state != "Z" && state != "X" && string(fields[3]) == strconv.Itoa(session)
}
