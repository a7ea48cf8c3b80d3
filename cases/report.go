package cases

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Good reports whether nothing is wrong with the case any more.
func (r Result) Good() bool { return r.Verdict == Passed || r.Verdict == Updated }

// MarshalJSON writes the result as rmctl test --json does.
func (r Result) MarshalJSON() ([]byte, error) {
	form := struct {
		Folder       string       `json:"folder"`
		Definition   string       `json:"definition,omitempty"`
		Command      string       `json:"command,omitempty"`
		Verdict      Verdict      `json:"verdict"`
		Differences  []Difference `json:"differences,omitempty"`
		Error        string       `json:"error,omitempty"`
		Milliseconds float64      `json:"milliseconds"`
	}{
		Folder: r.Folder, Definition: r.Definition, Command: r.Command, Verdict: r.Verdict, Differences: r.Differences,
		Milliseconds: float64(r.Duration.Microseconds()) / 1000,
	}
	if r.Err != nil {
		form.Error = r.Err.Error()
	}
	return json.Marshal(form)
}

// explanation tells, line by line, what is not as expected.
func (r Result) explanation() []string {
	var lines []string
	if r.Err != nil {
		for line := range strings.Lines(r.Err.Error()) {
			lines = append(lines, oneLine(line))
		}
	}
	for _, difference := range r.Differences {
		lines = append(lines, oneLine(difference.String()))
	}
	return lines
}

// oneLine keeps what schedulers print from starting lines of its own, and from
// controlling a terminal.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)), " ")
}
