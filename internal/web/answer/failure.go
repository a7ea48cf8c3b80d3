// Package answer is how requests are answered: in JSON, in streams of events, and
// with a status for each error.
package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

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

// A handler answers one request, or returns an error from which an answer is made.
type Handler func(w http.ResponseWriter, r *http.Request) error

// failuref returns an error that ends a request with a status.
func Errorf(status int, format string, arguments ...any) error {
	return &failure{status: status, err: fmt.Errorf(format, arguments...)}
}

// statusOf returns the status that a request ends with because of err.
func Status(err error) int {
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

// fail answers with an object that says what went wrong.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	status := Status(err)
	log.Debug("a request failed", "method", r.Method, "path", r.URL.Path, "status", status, "error", err)
	failed := Failed{Error: err.Error(), Kind: kindOf(status)}
	var submission *control.SubmitError
	if errors.As(err, &submission) {
		failed.Tag, failed.Unknown = submission.Tag, submission.Unknown
	}
	if err := JSON(w, status, failed); err != nil {
		log.Error("an error could not be written as JSON", "error", err)
	}
}

// apiError is what the API answers when it did not do what was asked.
type Failed struct {
	Error   string `json:"error"`
	Kind    string `json:"kind"`
	Tag     string `json:"tag,omitempty"`     // of a submission that failed
	Unknown bool   `json:"unknown,omitempty"` // whether it may have made a job all the same
}

// answerJSON answers with a value as JSON.
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

// send answers with a body that is complete.
func Send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has gone, which needs no answer
}
