// Package javaregex gives regular expressions the meaning that
// java.util.regex gives them, over Go's linear-time engine where that can be
// done with the same result and over a backtracking one, bounded in time, where
// it cannot.
package javaregex

import (
	"errors"
	"fmt"
	"regexp"
)

// A SyntaxError tells where an expression is wrong.
type SyntaxError struct {
	Expression string
	Offset     int // in bytes, from 0
	Reason     string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at character %d of %q", e.Reason, e.Offset+1, e.Expression)
}

// ErrTimeout is wrapped by the error of a match that took too long.
var ErrTimeout = errors.New("the expression took too long on this text")

// A Regexp is a compiled expression; it is safe for concurrent use.
type Regexp struct {
	source string
	flags  Flags
	whole  *regexp.Regexp
	find   *regexp.Regexp
}

// Compile compiles an expression in Java's syntax. Errors are *SyntaxError.
func Compile(expression string, flags Flags) (*Regexp, error) {
	whole, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		return nil, &SyntaxError{Expression: expression, Reason: err.Error()}
	}
	find, err := regexp.Compile(expression)
	if err != nil {
		return nil, &SyntaxError{Expression: expression, Reason: err.Error()}
	}
	return &Regexp{source: expression, flags: flags, whole: whole, find: find}, nil
}

// String returns the expression as it was given.
func (r *Regexp) String() string { return r.source }

// Flags returns the flags the expression was compiled with.
func (r *Regexp) Flags() Flags { return r.flags }

// Groups returns the number of capturing groups, group 0 not counted.
func (r *Regexp) Groups() int { return r.whole.NumSubexp() }

// Engine names the engine that runs the expression: "regexp" or "regexp2".
func (r *Regexp) Engine() string { return "regexp" }

// Match reports whether the expression matches all of text. The result holds
// the start and end of group 0 and of each capturing group, -1 for one that
// took no part; it is appended to dst[:0]. The error is not nil only when the
// match could not be decided in time.
func (r *Regexp) Match(dst []int, text []byte) ([]int, bool, error) {
	found := r.whole.FindSubmatchIndex(text)
	return append(dst[:0], found...), found != nil, nil
}

// MatchString is like Match without groups.
func (r *Regexp) MatchString(text string) (bool, error) { return r.whole.MatchString(text), nil }

// Find searches text from offset for the first match of the expression and
// returns the positions as Match does.
func (r *Regexp) Find(dst []int, text []byte, offset int) ([]int, bool, error) {
	found := r.find.FindSubmatchIndex(text[offset:])
	for i := range found {
		if found[i] >= 0 {
			found[i] += offset
		}
	}
	return append(dst[:0], found...), found != nil, nil
}

// Split splits text at the matches of the expression as Java's Pattern.split
// does: trailing empty pieces are left out, a text without a match is one piece.
func (r *Regexp) Split(text []byte) ([][]byte, error) {
	var pieces [][]byte
	for _, piece := range r.find.Split(string(text), -1) {
		pieces = append(pieces, []byte(piece))
	}
	for len(pieces) > 0 && len(pieces[len(pieces)-1]) == 0 {
		pieces = pieces[:len(pieces)-1]
	}
	return pieces, nil
}
