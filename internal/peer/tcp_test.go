package peer

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tableHead is the first line of /proc/net/tcp.
const tableHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

// line is a line of /proc/net/tcp on a little-endian machine.
func line(local, remote, state string, user, inode int) string {
	return fmt.Sprintf("   7: %s %s %s 00000000:00000000 00:00000000 00000000 %5d        0 %d 1 0000000000000000 20 4 30 10 -1\n", local, remote, state, user, inode)
}

// forged returns tables with these lines.
func forged(lines ...string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(tableHead + strings.Join(lines, ""))), nil
	}
}

// ends is a connection that has only addresses.
type ends struct {
	net.Conn
	local, remote string
}

func (e ends) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(e.local)) }
func (e ends) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(e.remote))
}

func TestTheUserIsThatOfTheSocketWithExactlyBothAddresses(t *testing.T) {
	const (
		a, b, c  = "0100007F:1F90", "0100007F:C350", "0100007F:C351" // 127.0.0.1, ports 8080, 50000 and 50001
		mappedA  = "0000000000000000FFFF00000100007F:1F90"
		mappedB  = "0000000000000000FFFF00000100007F:C350"
		sixA     = "00000000000000000000000001000000:1F90"
		sixB     = "00000000000000000000000001000000:C350"
		elseB    = "0200007F:C350"
		open     = "01"
		closing  = "05"
		received = "03"
	)
	own := os.Geteuid()
	conn := ends{local: "127.0.0.1:8080", remote: "127.0.0.1:50000"}
	mapped := ends{local: "[::ffff:127.0.0.1]:8080", remote: "[::ffff:127.0.0.1]:50000"}
	six := ends{local: "[::1]:8080", remote: "[::1]:50000"}
	mine := line(b, a, open, own, 11)
	for name, test := range map[string]struct {
		conn  net.Conn
		lines []string
		fails string
	}{
		"of this user":                {conn, []string{line(a, b, open, own+1, 10), mine}, ""},
		"half closed":                 {conn, []string{line(b, a, closing, own, 11)}, ""},
		"IPv4-mapped there":           {conn, []string{line(mappedB, mappedA, open, own, 11)}, ""},
		"IPv4-mapped here":            {mapped, []string{mine}, ""},
		"IPv6":                        {six, []string{line(sixB, sixA, open, own, 11)}, ""},
		"of another user":             {conn, []string{line(b, a, open, own+1, 11)}, "runs as user"},
		"of another user, IPv6":       {six, []string{line(sixB, sixA, open, own+1, 11)}, "runs as user"},
		"none":                        {conn, nil, "no socket"},
		"our own only":                {conn, []string{line(a, b, open, own, 10)}, "no socket"},
		"another port":                {conn, []string{line(c, a, open, own, 11)}, "no socket"},
		"another address":             {conn, []string{line(elseB, a, open, own, 11)}, "no socket"},
		"two":                         {conn, []string{mine, line(mappedB, mappedA, open, own, 12)}, "2 sockets"},
		"two, one of another user":    {conn, []string{mine, line(b, a, open, own+1, 12)}, "2 sockets"},
		"of a connection that ended":  {conn, []string{line(b, a, "06", 0, 0)}, "has closed"},
		"of a connection that begins": {conn, []string{line(b, a, "02", own, 11)}, "has closed"},
		"that listens":                {conn, []string{line(b, a, "0A", own, 11)}, "has closed"},
		"a line without fields":       {conn, []string{mine, "   8: 0100007F:1F90\n"}, "fields"},
		"no address":                  {conn, []string{line("0100007F", a, open, own, 11)}, "invalid socket address"},
		"an address of 5 bytes":       {conn, []string{line("0100007F00:C350", a, open, own, 11)}, "invalid socket address"},
		"a user that is no number":    {conn, []string{strings.Replace(mine, fmt.Sprintf("%5d", own), "-1", 1)}, "invalid syntax"},
		"a line without end":          {conn, []string{strings.Repeat("x", 1<<20)}, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkTCP(t.Context(), test.conn, forged(test.lines...))
			if test.fails == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.fails)
		})
	}

	t.Run("it is looked at again until a process has it", func(t *testing.T) {
		looks := 0
		require.NoError(t, checkTCP(t.Context(), conn, func() (io.ReadCloser, error) {
			looks++
			return forged([]string{line(b, a, received, 0, 0), line(b, a, open, 0, 0), mine}[min(looks, 3)-1])()
		}))
		require.Equal(t, 3, looks)
	})
}
