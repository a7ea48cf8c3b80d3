package web

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// serveOwn lets a server answer at a private socket, and returns where that is.
func serveOwn(t *testing.T, server *Server) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "rmctl") // short enough for a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	socket := filepath.Join(folder, "socket")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	serveLocally(t, server, listener)
	return socket
}

func serveLocally(t *testing.T, server *Server, listener net.Listener) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- server.ServeLocal(t.Context(), listener) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.NoError(t, <-ended)
	})
}

func TestTheOwnSocketIsForTheAPIAndNotForBrowsers(t *testing.T) {
	server, err := New(testPlatform(t))
	require.NoError(t, err)
	socket := serveOwn(t, server)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	b := &browser{t: t, server: server, base: "http://rmctl", client: client}
	require.Contains(t, b.get(apiPath+"/managers"), `"managers":[]`)
	response, body := b.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, http.StatusForbidden, response.StatusCode)
	require.Contains(t, body, "this socket is for the API")
	for header, value := range map[string]string{"Origin": "http://localhost", "Sec-Fetch-Site": "none", "Cookie": "x=y", "Referer": "http://localhost/"} {
		response, _ := b.do(http.MethodGet, apiPath+"/managers", http.Header{header: {value}}, nil)
		require.Equal(t, http.StatusForbidden, response.StatusCode, header)
	}
}

func TestWhoCannotBeToldToBeThisUserIsNotServedWithoutAToken(t *testing.T) {
	server, err := New(testPlatform(t))
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serveLocally(t, server, listener)
	_, err = http.Get("http://" + listener.Addr().String() + apiPath + "/managers")
	require.Error(t, err)
}

func TestListingsAreTakenFromAServerOnlyWhileTheyAreAsGoodAsNew(t *testing.T) {
	now := time.Now()
	good := listingJSON{Kind: "queue", At: now.Add(-time.Second).Format(time.RFC3339Nano), Next: now.Add(time.Minute).Format(time.RFC3339Nano)}
	failed, due, other, old := good, good, good, good
	old.At = now.Add(-oldestListing - time.Second).Format(time.RFC3339Nano)
	failed.Error = "no answer"
	due.Next = now.Add(-time.Millisecond).Format(time.RFC3339Nano)
	other.Kind = "node"
	target := settings.Target{Name: "big", Definition: "slurm", Transport: "ssh", Host: "login.example.org"}
	started := func(listings ...listingJSON) managerJSON {
		m := toManagerJSON(views.Manager{Target: target, State: model.StateStarted}, model.New().Snapshot())
		m.Listings = listings
		return m
	}
	stopped, elsewhere := started(good), started(good)
	stopped.State = string(model.StateError)
	elsewhere.Host = "other.example.org"
	for name, try := range map[string]struct {
		told managerJSON
		want bool
	}{
		"good": {started(other, good), true}, "failed": {started(failed), false}, "due": {started(due), false}, "old": {started(old), false}, "of another kind": {started(other), false},
		"none": {started(), false}, "in ERROR": {stopped, false}, "of another host": {elsewhere, false},
	} {
		_, isGood := try.told.current(target, model.Queue, now)
		require.Equal(t, try.want, isGood, name)
	}
}

// siteOf writes a definition whose jobs are the lines of a file, and makes it a target.
func siteOf(t *testing.T, options Options, lines string) settings.Target {
	t.Helper()
	jobs, file := filepath.Join(options.Folder, "jobs"), filepath.Join(options.Folder, "site.xml")
	require.NoError(t, os.WriteFile(jobs, []byte(lines), 0o600))
	require.NoError(t, os.WriteFile(file, []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site">
		<control-data><submit-batch name="submit"><arg>true</arg></submit-batch></control-data>
		<monitor-data schedulerType="SITE"><x:list-jobs name="jobs" x:interval="1h"><arg>cat</arg><arg>`+jobs+`</arg>
			<stdout-parser delim="\n"><target><match><expression>(\d+) (\S+) (\w+) (.*)</expression><set field="name"><entry valueGroup="1"/></set>
			<put field="value"><entry key="owner" valueGroup="2"/><entry key="state" valueGroup="3"/><entry key="name" valueGroup="4"/></put></match></target></stdout-parser>
		</x:list-jobs></monitor-data></resource-manager-builder>`), 0o600))
	target := settings.Target{Name: "site", Definition: file, Transport: "local"}
	require.NoError(t, options.Platform.Add(target))
	return target
}

func TestTheJobsOfEverybodyAreToldAsTheSchedulerListedThem(t *testing.T) {
	options := testPlatform(t)
	target := siteOf(t, options, "12 eve RUNNING <b>a\x1b[2J\nwho knows\n7 bob NO_STATE late\n12 eve SUSPENDED \n")
	b := serveWith(t, options, nil)
	p := b.program()
	status, answer := p.call(http.MethodGet, "/managers/site/jobs", nil)
	require.Equal(t, http.StatusConflict, status, "it is stopped: %v", answer)
	p.start("site")
	require.Eventually(t, func() bool {
		status, answer = p.call(http.MethodGet, "/managers/site/jobs", nil)
		return status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, []any{
		map[string]any{"id": "12", "target": "site", "owner": "eve", "state": "SUSPENDED", "detail": "SUSPENDED", "name": "<b>a\x1b[2J"},
		map[string]any{"id": "7", "target": "site", "owner": "bob", "name": "late"},
	}, answer["jobs"])
	require.EqualValues(t, 1, answer["notUnderstood"])
	require.EqualValues(t, 1, answer["again"])

	client := NewClient(serveOwn(t, b.server))
	defer client.Close()
	var jobs []job.Document
	var listed command.Listed
	var at time.Time
	var err error
	require.Eventually(t, func() bool { // the model has it a little later than the file
		jobs, listed, at, err = client.Jobs(t.Context(), target)
		return !errors.Is(err, ErrNoListing)
	}, time.Minute, 20*time.Millisecond)
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	require.Equal(t, 1, listed.NotUnderstood)
	require.Equal(t, answer["listed"], at.Format(time.RFC3339Nano))
	target.Host = "login.example.org"
	_, _, _, err = client.Jobs(t.Context(), target)
	require.ErrorIs(t, err, ErrNoListing, "the server knows another target by this name")

	require.NoError(t, options.Platform.Stop("site"))
	p.await("site", model.StateStopped)
	status, answer = p.call(http.MethodGet, "/managers/site/jobs", nil)
	require.Equal(t, http.StatusConflict, status, "%v", answer)
	status, _ = p.call(http.MethodGet, "/managers/none/jobs", nil)
	require.Equal(t, http.StatusNotFound, status)
}

// Whatever listens at the socket, who asks can ask the scheduler instead.
func TestWhatIsNoServerOfThisVersionTellsNoJobs(t *testing.T) {
	target := settings.Target{Name: "site", Definition: "slurm", Transport: "local"}
	now := time.Now()
	told := toManagerJSON(views.Manager{Target: target, State: model.StateStarted}, model.New().Snapshot())
	told.Listings = []listingJSON{{Kind: "job", At: now.Format(time.RFC3339Nano), Next: now.Add(time.Hour).Format(time.RFC3339Nano)}}
	answers := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/jobs") {
				w.Header().Set("Content-Type", "application/json")
				if err := json.NewEncoder(w).Encode(told); err != nil {
					t.Error(err)
				}
				return
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text)) // the client may have left
		}
	}
	all := func(handler http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			r.URL.Path = "/jobs"
			handler(w, r)
		}
	}
	html := "<!DOCTYPE html>" + strings.Repeat("<p>", 10<<20/3)
	for name, handler := range map[string]http.HandlerFunc{
		"HTML":                             all(answers(http.StatusOK, html)),
		"HTML of an error":                 all(answers(http.StatusBadGateway, html)),
		"HTML instead of jobs":             answers(http.StatusOK, html),
		"nothing":                          answers(http.StatusOK, ""),
		"an older version without jobs":    answers(http.StatusNotFound, `{"error":"the API has no GET","kind":"not-found"}`),
		"10 MB that are no object":         answers(http.StatusOK, "["+strings.Repeat("1,", 5<<20)+"1]"),
		"jobs that are none":               answers(http.StatusOK, `{"listed":"`+now.Add(time.Second).Format(time.RFC3339Nano)+`","jobs":[{"id":7}]}`),
		"jobs of no time":                  answers(http.StatusOK, `{"jobs":[{"id":"7","target":"site"}]}`),
		"jobs of another time":             answers(http.StatusOK, `{"listed":"`+now.Add(-time.Second).Format(time.RFC3339Nano)+`","jobs":[]}`),
		"an answer that ends in the midst": answers(http.StatusOK, `{"listed":"`+now.Add(time.Second).Format(time.RFC3339Nano)+`","jobs":[{"id":"7"},`),
		"one that hangs": func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		},
		"one that hangs within its answer": func(w http.ResponseWriter, r *http.Request) {
			answers(http.StatusOK, `{"jobs":[`)(w, r)
			if strings.HasSuffix(r.URL.Path, "/jobs") {
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(handler)
			folder, err := os.MkdirTemp("", "rmctl") // short enough for a socket
			require.NoError(t, err)
			defer func() { require.NoError(t, os.RemoveAll(folder)) }()
			require.NoError(t, server.Listener.Close())
			server.Listener, err = net.Listen("unix", filepath.Join(folder, "socket"))
			require.NoError(t, err)
			server.Start()
			defer server.Close()
			client := NewClient(filepath.Join(folder, "socket"))
			defer client.Close()
			require.Equal(t, answerTimeout, client.client.Timeout)
			if strings.Contains(name, "hangs") {
				client.client.Timeout = 50 * time.Millisecond
			}
			jobs, _, _, err := client.Jobs(t.Context(), target)
			require.Error(t, err)
			require.Empty(t, jobs)
			require.Less(t, len(err.Error()), 1000)
		})
	}
}
