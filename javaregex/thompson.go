package javaregex

// An instruction takes a rune of a set, chooses between two ways of which the
// first is preferred, notes the present position, or accepts the end of the text.
type instruction struct {
	kind   instructionKind
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
)

// A thompson writes an expression as instructions, from its end to its start,
// as Thompson's construction does.
type thompson struct {
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
		other := t.add(instruction{kind: takeRune, set: verticalSpace, first: next})
		feed := t.add(instruction{kind: takeRune, set: singleRune('\n'), first: next})
		both := t.add(instruction{kind: takeRune, set: singleRune('\r'), first: feed})
		return t.add(instruction{kind: choose, first: both, second: other})
	case assertion:
		if part.kind.holdsAt(where) {
			return next
		}
	}
	t.failed = true
	return 0
}

func (t *thompson) branches(branches []node, next int, where place) int {
	entry := t.node(branches[len(branches)-1], next, where)
	for i := len(branches) - 2; i >= 0; i-- {
		entry = t.add(instruction{kind: choose, first: t.node(branches[i], next, where), second: entry})
	}
	return entry
}

func (t *thompson) group(part group, next int, where place) int {
	switch {
	case part.atomic:
		t.failed = true
		return 0
	case part.capture == 0:
		return t.node(part.body, next, where)
	}
	end := t.add(instruction{kind: note, first: next, second: 2*part.capture + 1})
	body := t.node(part.body, end, where)
	return t.add(instruction{kind: note, first: body, second: 2 * part.capture})
}

func (t *thompson) loop(loop repeat, next int, where place) int {
	if loop.mode == possessive || loop.max > 1 && minLength(loop.body) == 0 {
		t.failed = true
		return 0
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
	case loop.min == 0:
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
