package cases

import (
	"bytes"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// placeholder stands for what differs from run to run, such as {script}.
var placeholder = lazyregexp.New(`\{[a-z][a-z0-9-]*\}`)

// MatchArguments reports whether a command line is the recorded one. In a recorded word, a
// name in braces, such as {script} or /tmp/{file}.sh, matches any text.
func MatchArguments(recorded, actual []string) bool {
	if len(recorded) != len(actual) {
		return false
	}
	for i, word := range recorded {
		if word != actual[i] && !matchWord(word, actual[i]) {
			return false
		}
	}
	return true
}

// matchWord takes the fixed parts of the word one after the other, the last one
// from the end.
func matchWord(word, actual string) bool {
	parts := placeholder.Split(word, -1)
	if len(parts) == 1 {
		return false
	}
	rest, begins := strings.CutPrefix(actual, parts[0])
	if !begins {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// mark is that of a query, which ends the columns of some tables.
var mark = lazyregexp.New(`@[A-Za-z0-9]{16}`)

// markIn returns the mark in a command line as it was run; empty without one.
func markIn(arguments []string) string { return mark.FindString(strings.Join(arguments, " ")) }

// withMark returns a command line with another mark.
func withMark(arguments []string, to string) []string {
	from := markIn(arguments)
	if from == "" || to == "" {
		return arguments
	}
	changed := make([]string, len(arguments))
	for i, word := range arguments {
		changed[i] = strings.ReplaceAll(word, from, to)
	}
	return changed
}

// marked returns the answer of a case as it is where the mark of the query is another one.
func (c *Case) marked(to string) *Case {
	from := markIn(c.Arguments)
	if from == "" || to == "" {
		return c
	}
	answer := *c
	answer.Stdout = bytes.ReplaceAll(c.Stdout, []byte(from), []byte(to))
	return &answer
}
