package javaregex

import (
	"errors"
	"fmt"
	"strings"
)

// A dialect is the syntax an expression is written in for an engine.
type dialect uint8

const (
	linear       dialect = iota // Go's regexp
	backtracking                // regexp2
)

// maxEmittedLength bounds an expression written for an engine, in bytes.
// Character classes are written out, so it may be much longer than its source.
const maxEmittedLength = 1 << 20

// errTooLong is returned for an expression that exceeds maxEmittedLength.
var errTooLong = errors.New("the expression is too large once its character classes are written out")

// errBacktrack is returned for an expression with which the linear engine cannot give
// Java's result; the emitter knows the reason.
var errBacktrack = errors.New("the expression requires backtracking")

// An emitter writes a parsed expression for an engine.
type emitter struct {
	dialect dialect
	groups  int
	whole   bool
	out     strings.Builder
	// asciiOnly is set when what was written means the same as in Java only on ASCII text.
	asciiOnly bool
	size      int    // instructions that the linear engine will need, about
	reason    string // for errBacktrack: the construct
}

// emit writes an expression for whole matches or for searches. The error is
// errBacktrack or errTooLong.
func emit(parsed program, target dialect, whole bool) (*emitter, error) {
	e := &emitter{dialect: target, groups: parsed.groups, whole: whole}
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

// needsBacktracking refuses a construct for the linear engine and lets it
// pass for the other.
func (e *emitter) needsBacktracking(reason string) error {
	if e.dialect != linear {
		return nil
	}
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
		if err := e.needsBacktracking("counted repetitions make it too large"); err != nil {
			return err
		}
	}
	switch part := part.(type) {
	case one:
		e.set(part.set)
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
		return e.look(part, copies)
	case backreference:
		return e.backreference(part)
	case assertion:
		return e.assertion(part.kind, where)
	case lineBreak:
		e.out.WriteString(`(?:\r\n|`)
		e.set(verticalSpace)
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
		if err := e.needsBacktracking("atomic group"); err != nil {
			return err
		}
		e.out.WriteString("(?>")
		// What an assertion decides inside cannot be left to the end of the match.
		where = place{}
	case part.capture == 0:
		e.out.WriteString("(?:")
	case e.dialect == linear:
		e.out.WriteByte('(')
	default:
		// Numbered by name: the engine would number groups in another order.
		fmt.Fprintf(&e.out, "(?<%d>", part.capture)
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
	if loop.mode == possessive {
		e.out.WriteString("(?>")
		where = place{}
	}
	bracketed := true
	switch loop.body.(type) {
	case one, group:
		bracketed = false
	}
	if bracketed {
		e.out.WriteString("(?:")
	}
	if err := e.node(loop.body, loop.inside(where), min(copies*writtenRounds(loop), maxLinearSize+1)); err != nil {
		return err
	}
	if bracketed {
		e.out.WriteByte(')')
	}
	e.out.WriteString(quantifier(loop.min, loop.max))
	switch loop.mode {
	case lazy:
		e.out.WriteByte('?')
	case possessive:
		e.out.WriteByte(')')
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

func (e *emitter) look(part look, copies int) error {
	if err := e.needsBacktracking("lookahead or lookbehind"); err != nil {
		return err
	}
	e.out.WriteString("(?")
	if part.behind {
		e.out.WriteByte('<')
	}
	if part.negative {
		e.out.WriteByte('!')
	} else {
		e.out.WriteByte('=')
	}
	if err := e.node(part.body, place{}, copies); err != nil {
		return err
	}
	e.out.WriteByte(')')
	return nil
}

func (e *emitter) backreference(part backreference) error {
	if err := e.needsBacktracking("backreference"); err != nil {
		return err
	}
	switch {
	case part.group > e.groups:
		e.out.WriteString("(?!)") // a group that does not exist never matched
	case part.ignoreCase:
		fmt.Fprintf(&e.out, `(?i:\k<%d>)`, part.group)
	default:
		fmt.Fprintf(&e.out, `\k<%d>`, part.group)
	}
	return nil
}

// terminators are the line terminators but \n and \r, for the insides of a class.
const terminators = "\u0085\u2028\u2029"

func (e *emitter) assertion(kind assertionKind, where place) error {
	if kind.holdsAt(where) {
		return nil
	}
	switch kind {
	case textStart:
		e.out.WriteString(`\A`)
		return nil
	case textEnd:
		e.out.WriteString(`\z`)
		return nil
	case wordEdge, unicodeWordEdge, noWordEdge, noUnicodeWordEdge:
		e.wordEdge(kind)
		return nil
	}
	if e.dialect == linear {
		switch {
		case kind == unixLineEnd:
			e.out.WriteString(`(?m:$)`)
			return nil
		case kind == unixLineStart && where.follow > 0:
			e.out.WriteString(`(?m:^)`)
			return nil
		}
		return e.needsBacktracking("anchor " + anchorNames[kind])
	}
	e.out.WriteString(anchors[kind])
	return nil
}

var anchorNames = map[assertionKind]string{
	lastLineEnd: `$ or \Z`, lastUnixLineEnd: `$ or \Z`, lineEnd: "$", unixLineEnd: "$",
	lineStart: "^", unixLineStart: "^", previousMatchEnd: `\G`,
}

var anchors = map[assertionKind]string{
	previousMatchEnd: `\G`,
	lastLineEnd:      `(?=\z|\r\n\z|(?<!\r)\n\z|[\r` + terminators + `]\z)`,
	lastUnixLineEnd:  `(?=\n?\z)`,
	lineEnd:          `(?=\z|(?<!\r)\n|[\r` + terminators + `])`,
	unixLineEnd:      `(?=\z|\n)`,
	lineStart:        `(?!\z)(?:(?<=\A|[\n` + terminators + `])|(?<=\r)(?!\n))`,
	unixLineStart:    `(?!\z)(?<=\A|\n)`,
}

func (e *emitter) wordEdge(kind assertionKind) {
	negated := kind == noWordEdge || kind == noUnicodeWordEdge
	if e.dialect == linear {
		e.asciiOnly = true
		if negated {
			e.out.WriteString(`\B`)
		} else {
			e.out.WriteString(`\b`)
		}
		return
	}
	before, after := wordSides(kind == unicodeWordEdge || kind == noUnicodeWordEdge)
	if negated {
		fmt.Fprintf(&e.out, `(?:(?<=%s)(?=%s)|(?<!%s)(?!%s))`, before, after, before, after)
	} else {
		fmt.Fprintf(&e.out, `(?:(?<=%s)(?!%s)|(?<!%s)(?=%s))`, before, after, before, after)
	}
}

// What must stand before a place, and after it, for there to be a word on that
// side, with %s for the runes of words. A combining mark belongs to the word of
// the letter or digit that it stands on; Java looks for that one UTF-16 unit at
// a time, and so finds those of the basic plane only.
const (
	beyondBasicPlane = "-[\U00010000-\U0010FFFF]]"
	wordBefore       = `(?:%s|[\p{L}\p{Nd}` + beyondBasicPlane + `[\p{Mn}` + beyondBasicPlane + `+)`
	wordAfter        = `(?:%s|(?<=[\p{L}\p{Nd}` + beyondBasicPlane + `[\p{Mn}` + beyondBasicPlane + `*)\p{Mn})`
)

func wordSides(unicodeWords bool) (before, after string) {
	members := `[_\p{L}\p{Nd}]`
	if unicodeWords {
		members = classText(word.runes(), backtracking)
	}
	return fmt.Sprintf(wordBefore, members), fmt.Sprintf(wordAfter, members)
}
