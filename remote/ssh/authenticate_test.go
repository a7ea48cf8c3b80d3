package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// serveKeys starts a server that lets in whoever has one of the keys, and notes
// which keys it was shown.
func serveKeys(t *testing.T, p place, names ...string) (port int, shown *[]string) {
	shown = &[]string{}
	accept := acceptKey(t, names...)
	port = serve(t, &server{config: &ssh.ServerConfig{MaxAuthTries: -1, PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		*shown = append(*shown, ssh.FingerprintSHA256(key))
		return accept(c, key)
	}}}).port
	p.knows(port, "host")
	return port, shown
}

func prints(t *testing.T, names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, ssh.FingerprintSHA256(signerOf(t, name).PublicKey()))
	}
	return all
}

// serveAgent starts an agent with keys, and returns its socket.
func serveAgent(t *testing.T, names ...string) string {
	keyring := agent.NewKeyring()
	for _, name := range names {
		key := keyOf(name)
		require.NoError(t, keyring.Add(agent.AddedKey{PrivateKey: &key}))
	}
	directory, err := os.MkdirTemp("", "agent") // paths of sockets must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(directory)) })
	listener, err := net.Listen("unix", filepath.Join(directory, "s"))
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_ = agent.ServeAgent(keyring, connection)
			connection.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return listener.Addr().String()
}

func TestKeysAreTriedInTheOrderOfOpenSSH(t *testing.T) {
	p := newPlace(t)
	port, shown := serveKeys(t, p, "last")
	socket := serveAgent(t, "other", "held")
	options := p.options(port, "IdentityAgent "+socket, "IdentityFile "+p.key("first"), "IdentityFile "+p.key("held"), "IdentityFile "+p.key("last"))
	dialled(t, options)
	// The last is shown twice: to find out whether it is accepted, and to sign.
	require.Equal(t, prints(t, "held", "other", "first", "last"), (*shown)[:4])
}

func TestOnlyListedKeysOfTheAgentAreShownWithIdentitiesOnly(t *testing.T) {
	p := newPlace(t)
	port, shown := serveKeys(t, p, "listed")
	public := p.write("listed.pub", string(ssh.MarshalAuthorizedKey(signerOf(t, "listed").PublicKey())))
	socket := serveAgent(t, "other", "listed", "another")
	for _, path := range []string{public, p.path("listed")} { // the private key itself is in the agent only
		*shown = nil
		dialled(t, p.options(port, "IdentitiesOnly yes", "IdentityAgent "+socket, "IdentityFile "+path))
		require.Subset(t, prints(t, "listed"), *shown)
	}
}

func TestALockedKeyAsksForItsPassphraseOnlyIfTheServerWouldTakeIt(t *testing.T) {
	p := newPlace(t)
	port, _ := serveKeys(t, p, "locked")
	asker := &answers{texts: []string{"wrong", "right"}}
	options := p.options(port, "IdentityFile "+p.lockedKey("unwanted"), "IdentityFile "+p.lockedKey("locked"))
	options.Prompter = asker
	dialled(t, options)
	require.Len(t, asker.questions, 2)
	for _, question := range asker.questions {
		require.Equal(t, remote.Question{Host: "place", Text: "Passphrase of the key " + p.path("locked") + ": ", Secret: true}, question)
	}
}

func TestALockedKeyWithoutAnybodyToAskIsNamed(t *testing.T) {
	p := newPlace(t)
	port, _ := serveKeys(t, p, "locked")
	_, err := dial(t.Context(), p.options(port, "IdentityFile "+p.lockedKey("locked")))
	require.ErrorContains(t, err, "key "+p.path("locked")+": no terminal for prompts")
}

func TestKeysThatOthersMayReadAreNotUsed(t *testing.T) {
	p := newPlace(t)
	port, shown := serveKeys(t, p, "open")
	path := p.key("open")
	require.NoError(t, os.Chmod(path, 0o644))
	_, err := dial(t.Context(), p.options(port, "IdentityFile "+path))
	require.ErrorContains(t, err, "others can read it (mode 0644)")
	require.Empty(t, *shown)
}

func TestCertificatesLetUsersIn(t *testing.T) {
	authority := signerOf(t, "authority")
	certificate := &ssh.Certificate{Key: signerOf(t, "mine").PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{"alice"}, ValidBefore: ssh.CertTimeInfinity}
	require.NoError(t, certificate.SignCert(zeroes{}, authority))
	checker := &ssh.CertChecker{IsUserAuthority: func(key ssh.PublicKey) bool { return sameKey(key, authority.PublicKey()) }}
	for _, setting := range []string{"beside", "CertificateFile", "agent"} {
		t.Run(setting, func(t *testing.T) {
			p := newPlace(t)
			port := serve(t, &server{config: &ssh.ServerConfig{PublicKeyCallback: checker.Authenticate}}).port
			p.knows(port, "host")
			lines := []string{"IdentityFile " + p.key("mine")}
			switch setting {
			case "beside":
				p.write("mine-cert.pub", string(ssh.MarshalAuthorizedKey(certificate)))
			case "CertificateFile":
				lines = append(lines, "CertificateFile "+p.write("elsewhere.pub", string(ssh.MarshalAuthorizedKey(certificate))))
			case "agent":
				p.write("mine-cert.pub", string(ssh.MarshalAuthorizedKey(certificate)))
				lines = append(lines, "IdentityAgent "+serveAgent(t, "mine"))
			}
			dialled(t, p.options(port, lines...))
		})
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(p), nil }

func TestAllQuestionsOfASecondFactorAreAsked(t *testing.T) {
	config := &ssh.ServerConfig{KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
		first, err := ask("Login", "Be\x1b[2J welcome", []string{"Password: ", "Token: "}, []bool{false, true})
		if err != nil {
			return nil, err
		}
		second, err := ask("", "", []string{"Again: "}, []bool{false})
		if err != nil {
			return nil, err
		}
		if strings.Join(append(first, second...), "|") != "pw|123|456" {
			return nil, errors.New("wrong")
		}
		return nil, nil
	}}
	p := newPlace(t)
	port := serve(t, &server{config: config}).port
	p.knows(port, "host")
	options := p.options(port)
	asker := &answers{texts: []string{"bad", "bad", "bad", "pw", "123", "456"}}
	options.Prompter = asker
	dialled(t, options)
	require.Equal(t, []remote.Question{
		{Host: "place", Text: "Login\nBe\x1b[2J welcome\nPassword: ", Secret: true},
		{Host: "place", Text: "Token: "},
		{Host: "place", Text: "Again: ", Secret: true},
	}, asker.questions[3:])
}

func TestNobodyIsAskedInBatchMode(t *testing.T) {
	p := newPlace(t)
	config := &ssh.ServerConfig{PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, nil }}
	port := serve(t, &server{config: config}).port
	p.knows(port, "host")
	options := p.options(port, "BatchMode yes")
	asker := &answers{texts: []string{"pw"}}
	options.Prompter = asker
	_, err := dial(t.Context(), options)
	require.ErrorContains(t, err, "password: no terminal for prompts")
	require.Empty(t, asker.questions)
}

func TestAKeyAndThenAPasswordCanBeWanted(t *testing.T) {
	p := newPlace(t)
	accept := acceptKey(t, "mine")
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if _, err := accept(c, key); err != nil {
			return nil, err
		}
		return nil, &ssh.PartialSuccessError{Next: ssh.ServerAuthCallbacks{PasswordCallback: func(_ ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			if string(password) != "pw" {
				return nil, errors.New("wrong")
			}
			return nil, nil
		}}}
	}}
	port := serve(t, &server{config: config}).port
	p.knows(port, "host")
	options := p.options(port, "IdentityFile "+p.key("mine"))
	asker := &answers{texts: []string{"typo", "pw"}}
	options.Prompter = asker
	dialled(t, options)
	require.Len(t, asker.questions, 2)

	options.Prompter = &answers{}
	_, err := dial(t.Context(), options)
	require.ErrorContains(t, err, "key "+p.path("mine")+": accepted, but more is wanted")
	require.NotContains(t, err.Error(), "typo")
}

func TestTheOrderOfMethodsCanBeSet(t *testing.T) {
	p := newPlace(t)
	config := &ssh.ServerConfig{
		PasswordCallback:  func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, nil },
		PublicKeyCallback: acceptKey(t, "mine"),
	}
	port := serve(t, &server{config: config}).port
	p.knows(port, "host")
	options := p.options(port, "PreferredAuthentications password,publickey", "IdentityFile "+p.key("mine"))
	asker := &answers{texts: []string{"pw"}}
	options.Prompter = asker
	dialled(t, options)
	require.Len(t, asker.questions, 1)
}

func TestWhatThisTransportLacksIsNamed(t *testing.T) {
	p := newPlace(t)
	port, _ := serveKeys(t, p)
	_, err := dial(t.Context(), p.options(port, "ControlPath "+p.path("%C"), "IdentityFile "+p.path("token_sk")))
	require.ErrorContains(t, err, `does not support hardware keys or a shared connection (ControlPath)`)
	require.ErrorContains(t, err, `transport = "openssh"`)
}

func TestAUserWhoGivesUpEndsIt(t *testing.T) {
	p := newPlace(t)
	config := &ssh.ServerConfig{PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, nil }}
	port := serve(t, &server{config: config}).port
	p.knows(port, "host")
	options := p.options(port)
	gaveUp := errors.New("interrupted")
	options.Prompter = prompterFunc(func(context.Context, remote.Question) (string, error) { return "", gaveUp })
	_, err := dial(t.Context(), options)
	require.ErrorIs(t, err, gaveUp)
}

type prompterFunc func(context.Context, remote.Question) (string, error)

func (f prompterFunc) Ask(ctx context.Context, question remote.Question) (string, error) {
	return f(ctx, question)
}

func TestAProxyCommandLeadsToThePlace(t *testing.T) {
	p := newPlace(t)
	port := serve(t, &server{}).port
	p.knows(port, "host")
	client := dialled(t, p.options(port, `ProxyCommand bash -c 'exec 3<>/dev/tcp/%h/%p; cat <&3 & cat >&3; kill $!'`))
	require.Equal(t, "through\n", run(t, client, "echo through", channel.Options{}, "").stdout)
}

func TestJumpHostsLeadToThePlaceOneBehindTheOther(t *testing.T) {
	var jumped []string
	jump := func(user string) int {
		return serve(t, &server{forwards: true, config: &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if c.User() != user {
				return nil, errors.New("another user")
			}
			return acceptKey(t, user)(c, key)
		}}, connects: func(c ssh.Conn) { jumped = append(jumped, c.User()) }}).port
	}
	first, second, target := jump("first"), jump("second"), serve(t, &server{}).port
	p := newPlace(t)
	options := p.options(target, "ProxyJump one,second@two")
	config, err := os.ReadFile(p.path("config"))
	require.NoError(t, err)
	// Each has a configuration of its own.
	p.write("config", string(config)+fmt.Sprintf("Host one\n User first\n Port %d\n IdentityFile %s\nHost two\n Port %d\n IdentityFile %s\nHost *\n HostName 127.0.0.1\n IdentityAgent none\n StrictHostKeyChecking accept-new\n UserKnownHostsFile %s\n",
		first, p.key("first"), second, p.key("second"), p.path("known_hosts")))
	remotetest.GoroutinesEnd(t, func() {
		client, err := dial(t.Context(), options)
		require.NoError(t, err)
		require.Equal(t, "behind\n", run(t, client, "echo behind", channel.Options{}, "").stdout)
		require.NoError(t, client.Close())
	})
	require.Equal(t, []string{"first", "second"}, jumped)
}
