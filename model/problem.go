package model

import (
	"cmp"
	"fmt"
)

// What the model refuses, as [Problem.What].
const (
	problemID         = "id"         // an id is empty or too long, or an attribute cannot be given
	problemParent     = "parent"     // the element that another one belongs to is unknown
	problemElsewhere  = "elsewhere"  // the element belongs to another one already, such as a node in two machines
	problemValue      = "value"      // an attribute does not take the value; it was left out
	problemTransition = "transition" // illegal change of state; that was kept
	problemDefinition = "definition" // an attribute cannot be defined
	problemRemoval    = "removal"    // a resource manager that is not stopped cannot be removed
)

// problemTexts say in words what was refused.
var problemTexts = map[string]string{
	problemID:         "invalid id or attribute",
	problemParent:     "unknown parent",
	problemElsewhere:  "already belongs to another parent",
	problemValue:      "invalid value",
	problemTransition: "illegal change of state",
}

// A Problem is what was wrong with rows.
type Problem struct {
	What      string // such as "transition", or in words
	Of        Kind   // of the elements that it came with
	Attribute string // empty unless it is about one
	Example   string // the first time it came; hostile text in it is quoted and cut
	Count     int    // how often it came
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

// problem counts a problem of a row.
func (u *Update) problem(what string, row Row, attribute string, err error) {
	for i := range u.problems {
		if known := &u.problems[i]; known.What == what && known.Of == row.Kind && known.Attribute == attribute {
			known.Count++
			return
		}
	}
	u.problems = append(u.problems, Problem{what, row.Kind, attribute, fmt.Sprintf("%s %s: %v", row.Kind, quoted(row.ID), err), 1})
}
