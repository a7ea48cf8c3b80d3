package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/webtest"
)

// No request brings the server down or is its own fault, whatever it says.
func FuzzRequestsOfTheAPI(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/managers", ""}, {"POST", "/managers", `{"name":"x","definition":"local"}`}, {"PUT", "/managers/x", `{"definition":"../x","transport":"ssh"}`},
		{"GET", "/jobs?manager=&sort=-started&page=2&size=7&text=%00", ""}, {"GET", "/managers/big/jobs/..%2F%00", ""}, {"GET", "/managers/big/jobs/1/output?offset=-1", ""},
		{"POST", "/managers/big/jobs", `{"executable":"x","attributes":{"a":[1,"b",true]},"tag":"4f1c2a7e-5b0f-4a8e-9c1d-2f6d1e0b7a33"}`},
		{"POST", "/managers/big/form", `{"edits":[{"id":"1","text":"x","checked":true}]}`}, {"PUT", "/launch-configurations/a%2Fb", `{"executable":"x","arguments":["\u0000"]}`},
		{"PUT", "/launch-configurations/x", `{"attributes":{"":""},"environment":{"=":"\n"}}`}, {"DELETE", "/launch-configurations/%2e%2e", ""}, {"GET", "/events?after=9", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	options := testPlatform(f)
	webtest.DefineAttributes(f, options.Platform.Model())
	server := options.server(f)
	f.Cleanup(func() { require.NoError(f, server.Close()) })
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if strings.HasSuffix(path, "/start") { // which begins sessions
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // which ends streams
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, method, "http://localhost"+answer.APIPath+path, strings.NewReader(body))
		if err != nil {
			return // nor can it be sent
		}
		request.Header.Set("Authorization", "Bearer "+server.access.token)
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, request)
		require.NotEqual(t, http.StatusInternalServerError, answer.Code, answer.Body.String())
	})
}
