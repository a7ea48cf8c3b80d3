package javaregex

import (
	"unicode"

	"github.com/rmctl/rmctl/internal/backtrack"
)

// newBacktracker writes an expression for whole matches or for searches.
func newBacktracker(parsed program, whole bool) *backtrack.Program {
	w := backtrackWriter{backtrack.NewBuilder(parsed.groups)}
	end := backtrack.Accept
	if whole {
		end = w.Check(textEnd.check(), end)
	}
	return w.Program(w.node(parsed.root, end), whole || beginsAtStart(parsed.root))
}

// beginsAtStart reports whether a match can only begin where a search does.
func beginsAtStart(root node) bool {
	if list, isSequence := root.(sequence); isSequence && len(list.parts) > 0 {
		root = list.parts[0]
	}
	first, isAssertion := root.(assertion)
	return isAssertion && (first.kind == textStart || first.kind == previousMatchEnd)
}

// A backtrackWriter writes an expression as a program, from its end to its start.
type backtrackWriter struct{ *backtrack.Builder }

// node returns the first operation of a node that next follows.
func (w *backtrackWriter) node(part node, next int) int {
	switch part := part.(type) {
	case one:
		return w.Rune(part.set.contains, next)
	case sequence:
		return w.sequence(part.parts, next)
	case alternation:
		return w.branches(part.branches, next)
	case group:
		return w.group(part, next)
	case repeat:
		return w.loop(part, next)
	case look:
		return w.look(part, next)
	case backreference:
		return w.reference(part, next)
	case assertion:
		return w.Check(part.kind.check(), next)
	}
	return w.lineBreak(next)
}

// sequence writes runes that stand one after the other as one text.
func (w *backtrackWriter) sequence(parts []node, next int) int {
	for end := len(parts); end > 0; {
		text := literalBefore(parts[:end])
		if len(text) > 1 {
			next = w.Text(text, next)
			end -= len(text)
			continue
		}
		end--
		next = w.node(parts[end], next)
	}
	return next
}

// literalBefore returns the runes that must stand at the end of the parts.
func literalBefore(parts []node) []rune {
	begin := len(parts)
	for begin > 0 {
		if _, isRune := onlyRune(parts[begin-1]); !isRune {
			break
		}
		begin--
	}
	text := make([]rune, 0, len(parts)-begin)
	for _, part := range parts[begin:] {
		r, _ := onlyRune(part)
		text = append(text, r)
	}
	return text
}

// onlyRune returns the rune of a node that matches one alone.
func onlyRune(part node) (rune, bool) {
	character, isOne := part.(one)
	if !isOne {
		return 0, false
	}
	return character.set.only()
}

// branches makes one of branches that are single runes.
func (w *backtrackWriter) branches(branches []node, next int) int {
	var set runeSet
	for _, branch := range branches {
		character, isOne := branch.(one)
		if !isOne {
			return w.choices(branches, next)
		}
		set = set.union(character.set)
	}
	return w.node(one{set}, next)
}

func (w *backtrackWriter) choices(branches []node, next int) int {
	last := len(branches) - 1
	entry := w.node(branches[last], next)
	for i := last - 1; i >= 0; i-- {
		entry = w.Branch(w.node(branches[i], next), entry)
	}
	return entry
}

// body returns a function that writes a node.
func (w *backtrackWriter) body(part node) func(next int) int {
	return func(next int) int { return w.node(part, next) }
}

func (w *backtrackWriter) group(part group, next int) int {
	switch {
	case part.atomic:
		return w.Once(next, w.body(part.body))
	case part.capture == 0:
		return w.node(part.body, next)
	}
	return w.Group(part.capture, next, w.body(part.body))
}

func (w *backtrackWriter) loop(loop repeat, next int) int {
	loop = multiplied(loop)
	bounds := backtrack.Loop{Least: loop.min, Most: loop.max, Lazy: loop.mode == lazy, Possessive: loop.mode == possessive}
	if character, isOne := ungrouped(loop.body).(one); isOne {
		return w.Repeat(bounds, character.set.contains, next)
	}
	if bounds.Possessive {
		loop.mode = greedy
		return w.Once(next, w.body(loop))
	}
	if loop.max > 1 {
		return w.Rounds(bounds, next, w.body(loop.body))
	}
	body := next
	if loop.max == 1 {
		body = w.node(loop.body, next)
	}
	switch {
	case loop.min == loop.max:
		return body
	case bounds.Lazy:
		return w.Branch(next, body)
	}
	return w.Branch(body, next)
}

// multiplied makes one loop of a loop within another one of its mode: what both match in exponentially many ways, one
// matches in few. Counts with gaps between their multiples stay as they are.
func multiplied(loop repeat) repeat {
	for loop.mode != possessive {
		inner, isLoop := ungrouped(loop.body).(repeat)
		if !isLoop || inner.mode != loop.mode || loop.min == 0 && inner.min > 1 || inner.max < 2*inner.min {
			break
		}
		loop.body = inner.body
		loop.min, loop.max = min(loop.min*inner.min, unlimited), min(loop.max*inner.max, unlimited)
	}
	return loop
}

// ungrouped returns what is inside groups that only hold it together.
func ungrouped(part node) node {
	for {
		around, isGroup := part.(group)
		if !isGroup || around.atomic || around.capture > 0 {
			return part
		}
		part = around.body
	}
}

func (w *backtrackWriter) look(part look, next int) int {
	if part.behind {
		return w.LookBehind(part.negative, minLength(part.body), maxLength(part.body), next, w.body(part.body))
	}
	return w.LookAhead(part.negative, next, w.body(part.body))
}

func (w *backtrackWriter) reference(part backreference, next int) int {
	switch {
	case part.ignoreCase && part.ignoreNonASCIICase:
		return w.Reference(part.group, foldUnicode, next)
	case part.ignoreCase:
		return w.Reference(part.group, foldASCII, next)
	}
	return w.Reference(part.group, nil, next)
}

// foldASCII and foldUnicode make the same rune of those that are equal if case does not count.
func foldASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func foldUnicode(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

func (w *backtrackWriter) lineBreak(next int) int {
	return w.Branch(w.Text([]rune("\r\n"), next), w.Rune(verticalSpace.contains, next))
}
