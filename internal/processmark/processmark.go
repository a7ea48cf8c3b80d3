// Package processmark parses the marks in the output of an interactive job that describe its processes.
package processmark

import (
	"fmt"
	"slices"
	"strings"
)

// A Field is a property of a process in a mark.
type Field string

// The fields of marks.
const (
	Rank     Field = "rank"     // the index of the process in its job, from 0
	Node     Field = "node"     // the machine that it runs on
	PID      Field = "pid"      // its process id there
	ExitCode Field = "exitCode" // it has ended with this code
	Signal   Field = "signal"   // it was ended by the signal of this number
	Status   Field = "status"   // it has ended: an exit code as shells print it, above 128 a signal
	Stream   Field = "stream"   // the name of the stream that it printed to
)

// IsNumber reports whether the field consists of digits.
func (f Field) IsNumber() bool { return f != Node && f != Stream }

// Takes reports whether a byte can belong to the field.
func (f Field) Takes(c byte) bool {
	switch {
	case '0' <= c && c <= '9':
		return true
	case f.IsNumber():
		return false
	}
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '.' || c == '-' || c == '_'
}

var fields = []Field{Rank, Node, PID, ExitCode, Signal, Status, Stream}

// A Piece is a part of a mark: a literal text or a field.
type Piece struct {
	Text  string
	Field Field // empty for a text
}

// Parse splits the resolved text of a mark. It begins and ends with a text,
// has the field rank, and each field ends where the text after it begins.
func Parse(text string) ([]Piece, error) {
	var pieces []Piece
	hasRank := false
	for rest := text; rest != ""; {
		before, after, hasField := strings.Cut(rest, "{")
		if before != "" {
			pieces = append(pieces, Piece{Text: before})
		}
		if !hasField {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		field := Field(name)
		switch {
		case !closed:
			return nil, fmt.Errorf("{%s has no closing brace", name)
		case !slices.Contains(fields, field):
			return nil, fmt.Errorf("unknown field {%s}: use rank, node, pid, exitCode, signal, status or stream", name)
		case before == "":
			return nil, fmt.Errorf("text is required before {%s}, to find the mark", name)
		case behind == "" || field.Takes(behind[0]) || behind[0] == '{':
			return nil, fmt.Errorf("text that ends {%s} must follow it, which %q does not", name, behind)
		}
		hasRank = hasRank || field == Rank
		pieces = append(pieces, Piece{Field: field})
		rest = behind
	}
	if !hasRank {
		return nil, fmt.Errorf("{rank} is missing")
	}
	return pieces, nil
}
