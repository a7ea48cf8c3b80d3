package javaregex

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/backtrack"
)

// maxWork bounds one match of the backtracking engine, to one to three seconds of CPU time.
const maxWork = 600_000_000

// A matcher runs one expression, either for whole matches or for searches, on
// the engines that give Java's result.
type matcher struct {
	source string
	parsed program
	whole  bool
	limit  int // limit of work for the backtracking engine

	reason    string // why the linear engine cannot be right; empty where it can
	written   string // the expression for the linear engine
	asciiOnly bool   // the linear engine is right on ASCII text only
	literals

	// automaton runs whole matches only. It is nil if it does not support the expression, or for large
	// expressions.
	automaton deferred[*automaton]

	// Each engine is compiled when a text first needs it. For most expressions of a definition, no text
	// contains the required literals.
	linear       deferred[*regexp.Regexp] // nil where the expression is too large for it
	backtracking deferred[*backtrack.Program]

	// continued finds what linear finds, after one rune that it skips and
	// that anchors and word edges see.
	continued deferred[*regexp.Regexp]
}

func newMatcher(source string, parsed program, whole bool) (*matcher, error) {
	m := &matcher{source: source, parsed: parsed, whole: whole, limit: maxWork}
	m.literals = findLiterals(parsed.root)
	text, err := emit(parsed, whole)
	if errors.Is(err, errBacktrack) {
		m.reason = text.reason
		return m, nil
	}
	m.written, m.asciiOnly = text.out.String(), text.asciiOnly
	return m, err
}

// ownEngine returns the automaton, nil if another engine must run.
func (m *matcher) ownEngine() *automaton {
	if !m.whole {
		return nil
	}
	engine, _ := m.automaton.get(func() (*automaton, error) { return newAutomaton(m.parsed, string(m.prefix)), nil })
	return engine
}

// linearEngine returns the linear engine, nil if it cannot give the right result.
func (m *matcher) linearEngine() *regexp.Regexp {
	if m.reason != "" {
		return nil
	}
	// An error means that the expression is too large; the other engine takes it.
	engine, _ := m.linear.get(func() (*regexp.Regexp, error) { return regexp.Compile(m.written) })
	return engine
}

// continuedEngine returns the engine for continued searches, nil if it would be too large.
func (m *matcher) continuedEngine() *regexp.Regexp {
	engine, _ := m.continued.get(func() (*regexp.Regexp, error) { return regexp.Compile(`\A(?s:.)(?s:.*?)(` + m.written + `)`) })
	return engine
}

func (m *matcher) backtrackingEngine() *backtrack.Program {
	engine, _ := m.backtracking.get(func() (*backtrack.Program, error) { return newBacktracker(m.parsed, m.whole), nil })
	return engine
}

// linearFor returns the linear engine if it decides a text, else nil.
func (m *matcher) linearFor(text []byte) *regexp.Regexp {
	if m.asciiOnly && !isASCII(text) {
		return nil
	}
	return m.linearEngine()
}

// engine returns the name of the preferred engine, with the reason if it is the backtracking one.
func (m *matcher) engine() (name, reason string) {
	switch {
	case m.reason != "":
		return "backtracking", m.reason
	case m.ownEngine() != nil:
		return "automaton", ""
	case m.linearEngine() == nil:
		return "backtracking", "too large for the linear engine"
	}
	return "regexp", ""
}

func isASCII(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mayMatch reports whether a text contains the literals that the expression requires. The prefix excludes
// most texts at once.
func (m *matcher) mayMatch(text []byte) bool {
	return (len(m.prefix) == 0 || bytes.HasPrefix(text, m.prefix)) && m.required.in(text)
}

func (m *matcher) match(dst []int, text []byte) ([]int, bool, error) {
	if !m.mayMatch(text) {
		return dst[:0], false, nil
	}
	if m.reason == "" {
		if own := m.ownEngine(); own != nil {
			if positions, matched, decided := own.match(dst, text); decided {
				return positions, matched, nil
			}
		}
	}
	linear := m.linearFor(text)
	if linear == nil {
		return m.backtrack(dst, text, 0, false)
	}
	if m.parsed.groups == 0 {
		// Without groups the engine need not build a result.
		if !linear.Match(text) {
			return dst[:0], false, nil
		}
		return append(dst[:0], 0, len(text)), true, nil
	}
	found := linear.FindSubmatchIndex(text)
	return append(dst[:0], found...), found != nil, nil
}

// find searches from an offset or, where the last match was an empty one
// there, past it: \G still is at the offset then.
func (m *matcher) find(dst []int, text []byte, offset int, past bool) ([]int, bool, error) {
	if !m.required.in(text[offset:]) {
		return dst[:0], false, nil
	}
	linear := m.linearFor(text)
	if linear == nil {
		return m.backtrack(dst, text, offset, past)
	}
	if past {
		if offset == len(text) {
			return dst[:0], false, nil
		}
		_, width := utf8.DecodeRune(text[offset:])
		offset += width
	}
	if offset == 0 {
		found := linear.FindSubmatchIndex(text)
		return append(dst[:0], found...), found != nil, nil
	}
	_, width := utf8.DecodeLastRune(text[:offset])
	from := offset - width
	_, whole := utf8.DecodeRune(text[from:])
	continued := m.continuedEngine()
	if whole != width || continued == nil {
		// Only the other engine can start within a character.
		return m.backtrack(dst, text, offset, false)
	}
	found := continued.FindSubmatchIndex(text[from:])
	dst = dst[:0]
	if found == nil {
		return dst, false, nil
	}
	for _, position := range found[2:] {
		if position >= 0 {
			position += from
		}
		dst = append(dst, position)
	}
	return dst, true, nil
}

// scratch holds a text as runes for the backtracking engine.
type scratch struct {
	runes   []rune
	offsets []int // of each rune and of the end, in bytes
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// maxKeptScratch is the capacity, in runes, up to which a scratch is reused.
const maxKeptScratch = 1 << 16

// decode decodes a text; an invalid byte becomes one replacement character. It
// returns the index of the rune at the offset, which begins a rune even if
// that tears one apart.
func (s *scratch) decode(text []byte, offset int) (start int) {
	s.runes, s.offsets = s.runes[:0], s.offsets[:0]
	add := func(part []byte, base int) {
		for i := 0; i < len(part); {
			r, width := utf8.DecodeRune(part[i:])
			s.runes = append(s.runes, r)
			s.offsets = append(s.offsets, base+i)
			i += width
		}
	}
	add(text[:offset], 0)
	start = len(s.runes)
	add(text[offset:], offset)
	s.offsets = append(s.offsets, len(text))
	return start
}

func (m *matcher) backtrack(dst []int, text []byte, offset int, past bool) ([]int, bool, error) {
	buffer := scratches.Get().(*scratch)
	from := buffer.decode(text, offset)
	start := from
	if past {
		start++
	}
	dst, matched, _, err := m.backtrackingEngine().Find(dst[:0], buffer.runes, from, start, m.limit)
	if err != nil {
		err = fmt.Errorf("matching %s: %w", shortened(m.source), err)
	}
	for i, position := range dst {
		if position >= 0 {
			dst[i] = buffer.offsets[position]
		}
	}
	if cap(buffer.runes) <= maxKeptScratch {
		scratches.Put(buffer)
	}
	return dst, matched, err
}
