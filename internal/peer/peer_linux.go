package peer

import "golang.org/x/sys/unix"

// peerUser returns the user of the process at the other end of a socket.
func peerUser(descriptor int) (int, error) {
	credentials, err := unix.GetsockoptUcred(descriptor, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(credentials.Uid), nil
}
