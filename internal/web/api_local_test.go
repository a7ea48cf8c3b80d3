package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/job"
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
	t.Parallel()
	server := testPlatform(t).server(t)
	socket := serveOwn(t, server)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	b := &browser{t: t, server: server, base: "http://rmctl", client: client}
	require.Contains(t, b.get(answer.APIPath+"/managers"), `"managers":[]`)
	response, body := b.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, http.StatusForbidden, response.StatusCode)
	require.Contains(t, body, "this socket serves only the API")
	for header, value := range map[string]string{"Origin": "http://localhost", "Sec-Fetch-Site": "none", "Cookie": "x=y", "Referer": "http://localhost/"} {
		response, _ := b.do(http.MethodGet, answer.APIPath+"/managers", http.Header{header: {value}}, nil)
		require.Equal(t, http.StatusForbidden, response.StatusCode, header)
	}
}

func TestAnUnidentifiedUserNeedsAToken(t *testing.T) {
	t.Parallel()
	server := testPlatform(t).server(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serveLocally(t, server, listener)
	_, err = http.Get("http://" + listener.Addr().String() + answer.APIPath + "/managers")
	require.Error(t, err)
}

// siteOf writes a definition whose jobs are the lines of a file, and makes it a target.
func siteOf(t *testing.T, options site, lines string) settings.Target {
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

func TestTheJobsOfEverybodyAreShownAsTheSchedulerListedThem(t *testing.T) {
	t.Parallel()
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

	client := api.NewClient(serveOwn(t, b.server))
	var jobs []job.Document
	var listed command.Listed
	var at time.Time
	var err error
	require.Eventually(t, func() bool { // the model has it a little later than the file
		jobs, listed, at, err = client.Jobs(t.Context(), target)
		return !errors.Is(err, api.ErrNoListing)
	}, time.Minute, 20*time.Millisecond)
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	require.Equal(t, 1, listed.NotUnderstood)
	require.Equal(t, answer["listed"], at.Format(time.RFC3339Nano))
	target.Host = "login.example.org"
	_, _, _, err = client.Jobs(t.Context(), target)
	require.ErrorIs(t, err, api.ErrNoListing, "the server knows another target by this name")

	require.NoError(t, options.Platform.Stop("site"))
	p.await("site", vocabulary.StateStopped)
	status, answer = p.call(http.MethodGet, "/managers/site/jobs", nil)
	require.Equal(t, http.StatusConflict, status, "%v", answer)
	status, _ = p.call(http.MethodGet, "/managers/none/jobs", nil)
	require.Equal(t, http.StatusNotFound, status)
}
