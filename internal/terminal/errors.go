package terminal

import (
	"errors"
	"io"
	"strings"
)

// errorJSON is an error in JSON; the names are a contract.
type errorJSON struct {
	Error    string `json:"error"`
	Hint     string `json:"hint,omitempty"` // what to do about it
	ExitCode int    `json:"exitCode"`       // of rmctl
}

// JSONErrors prints an error as JSON on a line, or several that were joined on lines of their own.
// What follows the first line of an error is a hint.
func JSONErrors(w io.Writer, err error, exitCode int) error {
	for _, problem := range apart(err) {
		text, hint, _ := strings.Cut(problem.Error(), "\n")
		if err := JSON(w, errorJSON{text, hint, exitCode}); err != nil {
			return err
		}
	}
	return nil
}

// apart returns the errors that were joined into one.
func apart(err error) (all []error) {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil && inner.Error() == err.Error() {
			return apart(inner)
		}
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			all = append(all, apart(part)...)
		}
		if errors.Join(e.Unwrap()...).Error() == err.Error() {
			return all
		}
	}
	return []error{err}
}
