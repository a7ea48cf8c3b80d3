// Package javaregex gives regular expressions the meaning of java.util.regex of Java 17. It uses an
// automaton or Go's engine, in linear time, where they give the same result, and otherwise a
// backtracking engine that is bounded in work. Texts are bytes; an invalid byte counts as one
// character, U+FFFD.
//
// It refuses CANON_EQ, \X, \b{g}, \N{…}, Unicode blocks and scripts, and some lookbehinds: those with
// backreferences, repetitions without an upper bound and counts behind more than one character,
// unless inside a lookahead. Known differences:
//   - Java keeps what a group found on a way that it gave up later, if the group
//     is in a lookaround, an atomic group or a loop of fixed length.
//   - Java ends a counted loop such as (a*?){2} after a round that matched nothing.
//   - Java splits between the two UTF-16 halves of a character.
//   - Properties follow the Unicode version of the Go library.
package javaregex

import (
	"fmt"

	"github.com/rmctl/rmctl/internal/backtrack"
)

// A SyntaxError says where an expression is wrong.
type SyntaxError struct {
	Expression string
	Offset     int // in bytes, from 0
	Reason     string
}

// Error shows at most the first 200 bytes of the expression.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at character %d of %s", e.Reason, e.Offset+1, shortened(e.Expression))
}

// shortened quotes the beginning of a text that may be very long.
func shortened(text string) string {
	const most = 200
	if len(text) > most {
		return fmt.Sprintf("%q…", text[:most])
	}
	return fmt.Sprintf("%q", text)
}

// ErrBacktracking is wrapped by the error of a match that exceeds its limit. The limit is an amount of
// work, so that the result does not depend on the load of the machine.
var ErrBacktracking = backtrack.ErrWork

// A Regexp is a compiled expression; it is safe for concurrent use.
type Regexp struct {
	source string
	flags  Flags
	parsed program
	whole  *matcher
	// search is compiled when it is first needed: most expressions are
	// only ever matched as a whole.
	search deferred[*matcher]
}

// Compile compiles an expression in Java's syntax. Errors are *SyntaxError.
func Compile(expression string, flags Flags) (*Regexp, error) {
	parsed, err := parse(expression, flags)
	if err != nil {
		return nil, err
	}
	whole, err := newMatcher(expression, parsed, true)
	if err != nil {
		return nil, &SyntaxError{Expression: expression, Reason: err.Error()}
	}
	return &Regexp{source: expression, flags: flags, parsed: parsed, whole: whole}, nil
}

// String returns the source of the expression.
func (r *Regexp) String() string { return r.source }

// Flags returns the flags the expression was compiled with.
func (r *Regexp) Flags() Flags { return r.flags }

// Groups returns the number of capturing groups, group 0 not counted.
func (r *Regexp) Groups() int { return r.parsed.groups }

// Engine names the engine that runs whole matches of the expression:
// "automaton", this package's own, or "regexp", Go's, in time linear in the text;
// or "backtracking", also this package's own, limited by work. The reason is the construct
// that made it necessary, empty for the other engines.
func (r *Regexp) Engine() (name, reason string) { return r.whole.engine() }

// Match reports whether the expression matches all of text. The result has the start and end of group 0
// and of each capturing group, -1 for one that took no part. It is appended to dst[:0], and empty without
// a match. An error means that the match could not be decided: it required too much backtracking,
// ErrBacktracking, or the expression is too large for the engine that a text beyond ASCII needs.
func (r *Regexp) Match(dst []int, text []byte) ([]int, bool, error) {
	return r.whole.match(dst, text)
}

// Find searches text from offset, in bytes, for the first match of the expression and returns the
// positions as Match does. Anchors and lookbehind see the text before offset; \G is at offset.
func (r *Regexp) Find(dst []int, text []byte, offset int) ([]int, bool, error) {
	if offset < 0 || offset > len(text) {
		return dst[:0], false, fmt.Errorf("searching for %s from offset %d of a text of %d bytes", shortened(r.source), offset, len(text))
	}
	return r.findPast(dst, text, offset, false)
}

func (r *Regexp) findPast(dst []int, text []byte, offset int, past bool) ([]int, bool, error) {
	search, err := r.search.get(func() (*matcher, error) { return newMatcher(r.source, r.parsed, false) })
	if err != nil {
		return dst[:0], false, fmt.Errorf("compiling %s for searches: %w", shortened(r.source), err)
	}
	return search.find(dst, text, offset, past)
}
