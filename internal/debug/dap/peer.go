package dap

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// isConnectionOf reports whether the other end of a connection over the loopback belongs to a process of
// our user. Only the kernel can say that, and only Linux shows it.
func isConnectionOf(connection net.Conn, pid int) bool {
	here, isHere := connection.LocalAddr().(*net.TCPAddr)
	there, isThere := connection.RemoteAddr().(*net.TCPAddr)
	if !isHere || !isThere {
		return false
	}
	table, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		return false
	}
	inode := socketOf(string(table), there.AddrPort(), here.AddrPort(), os.Geteuid())
	return inode != "" && hasSocket(pid, inode)
}

// socketOf returns the inode of the socket of a user between two addresses, or "".
func socketOf(table string, local, remote netip.AddrPort, user int) string {
	const fields = 10
	for line := range strings.Lines(table) {
		columns := strings.Fields(line)
		if len(columns) >= fields && columns[1] == kernelAddress(local) && columns[2] == kernelAddress(remote) && columns[7] == strconv.Itoa(user) {
			return columns[9]
		}
	}
	return ""
}

// kernelAddress returns an IPv4 address as the kernel writes it: a number in its own byte order, and the port.
func kernelAddress(address netip.AddrPort) string {
	bytes := address.Addr().Unmap().As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(bytes[:]), address.Port())
}

// hasSocket reports whether a process has a socket open.
func hasSocket(pid int, inode string) bool {
	if inode == "0" {
		return false // nobody has it any more
	}
	files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "fd", "*"))
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil && target == "socket:["+inode+"]" {
			return true
		}
	}
	return false
}
