package model

import (
	"cmp"
	"fmt"
)

// Values of [Problem.What].
const (
	problemID         = "id"         // an id is empty or too long, or an attribute cannot be set
	problemParent     = "parent"     // the parent is unknown
	problemElsewhere  = "elsewhere"  // the element has another parent, such as a node in two machines
	problemValue      = "value"      // an invalid value; it was ignored
	problemTransition = "transition" // illegal change of state; that was kept
	problemDefinition = "definition" // an attribute cannot be defined
	problemRemoval    = "removal"    // a resource manager that is not stopped cannot be removed
)

// problemTexts are the descriptions of problems.
var problemTexts = map[string]string{
	problemID:         "invalid id or attribute",
	problemParent:     "unknown parent",
	problemElsewhere:  "already belongs to another parent",
	problemValue:      "invalid value",
	problemTransition: "illegal change of state",
}

// A Problem is an error in rows, with a count.
type Problem struct {
	What      string // such as "transition", or a description
	Of        Kind   // of the affected elements
	Attribute string // may be empty
	Example   string // first occurrence; untrusted text in it is quoted and truncated
	Count     int    // number of occurrences
}

// String describes the problem in one line, such as
//
//	jobs: illegal change of state (3 times; first job "7")
func (p Problem) String() string {
	how := "once"
	if p.Count != 1 {
		how = fmt.Sprintf("%d times", p.Count)
	}
	if p.Example != "" {
		how += "; first " + p.Example
	}
	return fmt.Sprintf("%ss: %s (%s)", p.Of, cmp.Or(problemTexts[p.What], p.What), how)
}

// problem adds a problem of a row.
func (u *Update) problem(what string, row Row, attribute string, err error) {
	for i := range u.problems {
		if known := &u.problems[i]; known.What == what && known.Of == row.Kind && known.Attribute == attribute {
			known.Count++
			return
		}
	}
	u.problems = append(u.problems, Problem{what, row.Kind, attribute, fmt.Sprintf("%s %s: %v", row.Kind, quoted(row.ID), err), 1})
}
