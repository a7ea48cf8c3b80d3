package rsl

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/excerpt"
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

// Excerpt returns the problem for people: its place in a file, the line of text with a caret below the place,
// and the hint. It is safe to print on a terminal if the name of the file is.
func (p *Problem) Excerpt(file, text string) string {
	if p.Line == 0 || p.Offset > len(text) {
		return strings.TrimRight(file+": "+p.Message+"\n"+p.Hint, "\n")
	}
	begin := strings.LastIndexByte(text[:p.Offset], '\n') + 1
	line, _, _ := strings.Cut(text[begin:], "\n")
	shown, marks := excerpt.Marked(strings.TrimSuffix(line, "\r"), p.Offset-begin, 0)
	lines := fmt.Sprintf("%s:%d:%d: %s\n%5d | %s\n      | %s", file, p.Line, p.Column, p.Message, p.Line, shown, marks)
	if p.Hint != "" {
		lines += "\n        " + p.Hint
	}
	return lines
}

// Problems are the errors or the warnings of a text. [Parse] and [Evaluate] return them in the order of their positions.
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
