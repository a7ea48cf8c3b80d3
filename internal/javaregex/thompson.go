package javaregex

// maxInstructions bounds an automaton: counted repetitions are written out, so a
// short expression may stand for a very large one.
const maxInstructions = 3000

// A stance says how an automaton treats constructs that no finite automaton can express.
type stance uint8

const (
	exact     stance = iota // fails: for matching, with groups
	generous                // accepts all texts that the expression matches, and maybe more
	ambiguous               // has all the ways in which an expression can read a text: a lookaround may be one, or not
	strict                  // accepts only texts that the expression matches, and maybe fewer
)

// An instruction takes a rune of a set, chooses between two ways, where the
// first is preferred, notes the present position, or accepts the end of the text.
// Unless the automaton is exact, it may also demand an assertion, or lead nowhere.
type instruction struct {
	kind   instructionKind
	place  assertionKind // of demand
	set    runeSet
	first  int // the instruction that follows
	second int // of choose: the other one; of note: which position
}

type instructionKind uint8

const (
	takeRune instructionKind = iota
	choose
	note
	acceptText
	demand
	block
)

// A thompson writes an expression as instructions, from its end to its start,
// as Thompson's construction does.
type thompson struct {
	stance       stance
	instructions []instruction
	failed       bool // there is a construct that instructions cannot express, or there are too many
}

func (t *thompson) add(one instruction) int {
	if len(t.instructions) >= maxInstructions {
		t.failed = true
		return 0
	}
	t.instructions = append(t.instructions, one)
	return len(t.instructions) - 1
}

// node returns the first instruction of a node that next follows.
func (t *thompson) node(part node, next int, where place) int {
	if t.failed {
		return 0
	}
	switch part := part.(type) {
	case one:
		return t.add(instruction{kind: takeRune, set: part.set, first: next})
	case sequence:
		places := part.places(where)
		for i := len(part.parts) - 1; i >= 0; i-- {
			next = t.node(part.parts[i], next, places[i])
		}
		return next
	case alternation:
		return t.branches(part.branches, next, where)
	case group:
		return t.group(part, next, where)
	case repeat:
		return t.loop(part, next, where)
	case lineBreak:
		return t.lineBreak(next)
	case assertion:
		if t.stance != exact {
			return t.add(instruction{kind: demand, place: part.kind, first: next})
		}
		if part.kind.holdsAt(where) {
			return next
		}
	}
	return t.approximate(part, next)
}

// approximate writes a node that no finite automaton can express: generously as more
// texts than the node matches, strictly as no text.
func (t *thompson) approximate(part node, next int) int {
	switch t.stance {
	case exact:
		t.failed = true
		return 0
	case generous:
		switch part.(type) {
		case backreference:
			return t.loop(anyText, next, place{})
		case look:
			return next
		}
	case ambiguous:
		if around, isLook := part.(look); isLook {
			return t.add(instruction{kind: choose, first: t.node(around.body, next, place{}), second: next})
		}
		return next
	}
	return t.add(instruction{kind: block})
}

func (t *thompson) branches(branches []node, next int, where place) int {
	entry := t.node(branches[len(branches)-1], next, where)
	for i := len(branches) - 2; i >= 0; i-- {
		entry = t.add(instruction{kind: choose, first: t.node(branches[i], next, where), second: entry})
	}
	return entry
}

// lineBreak leaves \r out where the automaton is strict: whether \r alone is a
// line break depends on what follows it.
func (t *thompson) lineBreak(next int) int {
	if t.stance == strict {
		return t.add(instruction{kind: takeRune, set: verticalSpace.without(singleRune('\r')), first: next})
	}
	other := t.add(instruction{kind: takeRune, set: verticalSpace, first: next})
	feed := t.add(instruction{kind: takeRune, set: singleRune('\n'), first: next})
	both := t.add(instruction{kind: takeRune, set: singleRune('\r'), first: feed})
	return t.add(instruction{kind: choose, first: both, second: other})
}

func (t *thompson) group(part group, next int, where place) int {
	switch {
	case part.atomic && t.stance != generous && t.stance != ambiguous:
		return t.approximate(part, next)
	case part.capture == 0 || t.stance != exact:
		return t.node(part.body, next, where)
	}
	end := t.add(instruction{kind: note, first: next, second: 2*part.capture + 1})
	body := t.node(part.body, end, where)
	return t.add(instruction{kind: note, first: body, second: 2 * part.capture})
}

// refuses reports whether a loop cannot be expressed as rounds of its body.
func (t *thompson) refuses(loop repeat) bool {
	mayBeEmpty := loop.max > 1 && minLength(loop.body) == 0
	switch t.stance {
	case exact:
		return loop.mode == possessive || mayBeEmpty
	case strict:
		// Java leaves counted loops early after a round that matched nothing.
		return loop.mode == possessive || mayBeEmpty && (loop.min > 1 || loop.max < unlimited)
	}
	return false
}

func (t *thompson) loop(loop repeat, next int, where place) int {
	if t.stance != exact && zeroWidth(loop.body) {
		loop.min, loop.max = min(loop.min, 1), 1 // more rounds make no difference
	}
	if t.refuses(loop) {
		return t.approximate(loop, next)
	}
	where = loop.inside(where)
	entry := next
	required := loop.min
	switch {
	case loop.max != unlimited:
		for range loop.max - loop.min {
			entry = t.optional(loop, t.node(loop.body, entry, where), next)
			if t.failed {
				return 0
			}
		}
	case loop.min == 0 || t.stance == ambiguous: // which keeps the rounds that lead into a loop apart
		entry = t.add(instruction{kind: choose})
		t.closeLoop(loop, entry, t.node(loop.body, entry, where), next)
	default:
		again := t.add(instruction{kind: choose})
		entry = t.node(loop.body, again, where)
		t.closeLoop(loop, again, entry, next)
		required--
	}
	for range required {
		entry = t.node(loop.body, entry, where)
		if t.failed {
			return 0
		}
	}
	return entry
}

func (t *thompson) optional(loop repeat, body, next int) int {
	if loop.mode == lazy {
		return t.add(instruction{kind: choose, first: next, second: body})
	}
	return t.add(instruction{kind: choose, first: body, second: next})
}

func (t *thompson) closeLoop(loop repeat, at, body, next int) {
	if loop.mode == lazy {
		body, next = next, body
	}
	t.instructions[at].first, t.instructions[at].second = body, next
}
