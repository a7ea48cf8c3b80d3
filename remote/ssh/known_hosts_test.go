package ssh

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

func publicLine(t testing.TB, name string) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signerOf(t, name).PublicKey())))
}

func TestLinesOfKnownHostsMatchAsInOpenSSH(t *testing.T) {
	for _, test := range []struct {
		hosts, name string
		matches     bool
	}{
		{"login", "login", true},
		{"LOGIN", "login", true},
		{"login", "login2", false},
		{"a,login,b", "login", true},
		{"*.example.org", "a.b.example.org", true},
		{"*.example.org", "example.org", false},
		{"login?", "login1", true},
		{"*,!login", "login", false},
		{"!login", "other", false},
		{"[login]:2222", "[login]:2222", true},
		{"login", "[login]:2222", false},
		{"[*.example.org]:2222", "[a.example.org]:2222", true},
		{knownhosts.HashHostname("login"), "login", true},
		{knownhosts.HashHostname("[login]:2222"), "[login]:2222", true},
		{knownhosts.HashHostname("login"), "other", false},
		{"|1|bad|bad", "login", false},
	} {
		known := parseKnownHosts("file", []byte(test.hosts+" "+publicLine(t, "host")))
		require.Len(t, known, 1)
		require.Equal(t, test.matches, known[0].matches(test.name), "%s %s", test.hosts, test.name)
	}
}

func TestLinesThatAreNotUnderstoodAreLeftOut(t *testing.T) {
	content := "# comment\n\ngarbage\nlogin ssh-new AAAA\n@unknown login " + publicLine(t, "x") + "\r\nlogin " + publicLine(t, "host") + " remark\r\n"
	known := parseKnownHosts("file", []byte(content))
	require.Len(t, known, 1)
	require.Equal(t, "file:6", known[0].place())
}

func TestKeysAreRemembered(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer string
		lines  []string
		asked  int
		hashed bool
	}{
		{"yes", "yes", nil, 1, false},
		{"the fingerprint itself", ssh.FingerprintSHA256(signerOf(t, "host").PublicKey()), nil, 1, false},
		{"accept-new asks nobody", "", []string{"StrictHostKeyChecking accept-new"}, 0, false},
		{"no asks nobody", "", []string{"StrictHostKeyChecking no"}, 0, false},
		{"hashed", "yes", []string{"HashKnownHosts yes"}, 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t)
			options := p.options(serve(t, &server{}).port, test.lines...)
			p.write("known_hosts", "other "+publicLine(t, "other")) // its last line is not complete
			asker := &answers{texts: []string{test.answer}}
			options.Prompter = asker
			dialled(t, options)
			dialled(t, options)
			require.Len(t, asker.questions, test.asked)
			content, err := os.ReadFile(p.path("known_hosts"))
			require.NoError(t, err)
			lines := strings.Split(string(content), "\n")
			require.Len(t, lines, 3, "%s", content)
			require.Equal(t, test.hashed, strings.HasPrefix(lines[1], "|1|"), "%s", content)
		})
	}
}

func TestTheQuestionAboutAKeyShowsItsFingerprint(t *testing.T) {
	p := newPlace(t)
	port := serve(t, &server{}).port
	options := p.options(port)
	asker := &answers{texts: []string{"what?", "yes"}}
	options.Prompter = asker
	dialled(t, options)
	require.Len(t, asker.questions, 2)
	require.Contains(t, asker.questions[0].Text, fmt.Sprintf("The host place (127.0.0.1:%d) is not in known_hosts yet.\nIts ED25519 key has the fingerprint SHA256:n5m9jdYTV1z7YMRiwv+vGwj5MO5QPkOqbLFvxp+emtc\n", port))
	require.False(t, asker.questions[0].Secret)
}

func TestAServerWithSeveralKeysDoesNotLookChanged(t *testing.T) {
	p := newPlace(t)
	other, err := ssh.ParsePrivateKey([]byte(rsaKey(t)))
	require.NoError(t, err)
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(other)
	s := serve(t, &server{config: config})
	for _, key := range []ssh.PublicKey{other.PublicKey(), signerOf(t, "host").PublicKey()} {
		p.write("known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s", s.port, ssh.MarshalAuthorizedKey(key)))
		dialled(t, p.options(s.port))
	}
}

func TestAKeyIsKnownByItsAlias(t *testing.T) {
	p := newPlace(t)
	port := serve(t, &server{}).port
	p.write("known_hosts", "cluster "+publicLine(t, "host"))
	dialled(t, p.options(port, "HostKeyAlias Cluster"))
}

func TestAKeyIsKnownWithoutThePort(t *testing.T) {
	p := newPlace(t)
	port := serve(t, &server{}).port
	p.write("known_hosts", "127.0.0.1 "+publicLine(t, "host"))
	dialled(t, p.options(port))
	// Another key says nothing about that port: the key is unknown, not changed.
	p.write("known_hosts", "127.0.0.1 "+publicLine(t, "other"))
	_, err := dial(t.Context(), p.options(port))
	require.ErrorContains(t, err, "is not in known_hosts")
}

func TestAuthoritiesVouchForHosts(t *testing.T) {
	authority := signerOf(t, "authority")
	make := func(change func(*ssh.Certificate)) ssh.Signer {
		certificate := &ssh.Certificate{Key: signerOf(t, "host").PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"127.0.0.1"}, ValidBefore: ssh.CertTimeInfinity}
		change(certificate)
		require.NoError(t, certificate.SignCert(zeroes{}, authority))
		signer, err := ssh.NewCertSigner(certificate, signerOf(t, "host"))
		require.NoError(t, err)
		return signer
	}
	for _, test := range []struct {
		name   string
		line   string
		change func(*ssh.Certificate)
		fails  string
	}{
		{"right", "@cert-authority *", func(*ssh.Certificate) {}, ""},
		{"of other hosts", "@cert-authority *.example.org", func(*ssh.Certificate) {}, "is not in known_hosts"},
		{"expired", "@cert-authority *", func(c *ssh.Certificate) { c.ValidBefore = 1 }, "is not in known_hosts"},
		{"for another name", "@cert-authority *", func(c *ssh.Certificate) { c.ValidPrincipals = []string{"elsewhere"} }, "is not in known_hosts"},
		{"for a user", "@cert-authority *", func(c *ssh.Certificate) { c.CertType = ssh.UserCert }, "is not in known_hosts"},
		{"revoked", "@revoked *", func(*ssh.Certificate) {}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t)
			s := &server{config: &ssh.ServerConfig{NoClientAuth: true}}
			s.config.AddHostKey(make(test.change))
			s = serve(t, s)
			lines := strings.Replace(test.line, "*", "[127.0.0.1]:*", 1) + " " + publicLine(t, "authority") + "\n"
			if test.name == "revoked" {
				lines, test.fails = "@cert-authority [127.0.0.1]:* "+publicLine(t, "authority")+"\n"+lines, "is revoked by"
			}
			p.write("known_hosts", lines)
			client, err := dial(t.Context(), p.options(s.port))
			if test.fails == "" {
				require.NoError(t, err)
				require.NoError(t, client.Close())
				return
			}
			require.ErrorContains(t, err, test.fails)
		})
	}
}

func TestKnownHostsThatCannotBeReadAreAnError(t *testing.T) {
	p := newPlace(t)
	options := p.options(serve(t, &server{}).port, "StrictHostKeyChecking no")
	require.NoError(t, os.Mkdir(p.path("known_hosts"), 0o700))
	_, err := dial(t.Context(), options)
	require.ErrorContains(t, err, "reading known hosts")
}

// Package knownhosts of x/crypto judges keys the same way, where it reads a
// file at all.
func FuzzKnownHosts(f *testing.F) {
	for _, hosts := range []string{"login", "[login]:2222", "*", "!login,*", "log?n,x", "@cert-authority *", "@revoked login", knownhosts.HashHostname("login"), "|1||", "@revoked @revoked"} {
		f.Add(hosts+" "+publicLine(f, "host"), "login", uint16(22))
	}
	f.Fuzz(func(t *testing.T, content, host string, port uint16) {
		known := parseKnownHosts("file", []byte(content))
		s := settings{host: host, port: int(port)}
		key := signerOf(t, "host").PublicKey()
		names := s.knownNames()
		ours := false
		for _, line := range known.about(names[0], "") {
			ours = ours || sameKey(line.key, key)
		}
		if _, found := known.revoked(key); found {
			ours = false
		}
		known.algorithms(names, ssh.SupportedAlgorithms().HostKeys)
		path := filepath.Join(t.TempDir(), "known_hosts")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		check, err := knownhosts.New(path)
		// Its patterns take a port apart, and know upper case; to it, the key of an
		// authority is also that of a host.
		if err != nil || port != 22 || strings.Contains(content, "@cert-authority") || strings.ContainsAny(content, ":[]\r\v\f") || !plainPatterns(known) || !plainHost(host) {
			return
		}
		address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)}
		theirs := check(net.JoinHostPort(host, "22"), address, key) == nil
		require.Equal(t, theirs, ours)
	})
}

func plainHost(host string) bool {
	return host != "" && !bytes.ContainsFunc([]byte(host), func(r rune) bool { return (r < 'a' || r > 'z') && r != '.' })
}

func plainPatterns(known knownHosts) bool {
	for _, line := range known {
		for _, pattern := range line.patterns {
			if !strings.HasPrefix(pattern, "|") && strings.ToLower(pattern) != pattern {
				return false
			}
		}
	}
	return true
}
