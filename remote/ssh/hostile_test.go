package ssh

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// A server may do what it likes: the client neither hangs nor grows.
func TestHostileServersAreGivenUp(t *testing.T) {
	flood := func(block string) func(net.Conn) {
		return func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, block); err != nil {
					return
				}
			}
		}
	}
	for _, test := range []struct {
		name   string
		reason remote.ConnectReason
		handle func(net.Conn)
	}{
		{"endless lines before the version", remote.BadProtocol, flood(strings.Repeat("welcome\r\n", 1000))},
		{"an endless line before the version", remote.BadProtocol, flood(strings.Repeat("x", 10000))},
		{"noise after the version", remote.BadProtocol, func(c net.Conn) {
			fmt.Fprint(c, "SSH-2.0-x\r\n")
			flood(strings.Repeat("\xff", 10000))(c)
		}},
		{"a packet of 4 GiB", remote.BadProtocol, func(c net.Conn) {
			fmt.Fprint(c, "SSH-2.0-x\r\n\xff\xff\xff\xf0\x04")
			flood("\x00")(c)
		}},
		{"an old protocol", remote.BadProtocol, func(c net.Conn) {
			fmt.Fprint(c, "SSH-1.5-old\r\n")
			waitForEnd(c)
		}},
		{"silence after the version", remote.NoAnswer, func(c net.Conn) {
			fmt.Fprint(c, "SSH-2.0-x\r\n")
			waitForEnd(c)
		}},
		{"lines that come slowly", remote.NoAnswer, func(c net.Conn) {
			// Each byte is an answer of a kind, but no handshake.
			fmt.Fprint(c, "SSH-2.0-")
			waitForEnd(c)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			_, err := dial(t.Context(), p.options(listen(t, test.handle), "ConnectTimeout 1"))
			var failure *remote.ConnectError
			require.ErrorAs(t, err, &failure)
			if failure.Reason != remote.NoAnswer { // noise may look like the beginning of something
				require.Equal(t, test.reason, failure.Reason, "%v", err)
			}
			require.Less(t, len(err.Error()), 2000)
		})
	}
}

// A server that vanishes after any number of bytes is an error with a reason.
func TestServersThatVanishDuringTheHandshakeAreErrors(t *testing.T) {
	s := &server{config: &ssh.ServerConfig{PublicKeyCallback: acceptKey(t, "mine")}}
	s.config.AddHostKey(signerOf(t, "host"))
	var limit, sent atomic.Int64
	port := listen(t, func(c net.Conn) {
		s.handle(&cutting{Conn: c, left: limit.Load(), sent: &sent})
	})
	p := newPlace(t)
	p.knows(port, "host")
	options := p.options(port, "IdentityFile "+p.key("mine"), "ConnectTimeout 60")
	limit.Store(1 << 30)
	require.NoError(t, dialled(t, options).Close())
	whole := sent.Load()
	for after := int64(0); after < whole-20; after += 1 + whole/60 {
		limit.Store(after)
		client, err := dial(t.Context(), options)
		if err == nil { // all was said but the last words
			require.NoError(t, client.Close())
			continue
		}
		var failure *remote.ConnectError
		require.ErrorAs(t, err, &failure)
		require.NotEqual(t, remote.NoAnswer, failure.Reason, "after %d bytes: %v", after, err)
		require.NotEqual(t, remote.UnknownHostKey, failure.Reason, "after %d bytes: %v", after, err)
	}
}

// cutting closes a connection after a number of written bytes.
type cutting struct {
	net.Conn
	left int64
	sent *atomic.Int64
}

func (c *cutting) Write(p []byte) (int, error) {
	count, err := c.Conn.Write(p[:min(int64(len(p)), c.left)])
	c.left -= int64(count)
	c.sent.Add(int64(count))
	if err == nil && count < len(p) {
		c.Conn.Close()
		err = errors.New("cut")
	}
	return count, err
}

func TestEndlessBannersAreGivenUp(t *testing.T) {
	config := &ssh.ServerConfig{
		PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, errors.New("no") },
		PreAuthConnCallback: func(c ssh.ServerPreAuthConn) {
			for c.SendAuthBanner(strings.Repeat("\x1b[2J", 1000)) == nil {
			}
		},
	}
	p := newPlace(t)
	port := serve(t, &server{config: config}).port
	p.knows(port, "host")
	options := p.options(port)
	shown := 0
	options.Banner = func(host, text string) {
		require.Equal(t, "place", host)
		shown += len(text)
	}
	_, err := dial(t.Context(), options)
	require.ErrorContains(t, err, "sends a banner of more than 65536 bytes")
	require.LessOrEqual(t, shown, maxBannerBytes)
}

func TestABannerIsShown(t *testing.T) {
	config := &ssh.ServerConfig{NoClientAuth: true, BannerCallback: func(ssh.ConnMetadata) string { return "Hello\n" }}
	p := newPlace(t)
	port := serve(t, &server{config: config}).port
	p.knows(port, "host")
	options := p.options(port)
	var shown bytes.Buffer
	options.Banner = func(_, text string) { shown.WriteString(text) }
	dialled(t, options)
	require.Equal(t, "Hello\n", shown.String())
}

func TestServersThatAskTooMuchAreGivenUp(t *testing.T) {
	many := make([]string, 1000)
	for name, ask := range map[string]func(ssh.KeyboardInteractiveChallenge) error{
		"at once": func(ask ssh.KeyboardInteractiveChallenge) error {
			_, err := ask("", "", many, make([]bool, len(many)))
			return err
		},
		"again and again": func(ask ssh.KeyboardInteractiveChallenge) error {
			for {
				if _, err := ask("", "", []string{"again? "}, []bool{true}); err != nil {
					return err
				}
			}
		},
		"nothing, for ever": func(ask ssh.KeyboardInteractiveChallenge) error {
			for {
				if _, err := ask("", "", nil, nil); err != nil {
					return err
				}
			}
		},
		"at length": func(ask ssh.KeyboardInteractiveChallenge) error {
			_, err := ask("", strings.Repeat("x", 100<<10), []string{"?"}, []bool{true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := &ssh.ServerConfig{KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, challenge ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
				return nil, ask(challenge)
			}}
			p := newPlace(t)
			port := serve(t, &server{config: config}).port
			p.knows(port, "host")
			options := p.options(port)
			asker := &answers{texts: make([]string, 2000)}
			options.Prompter = asker
			_, err := dial(t.Context(), options)
			require.ErrorContains(t, err, "the server asks too much")
			require.LessOrEqual(t, len(asker.questions), maxRounds)
		})
	}
}

func TestWhatAServerSaysAtTheEndIsMadeVisible(t *testing.T) {
	config := &ssh.ServerConfig{MaxAuthTries: 1, PublicKeyCallback: acceptKey(t)}
	p := newPlace(t)
	port := serve(t, &server{config: config}).port
	p.knows(port, "host")
	_, err := dial(t.Context(), p.options(port, "IdentityFile "+p.key("one"), "IdentityFile "+p.key("two")))
	require.ErrorContains(t, err, "permission denied for alice: too many authentication failures")
	require.NotContains(t, err.Error(), "\x1b")
}

// Output that nobody reads waits at the server, not here.
func TestOutputThatIsNotReadDoesNotGrow(t *testing.T) {
	client := dialServer(t, serve(t, &server{}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	opened, err := client.Open(t.Context(), "yes | head -c 100000000", channel.Options{})
	require.NoError(t, err)
	require.NoError(t, opened.Stdin().Close())
	// Another command on the same connection is not held up meanwhile.
	require.Equal(t, "ok\n", run(t, client, "echo ok", channel.Options{}, "").stdout)
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapInuse)-int64(before.HeapInuse), int64(16<<20))
	read, err := io.Copy(io.Discard, opened.Stdout())
	require.NoError(t, err)
	require.EqualValues(t, 100000000, read)
	code, err := opened.Wait()
	require.NoError(t, err)
	require.Zero(t, code)
}

// The other side may also open channels; rmctl accepts only those it requested.
func TestChannelsThatTheServerOpensAreRefused(t *testing.T) {
	refused := make(chan error, 3)
	s := serve(t, &server{connects: func(c ssh.Conn) {
		go func() {
			for _, kind := range []string{"x11", "auth-agent@openssh.com", "forwarded-tcpip"} {
				_, _, err := c.OpenChannel(kind, nil)
				refused <- err
			}
		}()
	}})
	dialServer(t, s)
	for range 3 {
		var failure *ssh.OpenChannelError
		require.ErrorAs(t, <-refused, &failure)
	}
}
