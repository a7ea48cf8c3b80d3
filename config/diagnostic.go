package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// A Severity says whether a problem makes a definition unusable.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// A Diagnostic is one problem of a definition.
type Diagnostic struct {
	Position
	Severity   Severity
	Code       string // stable, such as unknown-attribute
	Message    string
	Suggestion string // what to do, may be empty
	Replaces   string // the text at the position that the suggestion replaces; empty if the suggestion is advice

	source string // of the file with the problem
}

// String returns the problem on one line: file:line:col: severity: message (code).
func (d Diagnostic) String() string {
	return fmt.Sprintf("%s: %s: %s (%s)", d.Position, d.Severity, d.Message, d.Code)
}

// Diagnostics are the problems of one definition, sorted by position.
type Diagnostics []Diagnostic

// Lenient returns the problems. If all errors are unknown elements and attributes, they become
// warnings, since PTP ignores them.
func (d Diagnostics) Lenient() Diagnostics {
	isIgnored := func(one Diagnostic) bool { return one.Code == "unknown-element" || one.Code == "unknown-attribute" }
	lenient := slices.Clone(d)
	for i, one := range d {
		switch {
		case one.Code == "too-many-problems" || one.Severity == Error && !isIgnored(one):
			return d
		case one.Severity == Error:
			lenient[i].Severity = Warning
			lenient[i].Message += "; it is ignored"
		}
	}
	return lenient
}

// Err returns the errors among the problems as one error, or nil.
func (d Diagnostics) Err() error {
	var errors Diagnostics
	for _, one := range d {
		if one.Severity == Error {
			errors = append(errors, one)
		}
	}
	if len(errors) == 0 {
		return nil
	}
	return &InvalidError{Problems: errors}
}

// maxProblems bounds how many problems are reported: after fixing a thousand,
// an author validates again.
const maxProblems = 1000

// cut returns the first problems and one that says that there are more. If all shown are
// warnings, the first error follows: with it the definition cannot be used.
func (d Diagnostics) cut() Diagnostics {
	isError := func(one Diagnostic) bool { return one.Severity == Error }
	last := Diagnostic{Position: d[maxProblems].Position, Severity: Warning, Code: "too-many-problems",
		Message: fmt.Sprintf("there are more than %d problems; those from here on are not shown", maxProblems)}
	shown := append(slices.Clip(d[:maxProblems]), last)
	if first := slices.IndexFunc(d, isError); first >= maxProblems {
		shown = append(shown, d[first])
	}
	return shown
}

// sorted returns the first problems in the order of files and positions.
func (d Diagnostics) sorted(documents []*xmltree.Document) Diagnostics {
	index := func(file string) int {
		return slices.IndexFunc(documents, func(one *xmltree.Document) bool { return one.File == file })
	}
	sorting.Stable(d, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(index(a.File), index(b.File)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(d) > maxProblems {
		d = d.cut()
	}
	for i := range d {
		d[i].source = documents[index(d[i].File)].Text
	}
	return d
}

// An InvalidError is the error of a definition that cannot be used.
type InvalidError struct {
	Problems Diagnostics
}

func (e *InvalidError) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, problem := range e.Problems {
		lines = append(lines, problem.String())
	}
	return "the definition cannot be used:\n" + strings.Join(lines, "\n")
}
