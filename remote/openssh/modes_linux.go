package openssh

import "golang.org/x/sys/unix"

// getTerminalModes is the request for the modes of a terminal.
const getTerminalModes = unix.TCGETS
