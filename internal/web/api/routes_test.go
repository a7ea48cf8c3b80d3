package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
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
	mux := http.NewServeMux()
	api := New(mux, Options{})
	slices.Sort(api.routes)
	require.Equal(t, api.routes, has)
	served := httptest.NewRecorder()
	mux.ServeHTTP(served, httptest.NewRequest(http.MethodGet, Path+"/openapi.yaml", nil))
	require.Equal(t, string(apiDescription), served.Body.String())
}

func TestNoMoreStreamsOfEventsThanAllowedAreServed(t *testing.T) {
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	mux := http.NewServeMux()
	api := New(mux, Options{Store: store, Log: slog.New(slog.DiscardHandler), Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
		var refused *answer.Error
		require.ErrorAs(t, err, &refused)
		http.Error(w, err.Error(), refused.Status)
	}})
	for range maxFollowers {
		_, err := api.journal.follow()
		require.NoError(t, err)
	}
	recorder := httptest.NewRecorder()
	mux.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, Path+"/events", nil))
	require.Equal(t, http.StatusServiceUnavailable, recorder.Code)
	require.Contains(t, recorder.Body.String(), "close some")
}
