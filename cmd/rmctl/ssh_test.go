package main

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Each script of testdata/script-ssh is a conversation with rmctl whose targets
// are behind an SSH server: one in this process, which runs commands as this
// user. The file that SSH_CONFIG names describes its hosts:
//
//	known     all is well
//	stranger  its key is not in known_hosts
//	changed   known_hosts has another key
//	locked    no key is let in
//	refused   nobody listens
//	forwards  the same server, which forwards ports
//	nowhere   has no address
func TestSSH(t *testing.T) {
	if testing.Short() {
		t.Skip("starts background processes")
	}
	installNodeProgram(t)
	rmctltest.Scripts(t, filepath.Join("testdata", "script-ssh"), map[string]string{
		"SSH_CONFIG": startSSHServer(t), "SSH_AUTH_SOCK": "", "RMCTL_BACKGROUND": "",
	})
}

// startSSHServer serves SSH until the test has ended, and returns the path of
// an ssh_config.
func startSSHServer(t testing.TB) string {
	_, config := newSSHServer(t)
	return config
}

// newSSHServer is startSSHServer for tests that control the server.
func newSSHServer(t testing.TB) (server *sshServer, configuration string) {
	folder := t.TempDir()
	home := filepath.Join(folder, "there")
	require.NoError(t, os.Mkdir(home, 0o700))
	// Cancel commands may write there slightly after the end of the job.
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return os.RemoveAll(home) == nil }, time.Minute, 20*time.Millisecond)
	})
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	user, host, other := sshKey("user"), sshKey("host"), sshKey("other")
	server = &sshServer{home: home, config: &ssh.ServerConfig{
		PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if meta.User() != "locked" && string(key.Marshal()) == string(publicKey(t, user).Marshal()) {
				return nil, nil
			}
			return nil, errors.New("this key is not let in")
		},
	}}
	signer, err := ssh.NewSignerFromKey(host)
	require.NoError(t, err)
	server.config.AddHostKey(signer)
	port := server.listen(t)

	closedPort := refusingPort(t, port)

	block, err := ssh.MarshalPrivateKey(user, "")
	require.NoError(t, err)
	known := func(name string, key ed25519.PrivateKey) string {
		return name + " " + string(ssh.MarshalAuthorizedKey(publicKey(t, key)))
	}
	return server, write("config", fmt.Sprintf(`Host stranger changed
    HostKeyAlias %%n
Host locked
    User locked
Host forwards
    User %s
Host refused
    Port %d
Host nowhere
    HostName nowhere.invalid
Host *
    HostName 127.0.0.1
    Port %d
    User tester
    BatchMode yes
    IdentityFile %s
    IdentityAgent none
    IdentitiesOnly yes
    UserKnownHostsFile %s
    GlobalKnownHostsFile /dev/null
`, forwardingUser, closedPort, port, write("id", string(pem.EncodeToMemory(block))),
		write("known_hosts", known(fmt.Sprintf("[127.0.0.1]:%d", port), host)+known("changed", other))))
}

// refusingPort returns a port without a listener until the test has ended: the near end of a
// connection to another port. The number of a closed port could be given to another listener.
func refusingPort(t testing.TB, other int) int {
	held, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", other))
	require.NoError(t, err)
	t.Cleanup(func() { held.Close() })
	return held.LocalAddr().(*net.TCPAddr).Port
}

// sshKey makes the key of that name, which always is the same.
func sshKey(name string) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, name)
	return ed25519.NewKeyFromSeed(seed)
}

func publicKey(t testing.TB, key ed25519.PrivateKey) ssh.PublicKey {
	public, err := ssh.NewPublicKey(key.Public())
	require.NoError(t, err)
	return public
}

// sshServer runs commands and serves files as this user.
type sshServer struct {
	home   string
	config *ssh.ServerConfig

	mutex sync.Mutex
	open  []net.Conn
	isOut bool // whether it cuts connections as soon as they come
	work  sync.WaitGroup
}

// goOut cuts all connections, and those that come until it is back.
func (s *sshServer) goOut(isOut bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.isOut = isOut
	for _, connection := range s.open {
		if isOut {
			connection.Close()
		}
	}
}

func (s *sshServer) listen(t testing.TB) (port int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.work.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.mutex.Lock()
			s.open = append(s.open, connection)
			if s.isOut {
				connection.Close()
			}
			s.mutex.Unlock()
			s.work.Go(func() { s.serve(connection) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		s.mutex.Lock()
		for _, connection := range s.open {
			connection.Close()
		}
		s.mutex.Unlock()
		s.work.Wait()
	})
	return listener.Addr().(*net.TCPAddr).Port
}

func (s *sshServer) serve(wire net.Conn) {
	defer wire.Close()
	client, channels, requests, err := ssh.NewServerConn(wire, s.config)
	if err != nil {
		return
	}
	ports := &forwarder{server: s, client: client, listeners: map[forwardedPort]net.Listener{}}
	s.work.Go(func() { ports.answer(requests) })
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		s.work.Go(func() { s.session(channel, requests) })
	}
}

// session serves one channel.
func (s *sshServer) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	for request := range requests {
		var text struct{ Value string }
		begins := request.Type == "exec" || request.Type == "subsystem"
		granted := begins && ssh.Unmarshal(request.Payload, &text) == nil && (request.Type == "exec" || text.Value == "sftp")
		if request.WantReply {
			_ = request.Reply(granted, nil)
		}
		switch {
		case granted && request.Type == "exec":
			s.work.Go(func() { s.execute(channel, text.Value) })
		case granted:
			s.work.Go(func() { serveFiles(channel) })
		}
	}
}

// execute runs a command line as a login shell would.
func (s *sshServer) execute(channel ssh.Channel, line string) {
	defer channel.Close()
	command := exec.Command("/bin/sh", "-c", line)
	command.Dir = s.home
	command.Env = append(os.Environ(), "HOME="+s.home)
	command.Stdout, command.Stderr = channel, channel.Stderr()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := command.StdinPipe()
	if err != nil || command.Start() != nil {
		return
	}
	s.work.Go(func() {
		_, _ = io.Copy(input, channel)
		input.Close()
	})
	var exit *exec.ExitError
	code := 0
	if err := command.Wait(); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(code)}))
}

func serveFiles(channel ssh.Channel) {
	defer channel.Close()
	server, err := sftp.NewServer(channel)
	if err != nil {
		return
	}
	_ = server.Serve() // it ends with the channel
	_ = server.Close()
}
