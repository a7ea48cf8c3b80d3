// Package casereport writes results of cases for people and programs.
package casereport

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/cases"
)

// TAP writes results in the Test Anything Protocol, version 13, as they are added.
type TAP struct {
	To    io.Writer
	count int
}

// Add writes one result.
func (r *TAP) Add(result cases.Result) error {
	var text strings.Builder
	if r.count == 0 {
		text.WriteString("TAP version 13\n")
	}
	r.count++
	word := "not ok"
	if result.Verdict == cases.Passed || result.Verdict == cases.Updated {
		word = "ok"
	}
	// a # would begin a directive, such as one to skip the test
	fmt.Fprintf(&text, "%s %d - %s\n", word, r.count, strings.ReplaceAll(oneLine(result.Folder), "#", `\#`))
	for _, line := range explanation(result) {
		fmt.Fprintf(&text, "# %s\n", line)
	}
	_, err := io.WriteString(r.To, text.String())
	return err
}

// Close writes the plan, so that readers notice missing results.
func (r *TAP) Close() error {
	header := ""
	if r.count == 0 {
		header = "TAP version 13\n"
	}
	_, err := fmt.Fprintf(r.To, "%s1..%d\n", header, r.count)
	return err
}

// explanation returns a line for each difference.
func explanation(r cases.Result) []string {
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

// oneLine makes scheduler output safe for one line of a terminal.
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
