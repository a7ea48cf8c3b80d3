package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// A failure is an error that says which status a request ends with.
type failure struct {
	status int
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failuref returns an error that ends a request with a status.
func failuref(status int, format string, arguments ...any) error {
	return &failure{status: status, err: fmt.Errorf(format, arguments...)}
}

// statusOf returns the status that a request ends with because of err.
func statusOf(err error) int {
	var own *failure
	switch {
	case errors.As(err, &own):
		return own.status
	case isOne[*http.MaxBytesError](err):
		return http.StatusRequestEntityTooLarge
	case isOne[*views.UnknownManagerError](err), isOne[*settings.UnknownTargetError](err), isOne[*control.NotFoundError](err),
		isOne[*settings.UnknownLaunchConfigurationError](err), isOne[*form.UnknownPageError](err), errors.Is(err, jobstore.ErrNotFound):
		return http.StatusNotFound
	case isOne[*views.StateError](err), isOne[*settings.TargetExistsError](err), isOne[*settings.LaunchConfigurationExistsError](err),
		isOne[*control.EndedError](err), isOne[*control.MissingError](err):
		return http.StatusConflict
	case isOne[*control.ValueError](err), isOne[*control.VariableNameError](err), isOne[*attribute.InvalidError](err), isOne[*config.InvalidError](err), isOne[*settings.ConfigurationError](err),
		isOne[*settings.LaunchConfigurationNameError](err), isOne[*control.UnsupportedError](err):
		return http.StatusBadRequest
	case errors.Is(err, remote.ErrUnreachable), errors.Is(err, views.ErrClosed):
		return http.StatusServiceUnavailable
	}
	return statusOfCommand(err)
}

// statusOfCommand returns the status of errors that commands of a definition end with.
func statusOfCommand(err error) int {
	var failed *command.Error
	var polled *control.PolledError
	var output *control.OutputError
	switch {
	case errors.As(err, &failed) && failed.Failure == command.TimedOut, errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &polled) && polled.Failure == jobstore.PollTimedOut:
		return http.StatusGatewayTimeout
	case failed != nil:
		return http.StatusBadGateway
	case errors.As(err, &output):
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

func isOne[E error](err error) bool {
	var one E
	return errors.As(err, &one)
}

// kindOf is a word for a status, for programs.
func kindOf(status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge, http.StatusRequestedRangeNotSatisfiable:
		return "usage"
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest:
		return "refused"
	case http.StatusNotFound:
		return "not-found"
	case http.StatusConflict:
		return "conflict"
	case http.StatusBadGateway:
		return "scheduler"
	case http.StatusServiceUnavailable:
		return "unreachable"
	case http.StatusGatewayTimeout:
		return "timeout"
	}
	return "failed"
}

// fail answers with what went wrong: an object below /api/, else a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	s.log.Debug("a request failed", "method", r.Method, "path", r.URL.Path, "status", status, "error", err)
	if isForPrograms(r) {
		told := apiError{Error: err.Error(), Kind: kindOf(status)}
		var submission *control.SubmitError
		if errors.As(err, &submission) {
			told.Tag, told.Unknown = submission.Tag, submission.Unknown
		}
		s.json(w, status, told)
		return
	}
	drawing := s.page(w, r, status, "error", http.StatusText(status), nil, printable(err.Error(), longestFact))
	if drawing != nil {
		s.log.Error("the page of an error could not be drawn", "error", drawing)
		http.Error(w, http.StatusText(status), status)
	}
}

// isForPrograms reports whether a request expects no page.
func isForPrograms(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == eventsPath
}

// apiError is what the API answers when it did not do what was asked.
type apiError struct {
	Error   string `json:"error"`
	Kind    string `json:"kind"`
	Tag     string `json:"tag,omitempty"`     // of a submission that failed
	Unknown bool   `json:"unknown,omitempty"` // whether it may have made a job all the same
}

// json answers with a value as JSON.
func (s *Server) json(w http.ResponseWriter, status int, value any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // no browser takes JSON for a page: the type is told, and is not guessed at
	if err := encoder.Encode(value); err != nil {
		s.log.Error("an answer could not be written as JSON", "error", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(body.Bytes()); err != nil {
		s.log.Debug("a client went away while it was answered", "error", err)
	}
}
