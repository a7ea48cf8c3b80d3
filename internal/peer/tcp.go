package peer

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// ErrUncheckable reports a TCP connection whose other user cannot be looked up: it leaves
// this machine, or the system does not list the users of its sockets.
var ErrUncheckable = errors.New("the user at the other end cannot be looked up")

// A TCPError reports a TCP connection whose other end does not belong to this user, or to
// an unknown one.
type TCPError struct {
	Address string // of the other end
	Err     error
}

func (e *TCPError) Error() string {
	return fmt.Sprintf("checking the user of %s: %v", e.Address, e.Err)
}

// Unwrap returns the cause.
func (e *TCPError) Unwrap() error { return e.Err }

// acceptPatience bounds the wait for the other end to accept the connection, and acceptPoll
// is the time between two looks at it. Until then its socket belongs to no user.
const (
	acceptPatience = 10 * time.Second
	acceptPoll     = 5 * time.Millisecond
)

// CheckTCP refuses a process of another user at the other end of a TCP connection over the
// loopback interface, which processes of all users reach. It waits until that process has
// accepted the connection. The error is a *TCPError, which matches ErrUncheckable if the
// user cannot be looked up.
func CheckTCP(ctx context.Context, conn net.Conn) error {
	if err := checkTCP(ctx, conn, openTables); err != nil {
		return &TCPError{conn.RemoteAddr().String(), err}
	}
	return nil
}

// checkTCP is CheckTCP with the tables of the sockets of this machine.
func checkTCP(ctx context.Context, conn net.Conn, open func() (io.ReadCloser, error)) error {
	local, remote, err := loopbackPair(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, acceptPatience, fmt.Errorf("no process accepted the connection within %s", acceptPatience))
	defer cancel()
	poll := time.NewTicker(acceptPoll)
	defer poll.Stop()
	for {
		found, err := findSocket(open, remote, local)
		if err != nil {
			return err
		}
		if found.inode != 0 {
			return checkUser(found.user)
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// loopbackPair returns both addresses of a TCP connection, which must be of the loopback interface.
func loopbackPair(conn net.Conn) (local, remote netip.AddrPort, err error) {
	ends := []net.Addr{conn.LocalAddr(), conn.RemoteAddr()}
	var pair [2]netip.AddrPort
	for i, end := range ends {
		address, isTCP := end.(*net.TCPAddr)
		if !isTCP {
			return local, remote, fmt.Errorf("%w: %s is not a TCP address", ErrUncheckable, end)
		}
		pair[i] = netip.AddrPortFrom(address.AddrPort().Addr().Unmap(), uint16(address.Port))
		if !pair[i].Addr().IsLoopback() {
			return local, remote, fmt.Errorf("%w: %s is not a loopback address", ErrUncheckable, end)
		}
	}
	return pair[0], pair[1], nil
}

// socket is a line of the tables.
type socket struct {
	local, remote netip.AddrPort
	state         uint64
	user          int
	inode         uint64 // 0 while no process has it
}

// States of include/net/tcp_states.h in which a socket is no end of a connection that exists.
const (
	stateSynSent     = 2
	stateTimeWait    = 6
	stateListen      = 10
	stateNewReceived = 12
)

// findSocket returns the socket with exactly these ends.
func findSocket(open func() (io.ReadCloser, error), local, remote netip.AddrPort) (found socket, err error) {
	table, err := open()
	if err != nil {
		return found, err
	}
	defer table.Close()
	matches := 0
	err = eachSocket(table, binary.NativeEndian, func(one socket) error {
		if one.local != local || one.remote != remote {
			return nil
		}
		switch one.state {
		case stateSynSent, stateTimeWait, stateListen:
			return errors.New("the other end has closed the connection")
		case stateNewReceived:
			one.inode = 0
		}
		found = one
		matches++
		return nil
	})
	switch {
	case err != nil:
		return found, err
	case matches == 0:
		return found, errors.New("no socket of this machine is at the other end")
	case matches > 1:
		return found, fmt.Errorf("%d sockets of this machine may be at the other end", matches)
	}
	return found, nil
}

// eachSocket calls do for each line of the tables.
func eachSocket(tables io.Reader, order binary.AppendByteOrder, do func(socket) error) error {
	lines := bufio.NewScanner(tables)
	for lines.Scan() {
		if strings.HasPrefix(strings.TrimSpace(lines.Text()), "sl ") {
			continue
		}
		one, err := parseSocket(lines.Text(), order)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUncheckable, err)
		}
		if err := do(one); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: reading a list of sockets: %w", ErrUncheckable, err)
	}
	return nil
}

// parseSocket parses a line as of /proc/net/tcp.
func parseSocket(line string, order binary.AppendByteOrder) (one socket, err error) {
	fields := strings.Fields(line)
	if len(fields) < 10 {
		return one, fmt.Errorf("a socket with %d fields", len(fields))
	}
	var failures [5]error
	one.local, failures[0] = parseAddress(fields[1], order)
	one.remote, failures[1] = parseAddress(fields[2], order)
	one.state, failures[2] = strconv.ParseUint(fields[3], 16, 8)
	user, err := strconv.ParseUint(fields[7], 10, 32)
	failures[3], one.user = err, int(user)
	one.inode, failures[4] = strconv.ParseUint(fields[9], 10, 64)
	return one, errors.Join(failures[:]...)
}

// parseAddress parses an address of 4 or 16 bytes and a port. The bytes are 32-bit words in
// the order of the machine.
func parseAddress(text string, order binary.AppendByteOrder) (netip.AddrPort, error) {
	words, portText, _ := strings.Cut(text, ":")
	port, err := strconv.ParseUint(portText, 16, 16)
	if err != nil || len(words) != 8 && len(words) != 32 {
		return netip.AddrPort{}, fmt.Errorf("invalid socket address %q", text)
	}
	var address []byte
	for ; words != ""; words = words[8:] {
		word, err := strconv.ParseUint(words[:8], 16, 32)
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("invalid socket address %q", text)
		}
		address = order.AppendUint32(address, uint32(word))
	}
	ip, _ := netip.AddrFromSlice(address)
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), nil
}
