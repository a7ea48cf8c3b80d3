package javaregex

import "slices"

// A trial matches an expression in the way that backtracking engines have in
// common and counts the steps. Other than time, steps do not depend on what
// else the machine does.
type trial struct {
	text   []rune
	steps  int
	most   int      // steps after which the trial is given up
	groups [][2]int // what each group has matched
}

// countSteps returns how many steps a whole match takes, at most so many.
func countSteps(parsed program, text string, most int) int {
	t := &trial{text: []rune(text), most: most, groups: make([][2]int, parsed.groups+1)}
	t.match(parsed.root, 0, func(at int) bool { return at == len(t.text) })
	return min(t.steps, most)
}

// match tries a node at a place, and what follows it at each place where the
// node can end. A trial that is given up looks like a success: it ends at once.
func (t *trial) match(part node, at int, follow func(at int) bool) bool {
	t.steps++
	if t.steps >= t.most {
		return true
	}
	switch part := part.(type) {
	case one:
		return t.isIn(part.set, at) && follow(at+1)
	case lineBreak:
		return t.lineBreak(at, follow)
	case sequence:
		return t.sequence(part.parts, at, follow)
	case alternation:
		return slices.ContainsFunc(part.branches, func(branch node) bool { return t.match(branch, at, follow) })
	case group:
		return t.group(part, at, follow)
	case repeat:
		if part.mode == possessive {
			part.mode = greedy
			return t.once(part, at, follow)
		}
		return t.repeat(part, 0, at, follow)
	case look:
		return t.looks(part, at) != part.negative && follow(at)
	case backreference:
		return t.backreference(part, at, follow)
	case assertion:
		return t.holds(part.kind, at) && follow(at)
	}
	return false
}

// isIn reports whether a rune of the set is at a place.
func (t *trial) isIn(set runeSet, at int) bool {
	return at < len(t.text) && set.contains(t.text[at])
}

// lineBreak takes \r\n as one line break first, then \r alone.
func (t *trial) lineBreak(at int, follow func(at int) bool) bool {
	if at+1 < len(t.text) && t.text[at] == '\r' && t.text[at+1] == '\n' && follow(at+2) {
		return true
	}
	return t.isIn(verticalSpace, at) && follow(at+1)
}

func (t *trial) backreference(part backreference, at int, follow func(at int) bool) bool {
	earlier := t.text[t.groups[part.group][0]:t.groups[part.group][1]]
	end := at + len(earlier)
	return end <= len(t.text) && slices.Equal(earlier, t.text[at:end]) && follow(end)
}

func (t *trial) sequence(parts []node, at int, follow func(at int) bool) bool {
	if len(parts) == 0 {
		return follow(at)
	}
	return t.match(parts[0], at, func(next int) bool { return t.sequence(parts[1:], next, follow) })
}

func (t *trial) group(part group, at int, follow func(at int) bool) bool {
	if part.atomic {
		return t.once(part.body, at, follow)
	}
	return t.match(part.body, at, func(end int) bool {
		before := t.groups[part.capture]
		t.groups[part.capture] = [2]int{at, end}
		if follow(end) {
			return true
		}
		t.groups[part.capture] = before
		return false
	})
}

// once takes the first way that a node can be matched, and no other.
func (t *trial) once(part node, at int, follow func(at int) bool) bool {
	end := at
	return t.match(part, at, func(next int) bool { end = next; return true }) && follow(end)
}

func (t *trial) repeat(loop repeat, round, at int, follow func(at int) bool) bool {
	further := func() bool {
		return round < loop.max && t.match(loop.body, at, func(next int) bool {
			return (next > at || round < loop.min) && t.repeat(loop, round+1, next, follow)
		})
	}
	enough := func() bool { return round >= loop.min && follow(at) }
	if loop.mode == lazy {
		return enough() || further()
	}
	return further() || enough()
}

func (t *trial) looks(part look, at int) bool {
	if !part.behind {
		return t.match(part.body, at, func(int) bool { return true })
	}
	for start := at; start >= 0; start-- {
		if t.match(part.body, start, func(end int) bool { return end == at }) {
			return true
		}
	}
	return false
}

// holds decides assertions; of the kinds of line breaks and letters it knows
// the common ones.
func (t *trial) holds(kind assertionKind, at int) bool {
	lineBegins := at == 0 || t.text[at-1] == '\n'
	lineEnds := at == len(t.text) || t.text[at] == '\n'
	isWord := func(index int) bool { return index >= 0 && index < len(t.text) && asciiWord.contains(t.text[index]) }
	switch kind {
	case textStart, previousMatchEnd:
		return at == 0
	case textEnd:
		return at == len(t.text)
	case lastLineEnd, lastUnixLineEnd:
		return lineEnds && at+1 >= len(t.text)
	case lineStart, unixLineStart:
		return lineBegins
	case lineEnd, unixLineEnd:
		return lineEnds
	case wordEdge, unicodeWordEdge:
		return isWord(at-1) != isWord(at)
	}
	return isWord(at-1) == isWord(at)
}
