package peer

import (
	"errors"
	"maps"
	"slices"
)

// A ReceivedError is an error of the process at the other end: it refused the conversation, or an
// operation failed there. Any other error of a conversation means that it broke off.
type ReceivedError struct {
	Message string
	Causes  []error // what it matches
}

// Error returns the text of the other process.
func (e *ReceivedError) Error() string { return e.Message }

// Unwrap returns the errors that it matches.
func (e *ReceivedError) Unwrap() []error { return e.Causes }

// NamesOf returns the names of those known errors that an error matches.
func NamesOf(err error, known map[string]error) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if errors.Is(err, known[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Named returns the known errors with some names, each once. It leaves out unknown names.
func Named(names []string, known map[string]error) (causes []error) {
	for _, name := range names {
		if cause := known[name]; cause != nil && !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
	}
	return causes
}
