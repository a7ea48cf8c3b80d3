package reader

import (
	"slices"

	"github.com/rmctl/rmctl/internal/xpath"
)

// A Record is a record of a command's output.
type Record struct {
	Root   *xpath.Node // its children are the fields
	Raw    string      // its text in the output
	Line   int         // of the output at which Raw begins, from 1
	Damage string      // why the record says nothing; empty for one that is whole

	WithoutValue []string // names of fields whose value is a word for none, which Root lacks
}

// Has reports whether the output has a field, with or without a value. A record is
// cut if it lacks a field, not if the field has no value.
func (r *Record) Has(name string) bool {
	return r.Root.Child(name) != nil || slices.Contains(r.WithoutValue, name)
}

// A source turns output into records, in the order of the output. It hands each record to
// the function it was made with as soon as it is complete, and keeps at most one.
type source interface {
	// Write takes a part of the output. An error is one of the function that takes records.
	Write(p []byte) (int, error)
	// Close ends the output, which hands over the last record. An error that is a
	// *DamageError says why the output as a whole says nothing.
	Close() error
}

// A DamageError says why an output says nothing.
type DamageError struct {
	Line int // from 1; 0 if unknown
	What string
}

// Error returns the reason, with the line.
func (e *DamageError) Error() string { return e.What }

// longestRecord is the longest text of one record, in bytes. A longer one is unreadable.
const longestRecord = 16 << 20
