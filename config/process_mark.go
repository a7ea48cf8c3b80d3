package config

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/tree"
)

// A ProcessMark (x:process-mark) is a text by which the output of an interactive
// job tells of one of its processes.
type ProcessMark struct {
	Position
	Text   string // with fields in braces, references unresolved
	Output bool   // what follows it, to the end of the line or the next such mark, was printed by the process
	Shown  string // "true", once resolved, where the mark is shown
}

// A MarkField is what a part of a mark tells of a process.
type MarkField string

// The fields of marks.
const (
	MarkRank     MarkField = "rank"     // the index of the process in its job, from 0
	MarkNode     MarkField = "node"     // the machine that it runs on
	MarkPID      MarkField = "pid"      // its process id there
	MarkExitCode MarkField = "exitCode" // it has ended with this code
	MarkSignal   MarkField = "signal"   // it was ended by the signal of this number
	MarkStatus   MarkField = "status"   // it has ended: an exit code as shells tell it, above 128 a signal
	MarkStream   MarkField = "stream"   // the name of the stream that it printed to; nothing is made of it
)

// IsNumber reports whether the field holds digits and nothing else.
func (f MarkField) IsNumber() bool { return f != MarkNode && f != MarkStream }

// Takes reports whether a byte can belong to the field.
func (f MarkField) Takes(c byte) bool {
	switch {
	case '0' <= c && c <= '9':
		return true
	case f.IsNumber():
		return false
	}
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '.' || c == '-' || c == '_'
}

var markFields = []MarkField{MarkRank, MarkNode, MarkPID, MarkExitCode, MarkSignal, MarkStatus, MarkStream}

// A MarkPiece is a part of a mark: a text that stands there, or a field.
type MarkPiece struct {
	Text  string
	Field MarkField // empty for a text
}

// ParseMark splits the resolved text of a mark. It begins and ends with a text,
// has the field rank, and each field ends where the text after it begins.
func ParseMark(text string) ([]MarkPiece, error) {
	var pieces []MarkPiece
	hasRank := false
	for rest := text; rest != ""; {
		before, after, hasField := strings.Cut(rest, "{")
		if before != "" {
			pieces = append(pieces, MarkPiece{Text: before})
		}
		if !hasField {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		field, err := markField(name, closed)
		if err != nil {
			return nil, err
		}
		if before == "" {
			return nil, fmt.Errorf("a text has to stand before {%s}, by which the mark is found", name)
		}
		if behind == "" || field.Takes(behind[0]) || behind[0] == '{' {
			return nil, fmt.Errorf("a text that tells where {%s} ends has to follow it, and %q does not", name, behind)
		}
		hasRank = hasRank || field == MarkRank
		pieces = append(pieces, MarkPiece{Field: field})
		rest = behind
	}
	if !hasRank {
		return nil, fmt.Errorf("it does not tell which process it is of; {rank} has to stand in it")
	}
	return pieces, nil
}

func markField(name string, closed bool) (MarkField, error) {
	if !closed {
		return "", fmt.Errorf("{%s has no closing brace", name)
	}
	for _, field := range markFields {
		if string(field) == name {
			return field, nil
		}
	}
	return "", fmt.Errorf("{%s} is none of the fields rank, node, pid, exitCode, signal, status and stream", name)
}

// processMark reads an x:process-mark.
func (l *loader) processMark(e tree.Element) *ProcessMark {
	return &ProcessMark{Position: e.Position(), Text: e.Value("text"), Output: e.Boolean("output", false), Shown: e.Value("shown")}
}
