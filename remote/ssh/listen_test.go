package ssh

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/remote"
)

// listeningServer serves a server that forwards the port that answer says, and returns a client and
// the server's end.
func listeningServer(t *testing.T, answer []byte) (*dialer, ssh.Conn) {
	t.Helper()
	connected := make(chan ssh.Conn, 1)
	s := serve(t, &server{
		connects: func(conn ssh.Conn) { connected <- conn },
		grants: func(request *ssh.Request) []byte {
			if request.Type == "tcpip-forward" {
				return answer
			}
			return []byte{}
		},
	})
	p := newPlace(t)
	p.knows(s.port, "host")
	client := dialled(t, p.options(s.port))
	return client, <-connected
}

func TestAServerThatForwardsNoUsablePortIsRefused(t *testing.T) {
	for name, answer := range map[string][]byte{
		"refused": nil, "none": {}, "zero": {0, 0, 0, 0}, "too large": {0, 1, 0, 0}, "too short": {80},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := listeningServer(t, answer)
			_, err := client.Listen(t.Context())
			var refused *remote.ListenError
			require.ErrorAs(t, err, &refused)
		})
	}
}

func TestOnlyConnectionsOfAForwardedPortAreAccepted(t *testing.T) {
	client, server := listeningServer(t, []byte{0, 0, 0x1f, 0x90})
	listener, err := client.Listen(t.Context())
	require.NoError(t, err)
	open := func(port uint32, origin string) error {
		channel, requests, err := server.OpenChannel("forwarded-tcpip", ssh.Marshal(struct {
			Address    string
			Port       uint32
			Origin     string
			OriginPort uint32
		}{"127.0.0.1", port, origin, 1}))
		if err == nil {
			go ssh.DiscardRequests(requests)
			t.Cleanup(func() { _ = channel.Close() })
		}
		return err
	}
	require.ErrorContains(t, open(8081, "127.0.0.1"), "nobody listens")
	require.ErrorContains(t, open(8080, "192.0.2.1"), "not from the loopback interface")
	require.ErrorContains(t, open(8080, "nonsense"), "not from the loopback interface")

	opened := make(chan error, 1)
	go func() { opened <- open(8080, "127.0.0.1") }()
	conn, err := listener.Accept()
	require.NoError(t, err)
	require.NoError(t, <-opened)
	require.Equal(t, "127.0.0.1:1", conn.RemoteAddr().String())
	require.NoError(t, conn.Close())
	require.NoError(t, listener.Close())
	require.ErrorContains(t, open(8080, "127.0.0.1"), "nobody listens")
}
