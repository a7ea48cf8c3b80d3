package ssh

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// server is an SSH server of this process.
type server struct {
	config   *ssh.ServerConfig
	port     int
	rejects  bool // opens no channel
	forwards bool // is a jump host
	ignores  bool // answers no request for the whole connection
	refuses  []string
	grants   func(*ssh.Request) []byte // answers a request for the whole connection; nil refuses, and may be nil
	connects func(ssh.Conn)            // called with each connection; may be nil
	requests chan *ssh.Request
	asked    chan struct{} // gets each request for the whole connection; may be nil
}

// serve starts a server, which ends with the test.
func serve(t testing.TB, s *server) *server {
	t.Helper()
	if s.config == nil {
		s.config = &ssh.ServerConfig{NoClientAuth: true}
	}
	s.config.AddHostKey(signerOf(t, "host"))
	s.port = listen(t, s.handle)
	return s
}

// listen accepts connections until the test has ended.
func listen(t testing.TB, handle func(net.Conn)) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var work sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	work.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, connection)
			mu.Unlock()
			work.Go(func() {
				defer connection.Close()
				handle(connection)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, connection := range open {
			connection.Close()
		}
		mu.Unlock()
		work.Wait()
	})
	return listener.Addr().(*net.TCPAddr).Port
}

func (s *server) handle(wire net.Conn) {
	connection, channels, requests, err := ssh.NewServerConn(wire, s.config)
	if err != nil {
		return
	}
	if s.connects != nil {
		s.connects(connection)
	}
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() {
		for request := range requests {
			if s.asked != nil {
				s.asked <- struct{}{}
			}
			if !s.ignores && request.WantReply {
				var answer []byte
				if s.grants != nil {
					answer = s.grants(request)
				}
				_ = request.Reply(answer != nil, answer)
			}
		}
	})
	for offered := range channels {
		if s.forwards && offered.ChannelType() == "direct-tcpip" {
			work.Go(func() { forward(offered) })
			continue
		}
		if s.rejects || offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.ResourceShortage, "no \x1b[31mroom")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			continue // the end closes the channel of offers, which must be read until then
		}
		work.Go(func() { s.session(channel, requests) })
	}
}

func (s *server) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	var work sync.WaitGroup
	defer work.Wait()
	for request := range requests {
		granted := true
		for _, refused := range s.refuses {
			granted = granted && refused != request.Type
		}
		if s.requests != nil {
			s.requests <- request
		}
		if request.WantReply {
			_ = request.Reply(granted, nil)
		}
		var text struct{ Line string }
		if request.Type == "exec" && granted && ssh.Unmarshal(request.Payload, &text) == nil {
			work.Go(func() { execute(channel, text.Line) })
		}
	}
}

// forward connects a channel to where it wants to go.
func forward(offered ssh.NewChannel) {
	var to struct {
		Host       string
		Port       uint32
		Origin     string
		OriginPort uint32
	}
	if ssh.Unmarshal(offered.ExtraData(), &to) != nil {
		return
	}
	connection, err := net.Dial("tcp", net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))))
	if err != nil {
		_ = offered.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	defer connection.Close()
	channel, requests, err := offered.Accept()
	if err != nil {
		return
	}
	defer channel.Close()
	go ssh.DiscardRequests(requests)
	go func() {
		_, _ = io.Copy(connection, channel)
		connection.Close()
	}()
	_, _ = io.Copy(channel, connection)
}

// execute runs a command line with sh. The line "vanish" ends the channel
// without a word; "signal" says that a signal ended it.
func execute(channel ssh.Channel, line string) {
	defer channel.Close()
	switch line {
	case "vanish":
		return
	case "signal":
		_, _ = channel.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Name        string
			Core        bool
			Error, Lang string
		}{"TERM", false, "", ""}))
		return
	}
	command := exec.Command("sh", "-c", line)
	command.Stdin, command.Stdout, command.Stderr = channel, channel, channel.Stderr()
	var exit *exec.ExitError
	code := 0
	if err := command.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(code)}))
}

// keyOf makes the key of that name, which always is the same.
func keyOf(name string) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, name)
	return ed25519.NewKeyFromSeed(seed)
}

func signerOf(t testing.TB, name string) ssh.Signer {
	t.Helper()
	signer, err := ssh.NewSignerFromKey(keyOf(name))
	require.NoError(t, err)
	return signer
}

// place is a folder with what a user has in ~/.ssh.
type place struct {
	t         testing.TB
	directory string
}

func newPlace(t testing.TB) place { return place{t, t.TempDir()} }

func (p place) path(name string) string { return filepath.Join(p.directory, name) }

func (p place) write(name, content string) string {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(p.path(name), []byte(content), 0o600))
	return p.path(name)
}

// key writes a key of that name and returns its path.
func (p place) key(name string) string {
	p.t.Helper()
	block, err := ssh.MarshalPrivateKey(keyOf(name), name)
	require.NoError(p.t, err)
	return p.write(name, string(pem.EncodeToMemory(block)))
}

// lockedKey writes the key of that name from testdata/keys. Its passphrase
// is "right". Made here, it would take seconds to lock and unlock.
func (p place) lockedKey(name string) string {
	p.t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "keys", name))
	require.NoError(p.t, err)
	return p.write(name, string(content))
}

// knows writes a known_hosts with the key of that name for a port.
func (p place) knows(port int, key string) string {
	p.t.Helper()
	return p.write("known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s", port, ssh.MarshalAuthorizedKey(signerOf(p.t, key).PublicKey())))
}

// options are those for the host "place" on a port, with further lines of ssh_config.
func (p place) options(port int, lines ...string) Options {
	config := append([]string{"Host place"}, lines...)
	config = append(config, "HostName 127.0.0.1", "Port "+strconv.Itoa(port), "User alice", "IdentityAgent none",
		"IdentityFile "+p.path("absent"), "UserKnownHostsFile "+p.path("known_hosts"), "GlobalKnownHostsFile /dev/null")
	return Options{Host: "place", Program: "none", ConfigFile: p.write("config", strings.Join(config, "\n    ")+"\n")}
}

// dialled connects, and closes the connection after the test.
func dialled(t testing.TB, options Options) *dialer {
	t.Helper()
	client, err := dial(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func acceptKey(t testing.TB, names ...string) func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
	return func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		for _, name := range names {
			if bytes.Equal(key.Marshal(), signerOf(t, name).PublicKey().Marshal()) {
				return nil, nil
			}
		}
		return nil, errors.New("another key")
	}
}

// rsaKey makes a private key of another kind.
func rsaKey(t testing.TB) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "")
	require.NoError(t, err)
	return string(pem.EncodeToMemory(block))
}
