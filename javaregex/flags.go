package javaregex

import "strings"

// Flags change the meaning of an expression, as those of java.util.regex.Pattern do.
type Flags uint16

// The flags; [ParseFlags] reads their Java names.
const (
	CaseInsensitive Flags = 1 << iota
	Multiline
	DotAll
	UnicodeCase
	CanonEq
	Literal
	Comments
	UnixLines
	unicodeClasses // (?U); definitions have no name for it
)

var flagNames = []struct {
	name string
	flag Flags
}{
	{"CASE_INSENSITIVE", CaseInsensitive},
	{"MULTILINE", Multiline},
	{"DOTALL", DotAll},
	{"UNICODE_CASE", UnicodeCase},
	{"CANON_EQ", CanonEq},
	{"LITERAL", Literal},
	{"COMMENTS", Comments},
	{"UNIX_LINES", UnixLines},
}

// ParseFlags reads flag names separated by '|', blanks around them allowed.
// Names that it does not know are returned, not refused: the reference ignores them.
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

// String returns the names of the flags, separated by '|'.
func (f Flags) String() string {
	var names []string
	for _, candidate := range flagNames {
		if f&candidate.flag != 0 {
			names = append(names, candidate.name)
		}
	}
	return strings.Join(names, "|")
}
