package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// statusOf returns the HTTP status for an error.
func statusOf(err error) int {
	own, isOwn := errors.AsType[*answer.Error](err)
	switch {
	case isOwn && !own.IsDefault:
		return own.Status
	case isOne[*http.MaxBytesError](err):
		return http.StatusRequestEntityTooLarge
	case isOne[*views.UnknownManagerError](err), isOne[*settings.UnknownTargetError](err), isOne[*control.NotFoundError](err),
		isOne[*settings.UnknownLaunchConfigurationError](err), isOne[*form.UnknownPageError](err), errors.Is(err, jobstore.ErrNotFound):
		return http.StatusNotFound
	case isOne[*views.StateError](err), isOne[*settings.TargetExistsError](err), isOne[*settings.LaunchConfigurationExistsError](err),
		isOne[*control.EndedError](err), isOne[*control.StageError](err), isOne[*control.MissingError](err):
		return http.StatusConflict
	case isOne[*control.ValueError](err), isOne[*control.VariableNameError](err), isOne[*attribute.InvalidError](err), isOne[*config.InvalidError](err), isOne[*settings.ConfigurationError](err),
		isOne[*settings.LaunchConfigurationNameError](err), isOne[*control.UnsupportedError](err):
		return http.StatusBadRequest
	case errors.Is(err, remote.ErrUnreachable), errors.Is(err, views.ErrClosed):
		return http.StatusServiceUnavailable
	}
	if status := cmp.Or(statusOfEnsemble(err), statusOfCommand(err)); status != 0 {
		return status
	}
	if isOwn {
		return own.Status
	}
	return http.StatusInternalServerError
}

// statusOfEnsemble returns the HTTP status for an error of an ensemble, 0 for others.
func statusOfEnsemble(err error) int {
	isAny := func(known ...error) bool {
		return slices.ContainsFunc(known, func(each error) bool { return errors.Is(err, each) })
	}
	switch {
	case isAny(coalloc.ErrUnknownEnsemble, coalloc.ErrUnknownPart):
		return http.StatusNotFound
	case isAny(coalloc.ErrDuplicateLabel, coalloc.ErrReleased, coalloc.ErrEnded, coalloc.ErrIncomplete, coalloc.ErrNoParts, coalloc.ErrRunning):
		return http.StatusConflict
	case isAny(coalloc.ErrInvalid):
		return http.StatusBadRequest
	case isAny(coalloc.ErrNotRunning):
		return http.StatusServiceUnavailable
	}
	return 0
}

// statusOfCommand returns the HTTP status for an error of a command, 0 for others.
func statusOfCommand(err error) int {
	var failed *command.Error
	var output *control.OutputError
	switch {
	case errors.As(err, &failed) && failed.Failure == command.TimedOut, errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case failed != nil:
		return http.StatusBadGateway
	case errors.As(err, &output):
		return http.StatusNotFound
	}
	return 0
}

func isOne[E error](err error) bool {
	var one E
	return errors.As(err, &one)
}

// kindOf returns the word of the API for a status.
func kindOf(status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusRequestedRangeNotSatisfiable:
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

// fail answers with an error: an object for programs, else a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	s.options.Log.Debug("request failed", "method", r.Method, "path", r.URL.Path, "status", status, "error", err)
	if !isForPrograms(r) {
		s.options.Pages.ShowError(w, r, status, err)
		return
	}
	failed := answer.Failure{Error: err.Error(), Kind: kindOf(status)}
	if submission, isOne := errors.AsType[*control.SubmitError](err); isOne {
		failed.Tag, failed.Unknown = submission.Tag, submission.Unknown
	}
	if err := answer.JSON(w, status, failed); err != nil {
		s.options.Log.Error("cannot write an error as JSON", "error", err)
	}
}

// isForPrograms reports whether a request expects no page.
func isForPrograms(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == live.EventsPath
}
