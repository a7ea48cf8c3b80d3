package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"
)

// certificate returns a certificate of a name and of loopback, and who trusts it.
func certificate(t *testing.T, name string) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
}

// serveOpenly runs a server over TLS that knows ada and the password
// "enchantress".
func serveOpenly(t *testing.T) *browser {
	t.Helper()
	options := testPlatform(t)
	var trusted *x509.CertPool
	options.TLS, trusted = certificate(t, "cluster.example")
	options.Passwords = newPasswords()
	hash, err := bcrypt.GenerateFromPassword([]byte("enchantress"), bcrypt.MinCost) // cheap to try
	require.NoError(t, err)
	options.Passwords.set("ada", hash)
	b := serveWith(t, options, nil)
	b.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: trusted}
	b.client.Transport.(*http.Transport).ForceAttemptHTTP2 = true
	return b
}

// login sends a name and a password.
func (b *browser) login(name, password string) (*http.Response, string) {
	b.t.Helper()
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	return b.do(http.MethodPost, "/login", form, strings.NewReader(url.Values{"name": {name}, "password": {password}}.Encode()))
}

func TestAPasswordOpensASession(t *testing.T) {
	t.Parallel()
	b := serveOpenly(t)
	response, body := b.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	require.Equal(t, 2, response.ProtoMajor, "streams need no connection each")
	require.Contains(t, body, `name="password"`)
	require.NotContains(t, body, "<h1>Targets</h1>")

	for _, wrong := range [][2]string{{"ada", "wrong"}, {"bob", "enchantress"}, {"", ""}} {
		response, body = b.login(wrong[0], wrong[1])
		require.Equal(t, http.StatusUnauthorized, response.StatusCode)
		require.Contains(t, body, "Wrong name or password.")
		require.Empty(t, response.Cookies())
	}
	response, _ = b.login("ada", "enchantress")
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
	cookie := response.Cookies()[0]
	require.True(t, cookie.Secure)
	require.True(t, strings.HasPrefix(cookie.Name, "__Host-"))
	require.Contains(t, b.get("/"), "<h1>Targets</h1>")
}

func TestGuessingPasswordsIsSlow(t *testing.T) {
	t.Parallel()
	b := serveOpenly(t)
	now := time.Now()
	b.server.access.now = func() time.Time { return now }
	for range 2 * maxTries { // right ones do not count
		response, _ := b.login("ada", "enchantress")
		require.Equal(t, http.StatusSeeOther, response.StatusCode)
	}
	for range maxTries {
		response, _ := b.login("ada", "guess")
		require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	}
	response, body := b.login("ada", "enchantress")
	require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	entered, _ := b.do(http.MethodGet, b.start(), nil, nil)
	require.Equal(t, http.StatusSeeOther, entered.StatusCode, "the token always works")
	require.NotEmpty(t, response.Header.Get("Retry-After"))
	require.Contains(t, body, "Too many wrong passwords")

	now = now.Add(tryPeriod)
	response, _ = b.login("ada", "enchantress")
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
}

func TestGuessingFromManyAddressesIsSlow(t *testing.T) {
	t.Parallel()
	all := newTries(time.Now)
	allowed := 0
	for range maxTries {
		for address := range 1000 {
			request := &http.Request{RemoteAddr: (&net.TCPAddr{IP: net.IPv4(10, 0, byte(address>>8), byte(address)), Port: 1}).String()}
			if right, _ := all.count(networkOf(request)); right != nil {
				allowed++
			}
		}
	}
	require.Equal(t, 1000, allowed, "one each")
	right, _ := all.count("192.0.2.1")
	require.NotNil(t, right, "others are not locked out")
	one := &http.Request{RemoteAddr: "[2001:db8::1]:1"}
	other := &http.Request{RemoteAddr: "[2001:db8::2%eth0]:2"}
	require.Equal(t, networkOf(one), networkOf(other), "one host may have many addresses of one network")
}

func TestOnlyNamesOfTheCertificateAreTheServers(t *testing.T) {
	t.Parallel()
	b := serveOpenly(t)
	for host, status := range map[string]int{
		"cluster.example": http.StatusUnauthorized, "cluster.example:8443": http.StatusUnauthorized, "localhost": http.StatusUnauthorized,
		"evil.example": http.StatusMisdirectedRequest, "cluster.example.evil.example": http.StatusMisdirectedRequest,
	} {
		response, _ := b.do(http.MethodGet, "/", http.Header{"Host": {host}}, nil)
		require.Equal(t, status, response.StatusCode, host)
	}
}

func TestPasswordFilesThatAreNotSafeAreRefused(t *testing.T) {
	t.Parallel()
	const line = "ada:$2a$10$MBRgJs4uhwo6O8j0fEwS7ezqM8Qf1WccEgLZvVrctS5NNNWZZT6OG"
	weak, err := bcrypt.GenerateFromPassword([]byte("enchantress"), bcrypt.MinCost)
	require.NoError(t, err)

	for name, try := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"open to others": {line, 0o640, "chmod 600"},
		"no line":        {"# nobody\n", 0o600, "has no line NAME:HASH"},
		"no hash":        {"ada\n", 0o600, ":1: the line is not NAME:HASH"},
		"a password":     {"ada:secret-in-clear\n", 0o600, "is not a bcrypt hash"},
		"a weak hash":    {"ada:" + string(weak), 0o600, "has cost 4"},
		"a name twice":   {line + "\n" + line, 0o600, ":2: duplicate name \"ada\""},
		"no name":        {line[3:], 0o600, "invalid name"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "passwords")
			require.NoError(t, os.WriteFile(path, []byte(try.text), 0o600))
			require.NoError(t, os.Chmod(path, try.mode))
			_, err := ReadPasswords(path)
			require.ErrorContains(t, err, try.want)
			require.NotContains(t, err.Error(), "secret-in-clear")
		})
	}
	_, err = ReadPasswords(t.TempDir())
	require.ErrorContains(t, err, "not a regular file")
}

func TestHashedPasswordsOpenTheFile(t *testing.T) {
	t.Parallel()
	_, err := hashPassword("ada", "short", usualCost)
	require.ErrorContains(t, err, "too short")
	_, err = hashPassword("a:b", "long enough", usualCost)
	require.ErrorContains(t, err, "invalid name")
	line, err := hashPassword("ada", "long enough", minCost)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "passwords")
	require.NoError(t, os.WriteFile(path, []byte("# who may\n\n"+line+"\n"), 0o600))
	passwords, err := ReadPasswords(path)
	require.NoError(t, err)
	require.True(t, passwords.match("ada", "long enough"))

	hash, err := bcrypt.GenerateFromPassword([]byte("long enough"), bcrypt.MinCost) // cheap to try
	require.NoError(t, err)
	passwords.set("ada", hash)
	require.True(t, passwords.match("ada", "long enough"))
	require.False(t, passwords.match("ada", "long enougH"))
	require.False(t, passwords.match("nobody", "long enough"))
}
