package javaregex

import (
	"errors"
	"fmt"
	"strings"
)

// maxEmittedLength bounds an expression written for the linear engine, in bytes.
// Character classes are written out, so it may be much longer than its source.
const maxEmittedLength = 1 << 20

// errTooLong is returned for an expression that exceeds maxEmittedLength.
var errTooLong = errors.New("the expression is too large once its character classes are written out")

// errBacktrack is returned for an expression with which the linear engine cannot give
// Java's result; the emitter knows the reason.
var errBacktrack = errors.New("the expression requires backtracking")

// An emitter writes a parsed expression for the linear engine, Go's regexp.
type emitter struct {
	groups int
	whole  bool
	out    strings.Builder
	// asciiOnly is set when what was written means the same as in Java only on ASCII text.
	asciiOnly bool
	size      int    // instructions that the linear engine will need, about
	reason    string // for errBacktrack: the construct
}

// emit writes an expression for whole matches or for searches. The error is
// errBacktrack or errTooLong.
func emit(parsed program, whole bool) (*emitter, error) {
	e := &emitter{groups: parsed.groups, whole: whole}
	where := place{first: whole, last: whole}
	if whole {
		e.out.WriteString(`\A(?:`)
	}
	err := e.node(parsed.root, where, 1)
	if whole {
		e.out.WriteString(`)\z`)
	}
	return e, err
}

// maxLinearSize bounds the instructions of the linear engine, which writes
// counted repetitions out; beyond it, its time and memory grow without need.
const maxLinearSize = 20_000

// needsBacktracking refuses a construct.
func (e *emitter) needsBacktracking(reason string) error {
	e.reason = reason
	return errBacktrack
}

// node writes one node; copies is how often loops around it repeat it.
func (e *emitter) node(part node, where place, copies int) error {
	if e.out.Len() > maxEmittedLength {
		return errTooLong
	}
	e.size += copies
	if e.size > maxLinearSize {
		return e.needsBacktracking("counted repetitions make it too large")
	}
	switch part := part.(type) {
	case one:
		writeClass(&e.out, part.set)
		return nil
	case sequence:
		return e.sequence(part, where, copies)
	case alternation:
		return e.alternation(part, where, copies)
	case group:
		return e.group(part, where, copies)
	case repeat:
		return e.loop(part, where, copies)
	case look:
		return e.needsBacktracking("lookahead or lookbehind")
	case backreference:
		return e.needsBacktracking("backreference")
	case assertion:
		return e.assertion(part.kind, where)
	case lineBreak:
		e.out.WriteString(`(?:\r\n|`)
		writeClass(&e.out, verticalSpace)
		e.out.WriteByte(')')
		return nil
	}
	return fmt.Errorf("an expression node of an unknown kind: %T", part)
}

func (e *emitter) sequence(list sequence, where place, copies int) error {
	for i, inside := range list.places(where) {
		if err := e.node(list.parts[i], inside, copies); err != nil {
			return err
		}
	}
	return nil
}

func (e *emitter) alternation(list alternation, where place, copies int) error {
	e.out.WriteString("(?:")
	for i, branch := range list.branches {
		if i > 0 {
			e.out.WriteByte('|')
		}
		if err := e.node(branch, where, copies); err != nil {
			return err
		}
	}
	e.out.WriteByte(')')
	return nil
}

func (e *emitter) group(part group, where place, copies int) error {
	switch {
	case part.atomic:
		return e.needsBacktracking("atomic group")
	case part.capture == 0:
		e.out.WriteString("(?:")
	default:
		e.out.WriteByte('(')
	}
	if err := e.node(part.body, where, copies); err != nil {
		return err
	}
	e.out.WriteByte(')')
	return nil
}

func (e *emitter) loop(loop repeat, where place, copies int) error {
	if err := e.checkLoop(loop); err != nil {
		return err
	}
	e.out.WriteString("(?:")
	if err := e.node(loop.body, loop.inside(where), min(copies*writtenRounds(loop), maxLinearSize+1)); err != nil {
		return err
	}
	e.out.WriteByte(')')
	e.out.WriteString(quantifier(loop.min, loop.max))
	if loop.mode == lazy {
		e.out.WriteByte('?')
	}
	return nil
}

// checkLoop refuses loops that only the backtracking engine repeats as Java does.
func (e *emitter) checkLoop(loop repeat) error {
	switch {
	case loop.mode == possessive:
		return e.needsBacktracking("possessive quantifier")
	case loop.max > 1 && minLength(loop.body) == 0 && e.emptyRoundShows(loop.body):
		return e.needsBacktracking("loop whose body can match the empty text")
	case writtenRounds(loop) > 1000:
		return e.needsBacktracking("repetition of more than 1000")
	}
	return nil
}

// writtenRounds returns how often the linear engine writes the body of a loop out.
func writtenRounds(loop repeat) int {
	if loop.max == unlimited {
		return max(loop.min, 1)
	}
	return max(loop.max, 1)
}

// emptyRoundShows reports whether it can be seen that the linear engine never
// goes round a loop without moving on, while Java does so once: in a group
// within, or in how far a search or a group reaches where the body may prefer
// the empty text.
func (e *emitter) emptyRoundShows(body node) bool {
	return holds(body, isCapture) || (e.groups > 0 || !e.whole) && holds(body, isChoice)
}

func quantifier(least, most int) string {
	switch {
	case most == unlimited:
		return fmt.Sprintf("{%d,}", least)
	case least == most:
		return fmt.Sprintf("{%d}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, most)
}

func (e *emitter) assertion(kind assertionKind, where place) error {
	if kind.holdsAt(where) {
		return nil
	}
	switch kind {
	case textStart:
		e.out.WriteString(`\A`)
	case textEnd:
		e.out.WriteString(`\z`)
	case wordEdge, unicodeWordEdge:
		e.asciiOnly = true
		e.out.WriteString(`\b`)
	case noWordEdge, noUnicodeWordEdge:
		e.asciiOnly = true
		e.out.WriteString(`\B`)
	case unixLineEnd:
		e.out.WriteString(`(?m:$)`)
	case unixLineStart:
		if where.follow == 0 {
			return e.needsBacktracking("anchor ^")
		}
		e.out.WriteString(`(?m:^)`)
	case lineStart:
		return e.needsBacktracking("anchor ^")
	case lineEnd:
		return e.needsBacktracking("anchor $")
	case previousMatchEnd:
		return e.needsBacktracking(`anchor \G`)
	default:
		return e.needsBacktracking(`anchor $ or \Z`)
	}
	return nil
}
