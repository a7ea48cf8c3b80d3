package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/remote"
)

// Each way to fail has a reason of its own, and a text that stands in
// testdata/failures; RMCTL_UPDATE=1 rewrites those.
func TestFailuresSayWhatToDo(t *testing.T) {
	noKeys := func() *ssh.ServerConfig { return &ssh.ServerConfig{PublicKeyCallback: acceptKey(t)} }
	cases := []struct {
		name   string
		reason remote.ConnectReason
		dial   func(t *testing.T, p place) Options
	}{
		{"unknown-host", remote.UnknownHost, func(_ *testing.T, p place) Options {
			return p.options(22, "HostName no-such..host.invalid")
		}},
		{"refused-port", remote.Refused, func(t *testing.T, p place) Options {
			return p.options(closedPort(t))
		}},
		{"no-answer", remote.NoAnswer, func(t *testing.T, p place) Options {
			return p.options(listen(t, waitForEnd), "ConnectTimeout 1")
		}},
		{"closed-at-once", remote.Refused, func(t *testing.T, p place) Options {
			return p.options(listen(t, func(net.Conn) {}))
		}},
		{"no-ssh-server", remote.BadProtocol, func(t *testing.T, p place) Options {
			return p.options(listen(t, func(c net.Conn) {
				fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			}))
		}},
		{"unknown-key-nobody-to-ask", remote.UnknownHostKey, func(t *testing.T, p place) Options {
			return p.options(serve(t, &server{}).port)
		}},
		{"unknown-key-strict", remote.UnknownHostKey, func(t *testing.T, p place) Options {
			options := p.options(serve(t, &server{}).port, "StrictHostKeyChecking yes")
			options.Prompter = &answers{texts: []string{"yes"}}
			return options
		}},
		{"unknown-key-not-accepted", remote.UnknownHostKey, func(t *testing.T, p place) Options {
			options := p.options(serve(t, &server{}).port)
			options.Prompter = &answers{texts: []string{"perhaps", "no"}}
			return options
		}},
		{"changed-key", remote.ChangedHostKey, func(t *testing.T, p place) Options {
			port := serve(t, &server{}).port
			p.knows(port, "former")
			options := p.options(port, "StrictHostKeyChecking no")
			options.Prompter = &answers{texts: []string{"yes"}}
			return options
		}},
		{"key-of-another-kind", remote.ChangedHostKey, func(t *testing.T, p place) Options {
			port := serve(t, &server{}).port
			p.write("known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s\n", port, ecdsaKey))
			return p.options(port)
		}},
		{"revoked-key", remote.ChangedHostKey, func(t *testing.T, p place) Options {
			port := serve(t, &server{}).port
			p.write("known_hosts", "@revoked * "+string(ssh.MarshalAuthorizedKey(signerOf(t, "host").PublicKey())))
			return p.options(port)
		}},
		{"no-key", remote.NotAuthenticated, func(t *testing.T, p place) Options {
			port := serve(t, &server{config: noKeys()}).port
			p.knows(port, "host")
			return p.options(port)
		}},
		{"wrong-key", remote.NotAuthenticated, func(t *testing.T, p place) Options {
			port := serve(t, &server{config: noKeys()}).port
			p.knows(port, "host")
			return p.options(port, "IdentityFile "+p.key("mine"))
		}},
		{"nobody-to-ask", remote.NotAuthenticated, func(t *testing.T, p place) Options {
			config := noKeys()
			config.PasswordCallback = func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, nil }
			port := serve(t, &server{config: config}).port
			p.knows(port, "host")
			return p.options(port, "IdentityFile "+p.lockedKey("locked"))
		}},
		{"wrong-password", remote.NotAuthenticated, func(t *testing.T, p place) Options {
			config := &ssh.ServerConfig{PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, errors.New("no") }}
			port := serve(t, &server{config: config}).port
			p.knows(port, "host")
			options := p.options(port)
			options.Prompter = &answers{texts: []string{"hunter1", "hunter2", "hunter3"}}
			return options
		}},
		{"jump-host-refuses", remote.Refused, func(t *testing.T, p place) Options {
			options := p.options(22, "ProxyJump jump")
			content, err := os.ReadFile(p.path("config"))
			require.NoError(t, err)
			p.write("config", string(content)+"Host jump\n HostName 127.0.0.1\n Port "+strconv.Itoa(closedPort(t))+"\n")
			return options
		}},
		{"jump-host-does-not-forward", remote.Refused, func(t *testing.T, p place) Options {
			jump := serve(t, &server{})
			p.knows(jump.port, "host")
			return p.options(22, "ProxyJump bob@[127.0.0.1]:"+strconv.Itoa(jump.port), "Host *")
		}},
		{"jumps-in-a-circle", remote.BadConfiguration, func(_ *testing.T, p place) Options {
			return p.options(22, "ProxyJump place")
		}},
		{"proxy-command-fails", remote.Refused, func(_ *testing.T, p place) Options {
			return p.options(22, `ProxyCommand printf 'no \033[31mway to %h' >&2; exit 3`)
		}},
		{"bad-configuration", remote.BadConfiguration, func(_ *testing.T, p place) Options {
			options := p.options(22)
			p.write("config", "Match exec true\n    User eve\n")
			return options
		}},
		{"no-common-cipher", remote.BadConfiguration, func(_ *testing.T, p place) Options {
			return p.options(22, "Ciphers rot13")
		}},
		{"bad-name", remote.BadConfiguration, func(_ *testing.T, p place) Options {
			return Options{Host: "-oProxyCommand=evil"}
		}},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			client, err := dial(t.Context(), test.dial(t, p))
			if err == nil {
				require.NoError(t, client.Close())
			}
			var failure *remote.ConnectError
			require.ErrorAs(t, err, &failure)
			require.Equal(t, test.reason, failure.Reason, "%v", err)
			require.ErrorIs(t, err, remote.ErrUnreachable)
			text := strings.ReplaceAll(err.Error(), p.directory, "DIR")
			text = ports.ReplaceAllString(text, "${1}PORT")
			golden(t, test.name, text+"\n")
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "failures", name+".txt")
	if os.Getenv("RMCTL_UPDATE") == "1" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestACanceledDialEnds(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	options := p.options(listen(t, func(c net.Conn) {
		cancel()
		waitForEnd(c)
	}))
	_, err := dial(ctx, options)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, remote.ErrUnreachable)
}

func TestTextsOfTheOtherSideAreMadeVisible(t *testing.T) {
	require.Equal(t, `a\x1b[31m\n\xff\u202eé…`, visible("a\x1b[31m\n\xff\u202eé and more", 22))
}

func closedPort(t *testing.T) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// waitForEnd reads until the other side closes.
func waitForEnd(c net.Conn) {
	buffer := make([]byte, 1024)
	for {
		if _, err := c.Read(buffer); err != nil {
			return
		}
	}
}

// ecdsaKey is a host key of a kind that the servers of these tests do not have.
const ecdsaKey = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBA5clX39qDOfu6wHZmfvaRca8b4BsOWEX+hZMpKfsUXNx3CdarGQH0k3L7YUJjk71AtYbQRslKePaGeE3FtAKBs="

var ports = regexp.MustCompile(`(127\.0\.0\.1\]?:|-p )\d+`)
