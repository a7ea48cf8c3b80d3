package peer

import "golang.org/x/sys/unix"

// peerUser returns the user of the process at the other end of a socket.
func peerUser(descriptor int) (int, error) {
	credentials, err := unix.GetsockoptXucred(descriptor, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(credentials.Uid), nil
}
