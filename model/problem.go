package model

import "fmt"

// A ProblemKind says what was refused.
type ProblemKind string

// The kinds of problems.
const (
	problemID         ProblemKind = "id"         // an id is empty or too long, or an attribute cannot be given
	problemParent     ProblemKind = "parent"     // the element that another one belongs to is unknown
	problemElsewhere  ProblemKind = "elsewhere"  // the element belongs to another one already, such as a node in two machines
	problemValue      ProblemKind = "value"      // an attribute does not take the value; it was left out
	problemTransition ProblemKind = "transition" // a state cannot follow the one before; that was kept
	problemDefinition ProblemKind = "definition" // an attribute cannot be defined
	problemRemoval    ProblemKind = "removal"    // a resource manager that is not stopped cannot be removed
)

// Text returns the kind in words for people.
func (k ProblemKind) Text() string {
	switch k {
	case problemID:
		return "an id or an attribute cannot be used"
	case problemParent:
		return "what it belongs to is not known"
	case problemElsewhere:
		return "it belongs to another one already"
	case problemValue:
		return "a value cannot be used"
	case problemTransition:
		return "a state cannot follow the one before"
	default:
		return string(k)
	}
}

// A Problem is what the model refused.
type Problem struct {
	Kind      ProblemKind
	Of        Kind   // of the elements that it came with
	Attribute string // empty unless it is about one
	Example   error  // the first time it came: the element, what was wrong and what is right
	Count     int    // how often it came in the update
}

// problem counts a problem of a row.
func (u *Update) problem(kind ProblemKind, row Row, attribute string, err error) {
	for i := range u.problems {
		if known := &u.problems[i]; known.Kind == kind && known.Of == row.Kind && known.Attribute == attribute {
			known.Count++
			return
		}
	}
	u.problems = append(u.problems, Problem{kind, row.Kind, attribute, fmt.Errorf("%s %s: %w", row.Kind, quoted(row.ID), err), 1})
}
