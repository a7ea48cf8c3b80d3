package peer

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExactlyOneSocketMayBeConnectedToAForwardedPort(t *testing.T) {
	const (
		port, mapped, other = "0100007F:1F90", "0000000000000000FFFF00000100007F:1F90", "0100007F:1F91"
		agent, second       = "0100007F:C350", "0100007F:C351"
	)
	for name, test := range map[string]struct {
		lines []string
		user  int
		fails string
	}{
		"the agent":                  {[]string{line("00000000:1F90", "00000000:0000", "0A", 0, 9), line(port, agent, "01", 0, 10), line(agent, port, "01", 7, 11)}, 7, ""},
		"an IPv6 socket":             {[]string{line(mapped, mapped, "01", 7, 11)}, 7, ""},
		"none":                       {[]string{line(agent, other, "01", 7, 11)}, 0, "no socket"},
		"two":                        {[]string{line(agent, port, "01", 7, 11), line(second, port, "01", 8, 12)}, 0, "2 sockets"},
		"another that has ended":     {[]string{line(agent, port, "01", 7, 11), line(second, port, "06", 0, 0)}, 7, ""},
		"one that closed by itself":  {[]string{line(agent, port, "05", 0, 0)}, 0, "no socket"},
		"a table that was cut short": {[]string{"  1: 0100"}, 0, "fields"},
	} {
		t.Run(name, func(t *testing.T) {
			user, err := connectedTo(strings.NewReader(tableHead+strings.Join(test.lines, "")), netip.MustParseAddrPort("127.0.0.1:8080"), binary.LittleEndian)
			if test.fails != "" {
				require.ErrorContains(t, err, test.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.user, user)
		})
	}
	t.Run("machines with another order of bytes", func(t *testing.T) {
		user, err := connectedTo(strings.NewReader(line("7F000001:C350", "7F000001:1F90", "01", 7, 11)), netip.MustParseAddrPort("127.0.0.1:8080"), byteOrder("s390x"))
		require.NoError(t, err)
		require.Equal(t, 7, user)
	})
}
