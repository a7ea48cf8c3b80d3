package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/job"
)

func TestProgramsGetJSONWhereNoRouteMatches(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	token := http.Header{"Authorization": {"bearer  " + b.server.access.token}} // the scheme is case-insensitive
	for request, want := range map[[2]string]int{
		{"DELETE", "/managers/local/jobs/1"}: http.StatusMethodNotAllowed,
		{"PUT", "/managers/local/jobs"}:      http.StatusMethodNotAllowed,
		{"GET", "/nothing"}:                  http.StatusNotFound,
		{"POST", "/nothing"}:                 http.StatusNotFound,
	} {
		response, body := b.do(request[0], answer.APIPath+request[1], token, nil)
		require.Equal(t, want, response.StatusCode, request)
		require.Equal(t, "application/json", response.Header.Get("Content-Type"), request)
		var failed answer.Failure
		require.NoError(t, json.Unmarshal([]byte(body), &failed), body)
		require.NotEmpty(t, failed.Error)
		require.Equal(t, want == http.StatusMethodNotAllowed, response.Header.Get("Allow") != "", request)
	}
	response, body := b.do(http.MethodPost, "/jobs", http.Header{"X-Csrf-Token": {b.csrf()}}, nil)
	require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)
	require.Contains(t, body, "<h1>Method Not Allowed</h1>")
}

func TestAnIDThatNoSchedulerGivesIsNotFound(t *testing.T) {
	t.Parallel()
	p := serve(t, nil).program()
	p.start("local")
	for _, path := range []string{"", "/output", "/history"} {
		status, answer := p.call(http.MethodGet, "/managers/local/jobs/%00"+path, nil)
		require.Equal(t, http.StatusNotFound, status, "%v", answer)
	}
	status, _ := p.call(http.MethodPost, "/managers/local/jobs/1%0a2/cancel", nil)
	require.Equal(t, http.StatusNotFound, status)
}

// queueing is a scheduler whose job 7 is in the state of the file "state"; it writes to the file "out".
const queueing = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="queueing"><control-data>
	<attribute name="stdout_remote_path" visible="false"><default>DESK/out</default></attribute>
	<submit-batch name="submit" waitForId="true"><arg>sh -c</arg><arg resolve="false">'test ! -p DESK/wait || cat DESK/wait; echo job 7'</arg><stdout-parser delim="\n"><target ref="@jobId">
		<match><expression>job (\d+)</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser></submit-batch>
	<get-job-status name="status"><arg>cat</arg><arg>DESK/state-of-job</arg><x:read><x:table columns="id word"/><x:states of="word">
		<x:state is="CANCELED" words="CA"/><x:state is="QUEUED_ACTIVE" words="PD"/></x:states></x:read></get-job-status>
	<hold-job name="hold"><arg>true</arg></hold-job>
	<monitor-data/></control-data></resource-manager-builder>`

func TestTheOutputOfAJobThatNeverRanIsNotFound(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"here": queueing})
	state := filepath.Join(d.folder, "state-of-job")
	require.NoError(t, os.WriteFile(state, []byte("7 CA\n"), 0o600))
	_, err := d.platform.Submit(t.Context(), "here", job.Submission{Executable: "x"})
	require.NoError(t, err)
	p := d.program()
	for _, query := range []string{"", "?follow=true", "?follow=true&stream=stderr"} {
		status, answer := p.call(http.MethodGet, "/managers/here/jobs/7/output"+query, nil)
		require.Equal(t, http.StatusNotFound, status, "%s: %v", query, answer)
		if query != "?follow=true&stream=stderr" { // whose file is unknown
			require.Contains(t, answer["error"], "job 7 is CANCELED and wrote no output")
		}
	}
}

// An interrupt must not cut off a command that submits a job.
func TestTheEndOfTheServerWaitsForASubmission(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"here": queueing})
	waiting := make(chan int, 1)
	server := site{Platform: d.platform, Store: d.store, Folder: d.folder}.server(t)
	server.options.Waiting, server.limits.end = func(requests int) { waiting <- requests }, 700*time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()

	other := &browser{t: t, server: server, base: "http://" + listener.Addr().String(), client: newClient(t)}
	hold := filepath.Join(d.folder, "wait")
	require.NoError(t, syscall.Mkfifo(hold, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(d.folder, "state-of-job"), []byte("7 PD\n"), 0o600))
	submitted := make(chan map[string]any, 1)
	go func() {
		submitted <- other.program().done(http.MethodPost, "/managers/here/jobs", map[string]any{"executable": "x"})
	}()
	writer, err := os.OpenFile(hold, os.O_WRONLY, 0) // returns once the command reads
	require.NoError(t, err)
	interrupt()
	require.Equal(t, 1, <-waiting)
	select {
	case err := <-ended:
		require.Fail(t, "the server did not wait", "%v", err)
	case <-time.After(server.limits.end + server.limits.end/2):
	}
	require.NoError(t, writer.Close())
	require.Equal(t, "7", (<-submitted)["id"])
	require.NoError(t, <-ended)
	require.NoError(t, server.Close())
}
