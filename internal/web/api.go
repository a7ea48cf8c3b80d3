package web

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rmctl/rmctl/job"
)

// apiPath is what the addresses of the API begin with.
const apiPath = "/api/v1"

// longRequest bounds what runs commands of a scheduler before it answers.
const longRequest = 10 * time.Minute

//go:embed openapi.yaml
var apiDescription []byte

// addAPI registers the API; openapi.yaml describes it.
func (s *Server) addAPI() {
	s.api("GET /openapi.yaml", func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Type", "application/yaml")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(apiDescription))
		return nil
	})
	s.addManagersAPI()
	s.addListingsAPI()
	s.addJobsAPI()
	s.addLaunchAPI()
	s.api("GET /events", s.journalEvents)
	s.handle("GET "+apiPath+"/", func(_ http.ResponseWriter, r *http.Request) error {
		return failuref(http.StatusNotFound, "the API has no %s %s; %s/openapi.yaml lists what it has", r.Method, r.URL.Path, apiPath)
	})
}

// api registers a handler for a method and a path below apiPath.
func (s *Server) api(pattern string, h handler) {
	method, path, _ := strings.Cut(pattern, " ")
	s.apiRoutes = append(s.apiRoutes, method+" "+path)
	s.handle(method+" "+apiPath+path, h)
}

// read reads the object that a request brings; what it has that is not known is
// an error.
func read(r *http.Request, into any) error {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return failuref(http.StatusUnsupportedMediaType, "send application/json, not %q", kind)
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
		return failuref(http.StatusBadRequest, "the request has no object")
	case err != nil:
		return failuref(http.StatusBadRequest, "the object of the request: %w", err)
	case decoder.More():
		return failuref(http.StatusBadRequest, "the request has more than one object")
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
		return nil, failuref(http.StatusBadRequest, "the object of the request: %w", err)
	}
	return table, nil
}

// takesLong lifts the limit of a usual answer for one that waits for a scheduler.
func takesLong(w http.ResponseWriter) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(longRequest))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("give the answer time: %w", err)
	}
	return nil
}
