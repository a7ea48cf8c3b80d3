package peer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// longestTables bounds the list of sockets of a place.
const longestTables = 32 << 20

// CheckForwarded refuses an accepted connection to a port of another machine, which all users there reach,
// unless the only process connected to that port belongs to the user of the place. Errors are those of
// [CheckTCP].
func CheckForwarded(ctx context.Context, place remote.Connection, conn net.Conn) error {
	address, isTCP := conn.LocalAddr().(*net.TCPAddr)
	if !isTCP {
		return &TCPError{place.Info().Host, fmt.Errorf("%w: %s is not one of its ports", ErrUncheckable, conn.LocalAddr())}
	}
	port := netip.AddrPortFrom(address.AddrPort().Addr().Unmap(), uint16(address.Port))
	if err := checkForwarded(ctx, place, port); err != nil {
		return &TCPError{fmt.Sprintf("what connected to %s of %s", address, place.Info().Host), err}
	}
	return nil
}

func checkForwarded(ctx context.Context, place remote.Connection, port netip.AddrPort) error {
	stdout := execution.NewHead(longestTables)
	process, err := place.Start(ctx, remote.Command{
		Arguments: []string{"/bin/sh", "-c", "id -u && cat /proc/net/tcp && { test ! -e /proc/net/tcp6 || cat /proc/net/tcp6; }"},
		Stdout:    stdout,
	})
	if err != nil {
		return err
	}
	code, err := process.Wait()
	switch {
	case err != nil:
		return err
	case code != 0:
		return fmt.Errorf("%w: it lists no sockets", ErrUncheckable)
	}
	user, tables, _ := strings.Cut(stdout.String(), "\n")
	own, err := strconv.Atoi(user)
	if err != nil {
		return fmt.Errorf("%w: id prints %.40q", ErrUncheckable, user)
	}
	found, err := connectedTo(strings.NewReader(tables), port, byteOrder(place.Info().Arch))
	if err != nil {
		return err
	}
	if found != own {
		return fmt.Errorf("the process at the other end runs as user %d, not as %d", found, own)
	}
	return nil
}

// byteOrder is the order of the bytes of a machine, as uname -m names it.
func byteOrder(machine string) binary.AppendByteOrder {
	if slices.Contains([]string{"s390x", "ppc64", "ppc"}, machine) {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// connectedTo returns the user of the only socket that is connected to a port.
func connectedTo(tables io.Reader, port netip.AddrPort, order binary.AppendByteOrder) (user int, err error) {
	matches := 0
	err = eachSocket(tables, order, func(one socket) error {
		if one.remote == port && one.inode != 0 && one.state != stateSynSent {
			user = one.user
			matches++
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case matches == 0:
		return 0, errors.New("no socket of that machine is at the other end")
	case matches > 1:
		return 0, fmt.Errorf("%d sockets of that machine may be at the other end", matches)
	}
	return user, nil
}
