package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/rmctl/rmctl/internal/daemon"
)

// A servedRun is a run of rmctl serve.
type servedRun struct {
	address  *url.URL // the start address
	stop     func()   // interrupts it
	code     int      // once it has ended
	messages bytes.Buffer
}

// runServe runs rmctl serve with flags until the test ends.
func runServe(t *testing.T, flags ...string) *servedRun {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_CONFIG_HOME": filepath.Join(home, "config"), "RMCTL_BACKGROUND": "off"} {
		t.Setenv(name, value)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	s := &servedRun{}
	out, printed := io.Pipe()
	var running sync.WaitGroup
	running.Go(func() {
		s.code = execute(ctx, append([]string{"serve"}, flags...), strings.NewReader(""), printed, &s.messages)
		_ = printed.Close() // never fails
	})
	s.stop = func() {
		interrupt()
		running.Wait()
	}
	t.Cleanup(s.stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.stop()
		require.NoError(t, err, s.messages.String())
	}
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{") {
		var reported struct{ URL string }
		require.NoError(t, json.Unmarshal([]byte(line), &reported))
		line = reported.URL
	}
	s.address, err = url.Parse(line)
	require.NoError(t, err)
	return s
}

// ask sends a request for a path to a server, with the token of its start address.
func (s *servedRun) ask(t *testing.T, client *http.Client, path string) (int, string) {
	t.Helper()
	address := url.URL{Scheme: s.address.Scheme, Host: s.address.Host, Path: path}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address.String(), nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.address.Query().Get("token"))
	response, err := client.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, string(body)
}

func TestServePrintsItsURLAndEndsWhenInterrupted(t *testing.T) {
	s := runServe(t, "--json")
	require.Equal(t, "127.0.0.1", s.address.Hostname())
	client := &http.Client{Transport: &http.Transport{}}
	sockets, err := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "rmctl", "serve-*", "socket"))
	require.NoError(t, err)
	if len(sockets) == 1 { // otherwise the path was too long, which the tests of the background process cover
		info, err := os.Stat(sockets[0])
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}
	status, body := s.ask(t, client, "/api/v1/managers/local")
	require.Equal(t, http.StatusOK, status, body)
	require.Regexp(t, `"state":"START(ING|ED)"`, body, "the default target is started")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address.Host+"/api/v1/events", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.address.Query().Get("token"))
	stream, err := client.Do(request)
	require.NoError(t, err)
	s.stop()
	require.Equal(t, exitDone, s.code, s.messages.String())
	_, err = io.ReadAll(stream.Body)
	require.NoError(t, err, "streams are ended, not cut off")
	require.NoError(t, stream.Body.Close())
	_, err = client.Get(s.address.String())
	require.Error(t, err)
	require.NotContains(t, s.messages.String(), s.address.Query().Get("token"))
}

// certificateFiles writes a certificate for loopback and its key.
func certificateFiles(t *testing.T) (certificate, key string, trusted *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	folder := t.TempDir()
	certificate, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(certificate, text, 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600))
	trusted = x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(text))
	return certificate, key, trusted
}

func TestServingOthersNeedsTLSAndPasswords(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	certificate, key, trusted := certificateFiles(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("enchantress"), 10)
	require.NoError(t, err)
	passwords := filepath.Join(t.TempDir(), "passwords")
	require.NoError(t, os.WriteFile(passwords, []byte("ada:"+string(hash)+"\n"), 0o600))

	for _, flags := range [][]string{
		{"--listen", "0.0.0.0:0"}, {"--listen", "[::]:0"}, {"--listen", ":0"}, {"--listen", "example.org:0"}, {"--listen", "192.0.2.1:0"},
		{"--listen", ":0", "--tls-cert", certificate, "--tls-key", key}, {"--listen", ":0", "--password-file", passwords},
		{"--tls-cert", certificate}, {"--listen", "nowhere"}, {"--tls-cert", key, "--tls-key", key}, {"--password-file", certificate},
	} {
		var out, messages bytes.Buffer
		code := execute(t.Context(), append([]string{"serve"}, flags...), strings.NewReader(""), &out, &messages)
		require.Equal(t, exitUsage, code, "%v: %s", flags, messages.String())
		require.Empty(t, out.String())
	}

	for _, half := range []serving{{listen: "0.0.0.0:0", passwords: passwords}, {listen: "0.0.0.0:0", certificate: certificate}} {
		_, err := half.listener(t.Context())
		require.ErrorContains(t, err, "others can reach", "nor where the name localhost leads there")
	}

	s := runServe(t, "--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key, "--password-file", passwords)
	require.Equal(t, "https", s.address.Scheme)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	defer client.CloseIdleConnections()
	status, _ := s.ask(t, client, "/")
	require.Equal(t, http.StatusOK, status)
	response, err := client.Get("https://" + s.address.Host + "/")
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Contains(t, string(body), `name="password"`)
}

func TestTheSocketOfTheServerIsPrivate(t *testing.T) {
	folder, err := os.MkdirTemp("", "rmctl") // short enough for a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	path := filepath.Join(folder, "socket")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	var out, messages bytes.Buffer
	t.Setenv("HOME", folder)
	require.Equal(t, exitFailed, execute(t.Context(), []string{"serve", "--listen", "unix:" + path}, strings.NewReader(""), &out, &messages))
	require.Contains(t, messages.String(), "not a socket")
	require.FileExists(t, path)
	require.NoError(t, os.Remove(path))

	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	require.NoError(t, err)
	listener.SetUnlinkOnClose(false) // as if its process had died
	require.NoError(t, listener.Close())

	s := runServe(t, "--listen", "unix:"+path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	defer client.CloseIdleConnections()
	status, _ := s.ask(t, client, "/")
	require.Equal(t, http.StatusOK, status)
	response, err := client.Get("http://localhost/")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusUnauthorized, response.StatusCode, "at the near end of a tunnel, others can knock")
	s.stop()
	require.NoFileExists(t, path)
}

func TestListingsOfARunningServerArePrinted(t *testing.T) {
	s := runServe(t, "--json")
	defer s.stop() // before the environment is another one
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	require.Eventually(t, func() bool {
		_, body := s.ask(t, client, "/api/v1/managers/local")
		var m struct {
			Listings []struct{ Kind, At string }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &m))
		listed := map[string]bool{}
		for _, listing := range m.Listings {
			listed[listing.Kind] = listing.At != ""
		}
		return listed["queue"] && listed["node"]
	}, time.Minute, 20*time.Millisecond)

	list := func(arguments ...string) (string, string) {
		var out, messages bytes.Buffer
		require.Equal(t, exitDone, execute(t.Context(), arguments, strings.NewReader(""), &out, &messages), messages.String())
		var reported map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &reported), out.String())
		seen, _ := reported["seen"].(string)
		for _, changing := range []string{"listed", "seen", "load", "cpusUsed"} {
			delete(reported, changing)
		}
		text, err := json.Marshal(reported)
		require.NoError(t, err)
		return string(text), seen
	}
	// fromServer lists until the server has a listing that is not due for a refresh.
	fromServer := func(arguments ...string) string {
		for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
			if text, seen := list(arguments...); seen != "" {
				return text
			}
		}
		require.Fail(t, "it does not come from the server", "rmctl %v", arguments)
		return ""
	}
	for _, kind := range []string{"queues", "nodes"} {
		served := fromServer(kind, "--json")
		_, ofAnother := list(kind, "--json", "--state-dir", t.TempDir())
		require.Empty(t, ofAnother, "the server of another state folder is not asked")
		asked := fromServer(kind, "--json", "--config-dir", configured(t, "[targets.local]\ndefinition = 'local'\n[targets.local.attributes]\nname = 'x'\n"))
		require.Equal(t, served, asked, "values for submissions do not matter to listings")
		_, seen := list(kind, "--json", "--config-dir", configured(t, "default = 'own'\n[targets.own]\ndefinition = 'local'\n"))
		require.Empty(t, seen, "the server has no such target")
	}
	served, _ := list("queues", "--json")
	s.stop()
	asked, seen := list("queues", "--json")
	require.Empty(t, seen, "no server runs")
	require.Equal(t, asked, served)
}

func TestEveryoneUsesTheListingOfARunningServer(t *testing.T) {
	folder := configured(t, "default = 'site'\n[targets.site]\ndefinition = 'site.xml'\n")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "site.xml"), []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site">
		<control-data><submit-batch name="submit"><arg>true</arg></submit-batch></control-data>
		<monitor-data schedulerType="SITE"><x:list-jobs name="jobs" x:interval="1h">
			<arg resolve="false">sh -c 'echo asked >>"$0"; printf "12 eve RUNNING a \033[2Jname\nwho knows\n7 bob SUSPENDED late\n"' `+folder+`/asked</arg>
			<stdout-parser delim="\n"><target><match><expression>(\d+) (\S+) (\w+) (.*)</expression><set field="name"><entry valueGroup="1"/></set>
			<put field="value"><entry key="owner" valueGroup="2"/><entry key="state" valueGroup="3"/><entry key="name" valueGroup="4"/></put></match></target></stdout-parser>
		</x:list-jobs></monitor-data></resource-manager-builder>`), 0o600))
	asked := func() int {
		text, err := os.ReadFile(filepath.Join(folder, "asked"))
		require.NoError(t, err)
		return strings.Count(string(text), "asked")
	}
	s := runServe(t, "--config-dir", folder)
	defer s.stop() // before the environment is another one
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	require.Eventually(t, func() bool {
		status, _ := s.ask(t, client, "/api/v1/managers/site/jobs")
		_, reported := s.ask(t, client, "/api/v1/managers/site")
		var m struct {
			Listings []struct{ Kind, At string }
		}
		require.NoError(t, json.Unmarshal([]byte(reported), &m))
		return status == http.StatusOK && slices.ContainsFunc(m.Listings, func(l struct{ Kind, At string }) bool { return l.Kind == "job" && l.At != "" })
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, 1, asked())

	list := func(flags ...string) (out, messages bytes.Buffer) {
		arguments := append([]string{"jobs", "--everyone", "--config-dir", folder}, flags...)
		require.Equal(t, exitDone, execute(t.Context(), arguments, strings.NewReader(""), &out, &messages), messages.String())
		return out, messages
	}
	text, warning := list()
	jsonText, _ := list("--json")
	require.Equal(t, 1, asked(), "the scheduler is not asked again")
	require.Contains(t, jsonText.String(), `"listed":"`)

	// Views go on from what the server has listed.
	watching, stop := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	var running sync.WaitGroup
	running.Go(func() {
		_ = execute(watching, []string{"jobs", "--everyone", "--watch", "--config-dir", folder}, strings.NewReader(""), out, io.Discard) // it is interrupted
		_ = out.Close()                                                                                                                  // never fails
	})
	first := make([]byte, len("2006-01-02 15:04:05  jobs of site\n")+text.Len())
	_, err := io.ReadFull(printed, first)
	require.NoError(t, err)
	require.Equal(t, text.String(), string(first[len(first)-text.Len():]))
	stop()
	_, err = io.Copy(io.Discard, printed)
	require.NoError(t, err)
	running.Wait()
	require.Equal(t, 1, asked())

	s.stop()
	own, ownWarning := list()
	require.Equal(t, 2, asked())
	require.Equal(t, own.String(), text.String())
	require.Equal(t, ownWarning.String(), warning.String())
	require.Contains(t, warning.String(), "1 line not understood")
	ownJSON, _ := list("--json")
	require.Equal(t, ownJSON.String(), regexp.MustCompile(`,"(listed|seen)":"[^"]*"`).ReplaceAllString(jsonText.String(), ""))

	// Something else than a server is where its socket was.
	place, err := (&app{}).serverFolder()
	require.NoError(t, err)
	socket := daemon.SocketPath(place)
	require.NoError(t, os.MkdirAll(filepath.Dir(socket), 0o700))
	require.NoError(t, os.WriteFile(socket, []byte("no socket"), 0o600))
	again, messages := list()
	require.Equal(t, own.String(), again.String())
	require.Equal(t, ownWarning.String(), messages.String(), "without a word")
	require.NoError(t, os.Remove(socket))
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	strange := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!DOCTYPE html><p>hello")) // the client may have left
	}), ReadHeaderTimeout: time.Minute}
	running.Go(func() { _ = strange.Serve(listener) }) // until it is closed
	again, messages = list()
	require.NoError(t, strange.Close())
	running.Wait()
	require.Equal(t, own.String(), again.String())
	require.Equal(t, ownWarning.String(), messages.String(), "without a word")
	require.Equal(t, 5, asked())
}

// configured returns a configuration folder with a targets file.
func configured(t *testing.T, targets string) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "targets.toml"), []byte(targets), 0o600))
	return folder
}
