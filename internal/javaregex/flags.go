package javaregex

import "strings"

// Flags change the meaning of an expression, as those of java.util.regex.Pattern do.
// [ParseFlags] reads their Java names.
type Flags uint16

const (
	caseInsensitive Flags = 1 << iota
	multiline
	dotAll
	unicodeCase
	canonEq
	literalText
	comments
	unixLines
	unicodeClasses // (?U); definitions have no name for it
)

var flagNames = []struct {
	name string
	flag Flags
}{
	{"CASE_INSENSITIVE", caseInsensitive},
	{"MULTILINE", multiline},
	{"DOTALL", dotAll},
	{"UNICODE_CASE", unicodeCase},
	{"CANON_EQ", canonEq},
	{"LITERAL", literalText},
	{"COMMENTS", comments},
	{"UNIX_LINES", unixLines},
}

// FlagNames returns the names supported by [ParseFlags].
func FlagNames() []string {
	var names []string
	for _, one := range flagNames {
		names = append(names, one.name)
	}
	return names
}

// ParseFlags reads flag names separated by '|', blanks around them allowed. It returns unknown names
// instead of failing, since PTP ignores them.
func ParseFlags(text string) (flags Flags, unknown []string) {
	for word := range strings.SplitSeq(text, "|") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		known := false
		for _, candidate := range flagNames {
			if candidate.name == word {
				flags |= candidate.flag
				known = true
			}
		}
		if !known {
			unknown = append(unknown, word)
		}
	}
	return flags, unknown
}
