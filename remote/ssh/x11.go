package ssh

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/internal/execution"
)

// forwarding lets X11 clients on the host reach the display of this machine. The host
// gets a cookie that is valid for this connection only, and this process replaces it by
// the real one in the first packet of each client.
type forwarding struct {
	mu      sync.Mutex
	display *display // nil until somebody asks for it
}

// display is where X11 clients are shown.
type display struct {
	network, address string
	screen           uint32
	cookie           []byte // that the display wants
	pretended        []byte // that the host gets
}

const (
	cookieProtocol = "MIT-MAGIC-COOKIE-1"
	xauthTime      = 10 * time.Second
	displayTime    = 10 * time.Second
)

// prepareX11 finds the display and its cookie. A connection may outlive a login of the
// user: from now on all clients go to the current display. The host's cookie stays
// valid.
func (c *dialer) prepareX11(ctx context.Context) (*display, error) {
	c.x11.mu.Lock()
	defer c.x11.mu.Unlock()
	found, err := findDisplay(ctx, os.Getenv("DISPLAY"), c.settings.xauth)
	if err != nil {
		return nil, fmt.Errorf("forwarding X11 from %s: %w", c.settings.alias, err)
	}
	if before := c.x11.display; before != nil {
		if len(before.pretended) != len(found.cookie) {
			return nil, fmt.Errorf("forwarding X11 from %s: the cookie of the display has %d bytes, the previous one had %d", c.settings.alias, len(found.cookie), len(before.pretended))
		}
		found.pretended = before.pretended
		c.x11.display = found
		return found, nil
	}
	incoming := c.client.HandleChannelOpen("x11")
	if incoming == nil {
		return nil, fmt.Errorf("forwarding X11 from %s: already forwarded", c.settings.alias)
	}
	if !c.spawn(func() { c.serveX11(incoming) }) {
		return nil, c.lost()
	}
	c.x11.display = found
	return found, nil
}

// findDisplay parses DISPLAY, as X(7) describes it, and gets the cookie from xauth.
func findDisplay(ctx context.Context, name, xauth string) (*display, error) {
	found, err := parseDisplay(name)
	if err != nil {
		return nil, err
	}
	listed, said, err := execution.Output(ctx, xauthTime, os.Environ(), xauth, "list", name)
	if err != nil {
		return nil, fmt.Errorf("asking %s for the cookie of the display %s: %w %s", xauth, name, err, visible(strings.TrimSpace(said), 300))
	}
	for line := range strings.Lines(listed) {
		words := strings.Fields(line)
		if len(words) != 3 || words[1] != cookieProtocol {
			continue
		}
		if found.cookie, err = hex.DecodeString(words[2]); err != nil || len(found.cookie) == 0 {
			return nil, fmt.Errorf("%s lists an invalid cookie for the display %s", xauth, name)
		}
		found.pretended = make([]byte, len(found.cookie))
		if _, err := rand.Read(found.pretended); err != nil {
			return nil, fmt.Errorf("making a cookie: %w", err)
		}
		return found, nil
	}
	return nil, fmt.Errorf("%s has no %s for the display %s", xauth, cookieProtocol, name)
}

// parseDisplay understands host:display.screen, :display and, for macOS, the
// path of a socket.
func parseDisplay(name string) (*display, error) {
	if name == "" {
		return nil, errors.New("no display: DISPLAY is not set")
	}
	if strings.HasPrefix(name, "/") {
		return &display{network: "unix", address: name}, nil
	}
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 {
		return nil, fmt.Errorf("DISPLAY %q has no colon", name)
	}
	host := name[:colon]
	number, screen, hasScreen := strings.Cut(name[colon+1:], ".")
	display := &display{network: "unix"}
	server, err := strconv.ParseUint(number, 10, 16)
	if err != nil || server > 65535-6000 {
		return nil, fmt.Errorf("DISPLAY %q has no display number", name)
	}
	if hasScreen {
		parsed, err := strconv.ParseUint(screen, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("DISPLAY %q has no screen number", name)
		}
		display.screen = uint32(parsed)
	}
	display.address = fmt.Sprintf("/tmp/.X11-unix/X%d", server)
	if host != "" && host != "unix" {
		display.network, display.address = "tcp", net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(6000+int(server)))
	}
	return display, nil
}

// request returns the payload of the request to forward several clients.
func (d *display) request() []byte {
	return ssh.Marshal(struct {
		Single           bool
		Protocol, Cookie string
		Screen           uint32
	}{false, cookieProtocol, hex.EncodeToString(d.pretended), d.screen})
}

// current returns the display that new clients go to.
func (f *forwarding) current() *display {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.display
}

// serveX11 connects clients to the display until the connection ends.
func (c *dialer) serveX11(incoming <-chan ssh.NewChannel) {
	var clients sync.WaitGroup
	defer clients.Wait()
	for offered := range incoming {
		clients.Go(func() {
			if err := c.forwardX11(offered, c.x11.current()); err != nil {
				c.log.Warn("an X11 client was not connected", "host", c.settings.alias, "error", err)
			}
		})
	}
}

func (c *dialer) forwardX11(offered ssh.NewChannel, to *display) error {
	local, err := net.DialTimeout(to.network, to.address, displayTime)
	if err != nil {
		return errors.Join(fmt.Errorf("reaching the display: %w", err), offered.Reject(ssh.ConnectionFailed, "no display"))
	}
	defer local.Close()
	client, requests, err := offered.Accept()
	if err != nil {
		return fmt.Errorf("accepting an X11 client: %w", err)
	}
	defer client.Close()
	go ssh.DiscardRequests(requests) // ends with the channel
	// One that never says who it is goes when the connection does.
	reader := bufio.NewReader(client)
	if err := to.introduce(reader, local); err != nil {
		return err
	}
	var back sync.WaitGroup
	back.Go(func() {
		// When one side ends, the other one ends as well.
		_, _ = io.Copy(client, local)
		_ = client.Close()
	})
	_, _ = io.Copy(local, reader)
	_ = local.Close()
	back.Wait()
	return nil
}

// introduce passes the first packet of an X11 client on, with the real cookie in place of
// the pretended one. It refuses a client that does not have the pretended one.
// The packet is the connection setup of the X protocol: byte order, version,
// lengths of the name of the protocol and of the cookie, then both, padded to
// multiples of four.
func (d *display) introduce(client io.Reader, server io.Writer) error {
	head := make([]byte, 12)
	if _, err := io.ReadFull(client, head); err != nil {
		return fmt.Errorf("reading the first packet of an X11 client: %w", err)
	}
	var order binary.ByteOrder = binary.BigEndian
	switch head[0] {
	case 'B':
	case 'l':
		order = binary.LittleEndian
	default:
		return errors.New("an X11 client does not speak the X protocol")
	}
	nameLength, cookieLength := int(order.Uint16(head[6:])), int(order.Uint16(head[8:]))
	if nameLength != len(cookieProtocol) || cookieLength != len(d.pretended) {
		return errors.New("an X11 client presents the wrong kind of cookie")
	}
	body := make([]byte, padded(nameLength)+padded(cookieLength))
	if _, err := io.ReadFull(client, body); err != nil {
		return fmt.Errorf("reading the first packet of an X11 client: %w", err)
	}
	cookie := body[padded(nameLength):][:cookieLength]
	if !bytes.Equal(body[:nameLength], []byte(cookieProtocol)) || subtle.ConstantTimeCompare(cookie, d.pretended) != 1 {
		return errors.New("an X11 client presents the wrong cookie")
	}
	copy(cookie, d.cookie)
	if _, err := server.Write(append(head, body...)); err != nil {
		return fmt.Errorf("writing to the display: %w", err)
	}
	return nil
}

func padded(length int) int { return (length + 3) &^ 3 }
