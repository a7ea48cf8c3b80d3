package remote

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process that has ended and was not reaped, SZOMB of
// sys/proc.h.
const zombie = 5

// awaitEnd waits until a child has ended, and leaves it to be reaped. The
// waitid of this system would return for a child that was stopped, too.
func awaitEnd(id int) (err error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(queue)) }()
	end := unix.Kevent_t{Ident: uint64(id), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{end}, make([]unix.Kevent_t, 1), nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ESRCH):
			return nil // it has ended already
		default:
			return err
		}
	}
}

// sessionMembers returns the processes of a session that live.
func sessionMembers(session int) ([]int, error) {
	processes, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var members []int
	for _, process := range processes {
		id := int(process.Proc.P_pid)
		if current, err := unix.Getsid(id); err == nil && current == session && process.Proc.P_stat != zombie {
			members = append(members, id)
		}
	}
	return members, nil
}
