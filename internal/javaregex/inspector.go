package javaregex

import (
	"unicode/utf8"
)

// Texts is the set of texts to consider in questions about expressions. The zero value contains every
// text.
type Texts struct {
	// Delimiter is a rune that no text contains; 0 for none.
	Delimiter rune
	// KeepsDelimiter lets texts end in the delimiter, a carriage return with a
	// line feed behind it.
	KeepsDelimiter bool
	// NotEmpty excludes the empty text.
	NotEmpty bool
}

// reading is the state of reading a text of Texts.
type reading uint8

const (
	nothingRead reading = iota
	insideRead
	delimiterRead
	lineFeedRead
)

// over returns the runes of a set that may come next, in parts that lead to
// different readings.
func (t Texts) over(at reading, set runeSet, use func(part runeSet, next reading) bool) bool {
	if at >= delimiterRead {
		if at == delimiterRead && t.Delimiter == '\r' && set.contains('\n') {
			return use(singleRune('\n'), lineFeedRead)
		}
		return true
	}
	if t.Delimiter == 0 || t.Delimiter == utf8.RuneError || !set.contains(t.Delimiter) {
		return use(set, insideRead)
	}
	if t.KeepsDelimiter && !use(singleRune(t.Delimiter), delimiterRead) {
		return false
	}
	if set = set.without(singleRune(t.Delimiter)); len(set) > 0 {
		return use(set, insideRead)
	}
	return true
}

func (t Texts) mayEnd(at reading) bool { return at != nothingRead || !t.NotEmpty }

// An Inspector answers questions about the texts that expressions match as a whole. Its effort is
// limited: it answers false if it finds no proof in time. It is not safe for concurrent use.
type Inspector struct {
	effort    int
	languages map[languageKey]*language
}

type languageKey struct {
	expression *Regexp
	stance     stance
}

// NewInspector returns an inspector with a limit of steps, of some hundred nanoseconds each, for all
// questions together.
func NewInspector(effort int) *Inspector {
	return &Inspector{effort: effort, languages: map[languageKey]*language{}}
}

// anyText stands for what matches everything.
var anyText = repeat{body: one{everyRune}, max: unlimited}

// language returns nil for an expression that is too large.
func (i *Inspector) language(expression *Regexp, stance stance) *language {
	key := languageKey{expression, stance}
	if known, done := i.languages[key]; done {
		return known
	}
	var root node = anyText
	if expression != nil {
		root = expression.parsed.root
	}
	built := newLanguage(root, stance)
	i.languages[key] = built
	if built != nil {
		i.effort -= len(built.instructions) / 8
	}
	return built
}

// spend reports whether more steps are permitted.
func (i *Inspector) spend(steps int) bool {
	i.effort -= steps
	return i.effort >= 0
}

// Impossible reports whether the expression certainly matches none of the texts.
func (i *Inspector) Impossible(expression *Regexp, texts Texts) bool {
	return i.covers(expression, nil, texts)
}

type readStanding struct {
	standing
	at reading
}

// Overlap reports whether some text may be matched by both of two expressions.
// It denies that only if it is certain.
func (i *Inspector) Overlap(one, other *Regexp) bool {
	a, b := i.language(one, generous), i.language(other, generous)
	if a == nil || b == nil {
		return true
	}
	type pair struct{ one, other standing }
	start := pair{standing{state: a.start}, standing{state: b.start}}
	visited := map[pair]bool{start: true}
	pending := []pair{start}
	var ways, otherWays []step
	for len(pending) > 0 {
		current := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		ways = a.steps(ways[:0], current.one)
		otherWays = b.steps(otherWays[:0], current.other)
		if !i.spend(a.effort() + b.effort()) {
			return true
		}
		for _, way := range ways {
			for _, otherWay := range otherWays {
				switch {
				case way.set == nil && otherWay.set == nil:
					return true
				case way.set == nil || otherWay.set == nil || len(way.set.intersection(otherWay.set)) == 0:
					continue
				}
				if next := (pair{way.target, otherWay.target}); !visited[next] {
					visited[next] = true
					pending = append(pending, next)
				}
			}
		}
	}
	return false
}

// MinLength returns a lower bound for the length, in characters, of texts that the expression matches.
func (r *Regexp) MinLength() int { return minLength(r.parsed.root) }

// Culprit returns the offset, in bytes, at which an expression becomes impossible: the end of its longest
// possible prefix.
func (i *Inspector) Culprit(expression *Regexp, texts Texts) int {
	const longest = 400 // each beginning is parsed
	text := expression.source
	if len(text) > longest {
		return 0
	}
	texts.NotEmpty = false
	for end := len(text) - 1; end > 0; end-- {
		if !utf8.RuneStart(text[end]) {
			continue
		}
		if beginning := parsedBeginning(text[:end], expression.flags); beginning != nil && !i.Impossible(beginning, texts) {
			return end
		}
	}
	return 0
}

// parsedBeginning parses a prefix of an expression and closes its open groups. It returns nil if the
// prefix is invalid.
func parsedBeginning(text string, flags Flags) *Regexp {
	open := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '(':
			open++
		case ')':
			open--
		}
	}
	for range max(open, 0) {
		text += ")"
	}
	parsed, err := parse(text, flags)
	if err != nil {
		return nil
	}
	return &Regexp{source: text, flags: flags, parsed: parsed}
}
