package javaregex

import (
	"unicode"

	"github.com/rmctl/rmctl/internal/backtrack"
)

// check returns whether the assertion holds at a place, for the backtracking engine.
func (k assertionKind) check() backtrack.Check {
	if holds := boundaries[k]; holds != nil {
		return func(text []rune, from, at int) (bool, int) { return holds(text, from, at), 0 }
	}
	isMember := isWordRune
	if k == unicodeWordEdge || k == noUnicodeWordEdge {
		isMember = word.runes().contains
	}
	isEdge := k == wordEdge || k == unicodeWordEdge
	return func(text []rune, _, at int) (bool, int) {
		before, work := isWordBefore(text, at, isMember)
		after, more := isWordAfter(text, at, isMember)
		return (before != after) == isEdge, work + more
	}
}

// boundaries are the assertions, nil for those of words.
var boundaries = [...]func(text []rune, from, at int) bool{
	textStart:        func(_ []rune, _, at int) bool { return at == 0 },
	textEnd:          func(text []rune, _, at int) bool { return at == len(text) },
	previousMatchEnd: func(_ []rune, from, at int) bool { return at == from },
	lineStart:        isLineStart,
	unixLineStart: func(text []rune, _, at int) bool {
		return at < len(text) && (at == 0 || text[at-1] == '\n')
	},
	lineEnd:     func(text []rune, _, at int) bool { return at == len(text) || isTerminator(text, at) },
	unixLineEnd: func(text []rune, _, at int) bool { return at == len(text) || text[at] == '\n' },
	lastLineEnd: isLastLineEnd,
	lastUnixLineEnd: func(text []rune, _, at int) bool {
		return at == len(text) || at == len(text)-1 && text[at] == '\n'
	},
}

// isLineStart reports whether a line begins. None does at the end of the text, nor within \r\n.
func isLineStart(text []rune, _, at int) bool {
	switch {
	case at == len(text):
		return false
	case at == 0:
		return true
	case text[at-1] == '\r':
		return text[at] != '\n'
	}
	return lineTerminators.contains(text[at-1])
}

// isTerminator reports whether a line ends at a place before the end of the text.
func isTerminator(text []rune, at int) bool {
	if text[at] == '\n' {
		return at == 0 || text[at-1] != '\r'
	}
	return lineTerminators.contains(text[at])
}

func isLastLineEnd(text []rune, _, at int) bool {
	switch len(text) - at {
	case 0:
		return true
	case 1:
		return isTerminator(text, at)
	case 2:
		return text[at] == '\r' && text[at+1] == '\n'
	}
	return false
}

func isWordRune(r rune) bool { return r == '_' || isLetterOrDigit(r) }

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Nd, r) }

func isWordBefore(text []rune, at int, isMember func(rune) bool) (is bool, work int) {
	switch {
	case at == 0:
		return false, 0
	case isMember(text[at-1]):
		return true, 0
	case !isBasicMark(text[at-1]):
		return false, 0
	}
	return isOnLetter(text, at-1)
}

func isWordAfter(text []rune, at int, isMember func(rune) bool) (is bool, work int) {
	switch {
	case at == len(text):
		return false, 0
	case isMember(text[at]):
		return true, 0
	case !unicode.Is(unicode.Mn, text[at]):
		return false, 0
	}
	return isOnLetter(text, at)
}

// lastBasic is the last rune of the basic plane. A combining mark belongs to the word of the letter or digit that it
// stands on; Java looks for that one UTF-16 unit at a time, and so finds those of the basic plane only.
const lastBasic = 0xFFFF

func isBasicMark(r rune) bool { return r <= lastBasic && unicode.Is(unicode.Mn, r) }

// isOnLetter reports whether a mark stands on a letter or digit, with other marks between them or not.
func isOnLetter(text []rune, mark int) (is bool, work int) {
	at := mark
	for at > 0 && isBasicMark(text[at-1]) {
		at--
	}
	return at > 0 && text[at-1] <= lastBasic && isLetterOrDigit(text[at-1]), mark - at
}
