package webtest

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Received is an event as a client got it.
type Received struct {
	ID, Kind, Data string
}

// A receivedPatch is what an event says of a region.
type receivedPatch struct {
	ID    string
	HTML  *string
	Order []string
	Items map[string]string
}

// Patches returns what an event says of each region.
func (e Received) Patches(t testing.TB) []receivedPatch {
	t.Helper()
	require.Equal(t, "patch", e.Kind)
	var all []receivedPatch
	require.NoError(t, json.Unmarshal([]byte(e.Data), &all))
	return all
}

// OpenEvents opens a stream of events.
func OpenEvents(t testing.TB, client *http.Client, address string, header http.Header) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	t.Cleanup(func() { require.NoError(t, response.Body.Close()) })
	return response
}

// ListenTo opens a stream of events; next waits for one.
func ListenTo(t testing.TB, client *http.Client, address string, header http.Header) (next func() Received) {
	t.Helper()
	response := OpenEvents(t, client, address, header)
	lines := bufio.NewReader(response.Body)
	return func() Received {
		t.Helper()
		var e Received
		for {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				e.ID = value
			case "event":
				e.Kind = value
			case "data":
				e.Data = value
			case "":
				if e.Kind != "" {
					return e
				}
			}
		}
	}
}
