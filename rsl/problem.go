package rsl

import (
	"fmt"
	"strings"
)

// A Problem is an error or a warning at a place of a text.
type Problem struct {
	Position
	Message string
	Hint    string // what to do, beginning with a verb; may be empty
}

// Error returns the problem on one line.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.Message)
}

// Problems are the errors or the warnings of a text, in the order of their positions.
type Problems []*Problem

// Error returns the problems, each on one line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// mostProblems bounds how many problems are reported at once.
const mostProblems = 20
