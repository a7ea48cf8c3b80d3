package config

import "github.com/rmctl/rmctl/internal/tree"

// A ProcessMark (x:process-mark) is a text by which the output of an interactive
// job says something about one of its processes.
type ProcessMark struct {
	Position
	Text   string // with fields in braces, references unresolved
	Output bool   // what follows it, to the end of the line or the next such mark, was printed by the process
	Shown  string // "true", once resolved, where the mark is shown
}

// processMark reads an x:process-mark.
func (l *loader) processMark(e *tree.Element) *ProcessMark {
	return &ProcessMark{Position: e.Position(), Text: e.Value("text"), Output: e.Boolean("output", false), Shown: e.Value("shown")}
}
