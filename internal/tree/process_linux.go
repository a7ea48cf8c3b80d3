package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent lets a process end when this one is killed.
func endWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGTERM }

// awaitEnd waits for the end of a child, and leaves its id taken.
func awaitEnd(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}

// userBehind returns the user of the process at the other end of a socket.
func userBehind(descriptor int) (int, error) {
	credentials, err := unix.GetsockoptUcred(descriptor, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(credentials.Uid), nil
}

// thisPlace names the running system and the processes that this one can see.
func thisPlace() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	if len(boot) == 0 { // without /proc, the name has to do
		host, _ := os.Hostname()
		boot = []byte(host)
	}
	sum := sha256.Sum256(append(boot, namespace...))
	return hex.EncodeToString(sum[:8])
}
