package tree

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent does nothing: processes end with their input.
func endWithParent(*syscall.SysProcAttr) {}

// awaitEnd does nothing: this system cannot wait without reaping.
func awaitEnd(int) {}

// userBehind returns the user of the process at the other end of a socket.
func userBehind(descriptor int) (int, error) {
	credentials, err := unix.GetsockoptXucred(descriptor, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(credentials.Uid), nil
}

// thisPlace names the running system.
func thisPlace() string {
	host, _ := os.Hostname()
	return host
}
