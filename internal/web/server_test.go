package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/pages"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// TestMain gives all tests a home of their own, where jobs of the target local are kept.
// Tests that run side by side cannot have one each.
func TestMain(m *testing.M) { os.Exit(inNewHome(m)) }

func inNewHome(m *testing.M) (code int) {
	home, err := os.MkdirTemp("", "rmctl")
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err = errors.Join(err, os.Setenv("HOME", home), os.Unsetenv("XDG_STATE_HOME"), os.Unsetenv("XDG_CONFIG_HOME")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := os.RemoveAll(home); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}

// A browser asks one running server, as somebody who has not opened a session.
type browser struct {
	t      testing.TB
	server *Server
	model  *model.Model // of the server's platform
	base   string       // such as http://127.0.0.1:4711
	client *http.Client
}

// serve runs a server that shows a model until the test ends.
func serve(t *testing.T, fill func(m *model.Model)) *browser {
	t.Helper()
	return serveWith(t, testPlatform(t), fill)
}

// A site is what tests serve.
type site struct {
	Options   // without the parts, which are made of the rest
	Platform  *views.Views
	Store     *jobstore.Store
	Folder    string // of the targets file and the saved submissions
	History   string
	Stacks    pages.StacksReader
	Ensembles *playedEnsembles // nil for none
}

// server returns a server as rmctl serve makes it.
func (s site) server(t testing.TB) *Server {
	t.Helper()
	s.Log = slog.New(slog.DiscardHandler)
	ledger := listing.NewLedger(userName(t))
	shown := pages.Options{Platform: s.Platform, Store: s.Store, Folder: s.Folder, History: s.History, Ledger: ledger, Log: s.Log, Stacks: s.Stacks}
	served := api.Options{Platform: s.Platform, Store: s.Store, Folder: s.Folder, Ledger: ledger, Log: s.Log}
	if s.Ensembles != nil {
		shown.Ensembles, served.Ensembles = s.Ensembles, s.Ensembles
	}
	s.API = api.New(served).Handlers()
	var err error
	s.Pages, err = pages.New(shown)
	require.NoError(t, err)
	server, err := New(s.Options)
	require.NoError(t, err)
	return server
}

func userName(t testing.TB) string {
	t.Helper()
	current, err := user.Current()
	require.NoError(t, err)
	return current.Username
}

// testPlatform returns a site with a platform that has no targets but
// those that the test puts into its model.
func testPlatform(t testing.TB) site {
	t.Helper()
	folder := t.TempDir()
	targets, err := settings.LoadTargets(settings.Folders{User: folder})
	require.NoError(t, err)
	store := newStore(t, filepath.Join(folder, "state"))
	p, err := views.New(views.Options{Targets: targets, Folders: settings.Folders{User: folder}, Show: []string{}, Store: store, KeepListings: true,
		Open: func(_ context.Context, target settings.Target) (*control.Controller, func() error, error) {
			definition, _, err := check.UsableDefinition(target.Definition)
			if err != nil {
				return nil, nil, err
			}
			connection, err := remote.NewLocal()
			if err != nil {
				return nil, nil, err
			}
			return control.New(control.Options{Target: target.Name, Definition: definition, Connection: connection, Store: store}), connection.Close, nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return site{Platform: p, Store: store, Folder: folder}
}

// emptyStore is the database of a store that has nothing yet. To make it takes longer
// than most tests.
var emptyStore = sync.OnceValues(func() (database []byte, err error) {
	folder, err := os.MkdirTemp("", "rmctl")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	store, err := jobstore.Open(context.Background(), folder)
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(folder, "jobs.db"))
})

// newStore opens a store of no jobs in a folder.
func newStore(t testing.TB, folder string) *jobstore.Store {
	t.Helper()
	database, err := emptyStore()
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "jobs.db"), database, 0o600))
	store, err := jobstore.Open(t.Context(), folder)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func serveWith(t *testing.T, options site, fill func(m *model.Model)) *browser {
	t.Helper()
	if fill != nil {
		fill(options.Platform.Model())
	}
	return run(t, options.server(t))
}

// run runs a server until the test ends.
func run(t testing.TB, server *Server) *browser {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(t.Context(), listener) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.NoError(t, <-ended)
	})
	b := &browser{t: t, server: server, base: "http://" + listener.Addr().String(), client: newClient(t)}
	b.model = b.pages().Platform.Model()
	if server.options.TLS != nil {
		b.base = "https://" + listener.Addr().String()
	}
	return b
}

func (b *browser) pages() *pages.Pages { return b.server.options.Pages.(*pages.Pages) }

// newClient returns a client that keeps cookies and follows no redirection. It gives up what takes
// longer than any test, streams included.
func newClient(t testing.TB) *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// other returns a browser of somebody else at the same server.
func (b *browser) other() *browser {
	another := *b
	another.client = newClient(b.t)
	return &another
}

// start returns the address that opens a session.
func (b *browser) start() string { return b.base + "/?token=" + b.server.access.token }

// enter opens a session.
func (b *browser) enter() *browser {
	b.t.Helper()
	response, _ := b.do(http.MethodGet, b.start(), nil, nil)
	require.Equal(b.t, http.StatusSeeOther, response.StatusCode)
	return b
}

// do asks for an address, which may leave out the base, and returns the answer
// with its body.
func (b *browser) do(method, address string, header http.Header, body io.Reader) (*http.Response, string) {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.base + address
	}
	request, err := http.NewRequestWithContext(b.t.Context(), method, address, body)
	require.NoError(b.t, err)
	for name, values := range header {
		request.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		request.Host = host
	}
	response, err := b.client.Do(request)
	require.NoError(b.t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	require.NoError(b.t, response.Body.Close())
	return response, string(text)
}

// get returns the page at an address, which has to be there.
func (b *browser) get(address string) string {
	b.t.Helper()
	response, body := b.do(http.MethodGet, address, nil, nil)
	require.Equal(b.t, http.StatusOK, response.StatusCode, body)
	return body
}

// csrf returns the token that the browser's session sends with changes.
func (b *browser) csrf() string {
	b.t.Helper()
	_, after, found := strings.Cut(b.get("/"), `<meta name="csrf" content="`)
	require.True(b.t, found)
	token, _, _ := strings.Cut(after, `"`)
	return token
}

// post sends a form with the session's token.
func (b *browser) post(address string, fields url.Values) (*http.Response, string) {
	b.t.Helper()
	header := http.Header{"X-Csrf-Token": {b.csrf()}, "Content-Type": {"application/x-www-form-urlencoded"}}
	return b.do(http.MethodPost, address, header, strings.NewReader(fields.Encode()))
}

// Browsers open connections before they know what to ask.
func TestAConnectionOnWhichNothingWasAskedDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	server := testPlatform(t).server(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(t.Context(), listener) }()
	unused, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	response, err := newClient(t).Get("http://" + listener.Addr().String()) // on another connection, which is taken after the first one
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.NoError(t, server.Close())
	require.NoError(t, <-ended)
	_, err = unused.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, unused.Close())
}

func TestStaticFilesAreKeptByBrowsersUntilTheyChange(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	address := regexp.MustCompile(`/static/live\.js\?v=\w+`).FindString(b.get("/"))
	require.NotEmpty(t, address)
	response, body := b.do(http.MethodGet, address, nil, nil)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, body, "EventSource")
	require.Contains(t, response.Header.Get("Cache-Control"), "immutable")

	response, _ = b.do(http.MethodGet, "/static/live.js", nil, nil)
	require.Equal(t, "no-cache", response.Header.Get("Cache-Control"), "an address without the hash may lead to another file tomorrow")
	response, _ = b.do(http.MethodGet, "/static/live.js", http.Header{"If-None-Match": {response.Header.Get("ETag")}}, nil)
	require.Equal(t, http.StatusNotModified, response.StatusCode)

	response, _ = b.do(http.MethodGet, "/static/", nil, nil)
	require.Equal(t, http.StatusNotFound, response.StatusCode, "folders are not listed")
}

func TestAnAddressThatIsNotThereIsAPageThatSaysSo(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	response, body := b.do(http.MethodGet, "/nowhere/<b>", nil, nil)
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	require.Contains(t, body, "no such page: /nowhere/&lt;b&gt;")
}
