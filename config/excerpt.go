package config

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/excerpt"
)

// Excerpt returns the problem with its line of the definition, marked at its position, and
// what to do. Characters that a terminal would not show as one or two columns are replaced.
func (d Diagnostic) Excerpt() string {
	var text strings.Builder
	text.WriteString(d.String())
	if line, ok := d.SourceLine(); ok {
		shown, marks := excerpt.Marked(line, d.Column-1, len(d.Replaces))
		number := fmt.Sprintf("%5d", d.Line)
		fmt.Fprintf(&text, "\n%s | %s\n%s | %s", number, shown, strings.Repeat(" ", len(number)), marks)
	}
	if advice := d.Advice(); advice != "" {
		text.WriteString("\n        " + advice)
	}
	return text.String()
}

// Advice returns advice about the problem as a sentence, or "" without advice.
func (d Diagnostic) Advice() string {
	switch {
	case d.Suggestion == "":
		return ""
	case d.Replaces != "":
		return fmt.Sprintf("did you mean %q?", d.Suggestion)
	default:
		return "try: " + d.Suggestion
	}
}

// SourceLine returns the line with the problem.
func (d Diagnostic) SourceLine() (line string, ok bool) {
	if d.Line < 1 {
		return "", false
	}
	source := strings.TrimPrefix(d.source, "\ufeff") // positions do not count it
	for range d.Line - 1 {
		_, source, ok = strings.Cut(source, "\n")
		if !ok {
			return "", false
		}
	}
	found, _, _ := strings.Cut(source, "\n")
	return strings.TrimSuffix(found, "\r"), true
}
