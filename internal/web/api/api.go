// Package api is the API in JSON that openapi.yaml describes, and its client.
package api

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Path is what the addresses of the API begin with.
const Path = "/api/v1"

// longRequest bounds what runs commands of a scheduler before it answers.
const longRequest = 10 * time.Minute

//go:embed openapi.yaml
var apiDescription []byte

// Options are what the API answers from.
type Options struct {
	Platform *views.Views
	Store    *jobstore.Store
	Folder   string // of the targets file and the launch configurations
	Ledger   *listing.Ledger
	Log      *slog.Logger
	Fail     answer.Fail
}

// An API answers requests of programs; openapi.yaml describes it.
type API struct {
	Options

	journal *journal
	mux     *http.ServeMux
	routes  []string // methods and paths below Path
}

// New registers the API.
func New(mux *http.ServeMux, options Options) *API {
	a := &API{Options: options, journal: newJournal(options.Store), mux: mux}
	a.handle("GET /openapi.yaml", func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Type", "application/yaml")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(apiDescription))
		return nil
	})
	a.addManagersAPI()
	a.addListingsAPI()
	a.addJobsAPI()
	a.addLaunchAPI()
	a.handle("GET /events", a.journalEvents)
	a.mux.HandleFunc("GET "+Path+"/", func(w http.ResponseWriter, r *http.Request) {
		a.Fail(w, r, answer.Errorf(http.StatusNotFound, "the API has no %s %s; %s/openapi.yaml lists what it has", r.Method, r.URL.Path, Path))
	})
	return a
}

// handle registers a handler for a method and a path below Path.
func (a *API) handle(pattern string, h answer.Handler) {
	a.routes = append(a.routes, pattern)
	method, path, _ := strings.Cut(pattern, " ")
	a.mux.HandleFunc(method+" "+Path+path, h.Or(a.Fail))
}

// Run looks for events of jobs until ctx ends.
func (a *API) Run(ctx context.Context) {
	a.journal.run(ctx, func(err error) { a.Log.Warn("the record of jobs could not be read", "error", err) })
}

// A Failure is what the API answers when it did not do what was asked.
type Failure struct {
	Error   string `json:"error"`
	Kind    string `json:"kind"`
	Tag     string `json:"tag,omitempty"`     // of a submission that failed
	Unknown bool   `json:"unknown,omitempty"` // whether it may have made a job all the same
}

// read reads the object that a request brings; what it has that is not known is
// an error.
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
		return answer.Errorf(http.StatusBadRequest, "the request has no object")
	case err != nil:
		return answer.Errorf(http.StatusBadRequest, "the object of the request: %w", err)
	case decoder.More():
		return answer.Errorf(http.StatusBadRequest, "the request has more than one object")
	}
	return nil
}

// readTable reads the object that a request brings, for a reader of its keys.
func readTable(r *http.Request) (*job.Table, error) {
	var object json.RawMessage
	if err := read(r, &object); err != nil {
		return nil, err
	}
	table, err := job.ParseJSON(object)
	if err != nil {
		return nil, answer.Errorf(http.StatusBadRequest, "the object of the request: %w", err)
	}
	return table, nil
}
