// Package diagnostics prints problems of definitions: as text, JSON or SARIF.
package diagnostics

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// A document is a problem as JSON; its names are a contract.
type document struct {
	File       string `json:"file"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Severity   string `json:"severity"`
	Code       string `json:"code"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
}

// JSON returns a problem in the form that is encoded as JSON.
func JSON(problem config.Diagnostic) any {
	return document{problem.File, problem.Line, problem.Column, string(problem.Severity), problem.Code, problem.Message, problem.Suggestion}
}

// Text returns a problem for a terminal, with its line of the definition.
func Text(problem config.Diagnostic, hasColour bool) string {
	text := tui.Printable(problem.Excerpt())
	if hasColour {
		return inColour(text, problem)
	}
	return text
}

// inColour colours the parts of a problem's text. The text is printable, so it has
// no other escape sequences.
func inColour(text string, problem config.Diagnostic) string {
	const bold, boldRed, boldYellow, green = "1", "1;31", "1;33", "32"
	colour := boldYellow
	if problem.Severity == config.Error {
		colour = boldRed
	}
	lines := strings.Split(text, "\n")
	place, message, _ := strings.Cut(lines[0], ": "+string(problem.Severity)+": ")
	lines[0] = terminal.InColour(bold, place+": ") + terminal.InColour(colour, string(problem.Severity)+": ") + terminal.InColour(bold, message)
	if marks := slices.IndexFunc(lines, isMarks); marks > 0 {
		gutter, mark, _ := strings.Cut(lines[marks], "^")
		lines[marks] = gutter + terminal.InColour(colour, "^"+mark)
	}
	if last := len(lines) - 1; problem.Advice() != "" && last > 0 {
		lines[last] = terminal.InColour(green, lines[last])
	}
	return strings.Join(lines, "\n")
}

func isMarks(line string) bool {
	return strings.HasPrefix(line, "      | ") && strings.Trim(line[len("      | "):], " ^~") == ""
}
