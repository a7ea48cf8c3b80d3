package breaks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// The order of rows that exclude one another means nothing, and nobody can test it.
func TestRowsThatExcludeOneAnotherAreKnown(t *testing.T) {
	row := func(words, matches, test string) *config.StateRow {
		return &config.StateRow{Words: strings.Fields(words), Matches: config.Pattern{Text: matches}, Test: config.XPath{Text: test}}
	}
	for _, c := range []struct {
		what    string
		a, b    *config.StateRow
		exclude bool
	}{
		{"other words", row("A B", "", ""), row("C", "", ""), true},
		{"a word in both", row("A B", "", ""), row("B", "", ""), false},
		{"any word", row("A", "", ""), row("", "", ""), false},
		{"other values of a field", row("A", "", "x='1' and y='2'"), row("A", "", "y='3' and x='1'"), true},
		{"the same value", row("A", "", "x=1"), row("A", "", "x=1 and y=2"), false},
		{"values of other fields", row("A", "", "x=1"), row("A", "", "y=2"), false},
		{"a value that a pattern has not", row("A", "", "x='up'"), row("A", "", "matches(x,'^down')"), true},
		{"no value", row("A", "", "x=1 and y=2"), row("A", "", "not(y or z)"), true},
		{"no value of another field", row("A", "", "x=1"), row("A", "", "not(y or z)"), false},
		{"no value in both", row("A", "", "not(x)"), row("A", "", "not(x or y)"), false},
		{"a value that a pattern has", row("A", "", "matches(x,'^u')"), row("A", "", "x='up'"), false},
		{"something else", row("A", "", "contains(x,'up')"), row("A", "", "x='down'"), false},
		{"other beginnings", row("", "(down|drained).*", ""), row("", "(idle|draining)[*]?", ""), true},
		{"one begins with the other", row("", "(down|drain).*", ""), row("", "drained", ""), false},
		{"any beginning", row("", ".*down", ""), row("", "up", ""), true},
		{"a common end", row("", ".*down", ""), row("", "[a-z]+", ""), false},
		{"other letters", row("", "[dRh]*[rt]+", ""), row("", "[dR]*qw", ""), true},
		{"a common letter", row("", "[ab]+", ""), row("", "[bc]+c?", ""), false},
		{"other numbers", row("", `failed 0, exit \d+`, ""), row("", `failed [1-9]\d*, exit \d+`, ""), true},
		{"any text", row("", ".*", ""), row("", "(?s:.+)", ""), false},
	} {
		require.Equal(t, c.exclude, exclude(c.a, c.b), c.what)
		require.Equal(t, c.exclude, exclude(c.b, c.a), c.what)
	}
}
