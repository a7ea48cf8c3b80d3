// Package answer writes responses: JSON, streams of events, and errors with a status.
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// APIPath is the prefix of the API.
const APIPath = "/api/v1"

// A Handler answers one request, or returns an error for the server to answer with.
type Handler func(w http.ResponseWriter, r *http.Request) error

// A Failure is the JSON of a failed request.
type Failure struct {
	Error   string `json:"error"`
	Kind    string `json:"kind"`
	Tag     string `json:"tag,omitempty"`     // of a submission that failed
	Unknown bool   `json:"unknown,omitempty"` // whether it may have made a job
}

// An Error ends a request with a status.
type Error struct {
	Status    int
	IsDefault bool // whether a status of the error itself takes precedence
	err       error
}

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Errorf returns an error with a status.
func Errorf(status int, format string, arguments ...any) error {
	return &Error{Status: status, err: fmt.Errorf(format, arguments...)}
}

// Otherwise returns an error with a status for errors that have none of their own.
func Otherwise(status int, err error) error {
	return &Error{Status: status, IsDefault: true, err: err}
}

// JSON answers with a value as JSON.
func JSON(w http.ResponseWriter, status int, value any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // browsers do not sniff the content type, so none shows JSON as a page
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write the answer as JSON: %w", err)
	}
	Send(w, status, "application/json", body.Bytes())
	return nil
}

// Done answers without content, or returns err.
func Done(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// Send answers with a complete body.
func Send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	body = Compressed(w, body)
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}
