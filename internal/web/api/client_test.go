package api

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

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
		m := toManagerJSON(views.Manager{Target: target, State: vocabulary.StateStarted}, model.New().Snapshot())
		m.Listings = listings
		return m
	}
	stopped, elsewhere := started(good), started(good)
	stopped.State = vocabulary.StateError
	elsewhere.Host = "other.example.org"
	for name, try := range map[string]struct {
		reported managerJSON
		want     bool
	}{
		"good": {started(other, good), true}, "failed": {started(failed), false}, "due": {started(due), false}, "old": {started(old), false}, "of another kind": {started(other), false},
		"none": {started(), false}, "in ERROR": {stopped, false}, "of another host": {elsewhere, false},
	} {
		_, isGood := try.reported.current(target, model.Queue, now)
		require.Equal(t, try.want, isGood, name)
	}
}

// Whatever listens at the socket, the client can query the scheduler instead.
func TestAServerOfAnotherVersionReturnsNoJobs(t *testing.T) {
	target := settings.Target{Name: "site", Definition: "slurm", Transport: "local"}
	now := time.Now()
	reported := toManagerJSON(views.Manager{Target: target, State: vocabulary.StateStarted}, model.New().Snapshot())
	reported.Listings = []listingJSON{{Kind: "job", At: now.Format(time.RFC3339Nano), Next: now.Add(time.Hour).Format(time.RFC3339Nano)}}
	answers := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/jobs") {
				w.Header().Set("Content-Type", "application/json")
				if err := json.NewEncoder(w).Encode(reported); err != nil {
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
			require.Equal(t, answerTimeout, client.timeout)
			if strings.Contains(name, "hangs") {
				client.timeout = 50 * time.Millisecond
			}
			jobs, _, _, err := client.Jobs(t.Context(), target)
			require.Error(t, err)
			require.Empty(t, jobs)
			require.Less(t, len(err.Error()), 1000)
		})
	}
}
