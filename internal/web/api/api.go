// Package api is the API in JSON that openapi.yaml describes, and its client.
package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/document"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/jobstore"
)

// longRequest bounds what runs commands of a scheduler before it answers.
const longRequest = 10 * time.Minute

//go:embed openapi.yaml
var apiDescription []byte

// Options say which targets and files the API answers for.
type Options struct {
	Platform  *views.Views
	Store     *jobstore.Store
	Folder    string // of the saved submissions
	Ledger    *listing.Ledger
	Ensembles Ensembles // nil to have none
	Log       *slog.Logger
}

// An API answers requests of programs; openapi.yaml describes it.
type API struct {
	Options

	journal  journal
	handlers map[string]answer.Handler
}

// New returns the API.
func New(options Options) *API {
	a := &API{Options: options, handlers: map[string]answer.Handler{}}
	a.handle("GET /openapi.yaml", func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Type", "application/yaml")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(apiDescription))
		return nil
	})
	a.addManagersAPI()
	a.addListingsAPI()
	a.addJobsAPI()
	a.addLaunchAPI()
	a.addEnsemblesAPI()
	a.handle("GET /events", a.journalEvents)
	return a
}

// handle adds a handler for a method and a path below that of the API.
func (a *API) handle(pattern string, h answer.Handler) {
	method, path, _ := strings.Cut(pattern, " ")
	a.handlers[method+" "+answer.APIPath+path] = h
}

// Handlers returns what answers requests, by pattern of http.ServeMux.
func (a *API) Handlers() map[string]answer.Handler { return a.handlers }

// read decodes the JSON object in a request. Unknown members are errors.
func read(r *http.Request, into any) error {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return answer.Errorf(http.StatusUnsupportedMediaType, "send application/json, not %q", kind)
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	err := decoder.Decode(into)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case errors.Is(err, io.EOF):
		return answer.Errorf(http.StatusBadRequest, "the request contains no JSON object")
	case err != nil:
		return answer.Errorf(http.StatusBadRequest, "invalid JSON object: %w", err)
	case decoder.More():
		return answer.Errorf(http.StatusBadRequest, "the request contains more than one JSON object")
	}
	return nil
}

// readTable returns the JSON object in a request as a table of its keys.
func readTable(r *http.Request) (*document.Table, error) {
	var object json.RawMessage
	if err := read(r, &object); err != nil {
		return nil, err
	}
	table, err := document.ParseJSON(object)
	if err != nil {
		return nil, answer.Errorf(http.StatusBadRequest, "invalid JSON object: %w", err)
	}
	return table, nil
}
