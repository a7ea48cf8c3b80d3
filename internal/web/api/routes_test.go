package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/jobstore"
)

func TestTheDescriptionHasEachRouteOfTheAPIAndNoOther(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(apiDescription)
	require.NoError(t, err)
	var has []string
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			has = append(has, method+" "+path)
		}
	}
	slices.Sort(has)
	var routes []string
	handlers := New(Options{}).Handlers()
	for pattern := range handlers {
		routes = append(routes, strings.Replace(pattern, answer.APIPath, "", 1))
	}
	slices.Sort(routes)
	require.Equal(t, routes, has)
	served := httptest.NewRecorder()
	require.NoError(t, handlers["GET /api/v1/openapi.yaml"](served, httptest.NewRequest(http.MethodGet, answer.APIPath+"/openapi.yaml", nil)))
	require.Equal(t, string(apiDescription), served.Body.String())
}

func TestNoMoreStreamsOfEventsThanAllowedAreServed(t *testing.T) {
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	api := New(Options{Store: store, Log: slog.New(slog.DiscardHandler)})
	api.journal.streams.Store(maxStreams)
	err = api.journalEvents(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, answer.APIPath+"/events", nil))
	var refused *answer.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.ErrorContains(t, err, "close some")
}
