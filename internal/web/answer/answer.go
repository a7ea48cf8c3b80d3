// Package answer is how requests are answered: in JSON, in streams of events, and
// with errors that have a status.
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// APIPath is what the addresses of the API begin with.
const APIPath = "/api/v1"

// A Handler answers one request, or returns an error from which an answer is made.
type Handler func(w http.ResponseWriter, r *http.Request) error

// A Failure is what programs get when a request fails.
type Failure struct {
	Error   string `json:"error"`
	Kind    string `json:"kind"`
	Tag     string `json:"tag,omitempty"`     // of a submission that failed
	Unknown bool   `json:"unknown,omitempty"` // whether it may have made a job all the same
}

// An Error ends a request with a status.
type Error struct {
	Status    int
	IsDefault bool // whether the status is for an error that has no better one
	err       error
}

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Errorf returns an error that ends a request with a status.
func Errorf(status int, format string, arguments ...any) error {
	return &Error{Status: status, err: fmt.Errorf(format, arguments...)}
}

// Otherwise returns an error that ends a request with a status, unless it has one of its own.
func Otherwise(status int, err error) error {
	return &Error{Status: status, IsDefault: true, err: err}
}

// JSON answers with a value as JSON.
func JSON(w http.ResponseWriter, status int, value any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // the type is declared and must not be sniffed, so no browser takes JSON for a page
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write the answer as JSON: %w", err)
	}
	Send(w, status, "application/json", body.Bytes())
	return nil
}

// Done answers that something was done, which there is nothing to say of, unless err says why not.
func Done(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// Send answers with a body that is complete.
func Send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has gone, which needs no answer
}
