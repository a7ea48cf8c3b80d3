package reader

import (
	"slices"

	"github.com/rmctl/rmctl/internal/xpath"
)

// A Record is a record in the output of a command.
type Record struct {
	Root   *xpath.Node // its children are the fields
	Raw    string      // its text in the output
	Line   int         // of the output at which Raw begins, from 1
	Damage string      // why the record is unusable; empty if it is whole

	WithoutValue []string // names of fields without a value, which Root lacks
}

// Has reports whether the output has a field, with or without a value. A record without a required field
// is truncated; a field without a value is not missing.
func (r *Record) Has(name string) bool {
	return r.Root.Child(name) != nil || slices.Contains(r.WithoutValue, name)
}

// A source turns output into records, in order. It passes each complete record to a function at once and
// keeps at most one.
type source interface {
	// Write takes a part of the output. It fails if the function that takes records fails.
	Write(p []byte) (int, error)
	// Close ends the output and passes on the last record. A *DamageError says why the whole output is
	// unusable.
	Close() error
}

// A DamageError says why an output is unusable.
type DamageError struct {
	Line int // from 1; 0 if unknown
	What string
}

// Error returns the reason, with the line.
func (e *DamageError) Error() string { return e.What }

// longestRecord bounds the text of one record, in bytes. A longer record is unreadable.
const longestRecord = 16 << 20
