package javaregex

// maxLanguageStates bounds what is analysed: counted repetitions are written
// out, so a short expression may stand for a very large automaton.
const maxLanguageStates = 3000

// A stance tells on which side an automaton may err about constructs that no
// finite automaton can express.
type stance uint8

const (
	generous stance = iota // accepts all texts that the expression matches, and maybe more
	strict                 // accepts only texts that the expression matches, and maybe fewer
)

type stateKind uint8

const (
	accepting stateKind = iota
	consuming
	forking
	asserting
	blocked
)

// A state of an automaton for whole matches.
type state struct {
	kind        stateKind
	place       assertionKind // of asserting
	set         runeSet       // of consuming
	next, other int32         // other is the second way of forking
}

// A language is a finite automaton that accepts the texts that an expression matches as a whole.
type language struct {
	stance stance
	states []state
	start  int32

	// The standings that the present call of steps has seen: those whose mark
	// is its number.
	marks   []uint32
	call    uint32
	pending []standing
}

// newLanguage returns nil for an expression that is too large.
func newLanguage(root node, stance stance) *language {
	a := &language{stance: stance, states: make([]state, 0, 64)}
	a.start = a.compile(root, a.add(state{kind: accepting}))
	if a.overfull() {
		return nil
	}
	return a
}

func (a *language) add(s state) int32 {
	a.states = append(a.states, s)
	return int32(len(a.states) - 1)
}

func (a *language) overfull() bool { return len(a.states) > maxLanguageStates }

// compile adds the states of a node in front of those that follow it and
// returns the first.
func (a *language) compile(part node, next int32) int32 {
	if a.overfull() {
		return next
	}
	switch part := part.(type) {
	case one:
		return a.add(state{kind: consuming, set: part.set, next: next})
	case sequence:
		for i := len(part.parts) - 1; i >= 0; i-- {
			next = a.compile(part.parts[i], next)
		}
		return next
	case alternation:
		return a.compileAlternation(part.branches, next)
	case group:
		if part.atomic && a.stance == strict {
			return a.add(state{kind: blocked})
		}
		return a.compile(part.body, next)
	case repeat:
		return a.compileRepeat(part, next)
	case assertion:
		return a.add(state{kind: asserting, place: part.kind, next: next})
	case lineBreak:
		return a.compileLineBreak(next)
	}
	return a.approximate(part, next)
}

func (a *language) compileAlternation(branches []node, next int32) int32 {
	last := len(branches) - 1
	start := a.compile(branches[last], next)
	for i := last - 1; i >= 0; i-- {
		start = a.add(state{kind: forking, next: a.compile(branches[i], next), other: start})
	}
	return start
}

// compileLineBreak leaves \r out where the automaton is strict: whether \r alone is a
// line break depends on what follows it.
func (a *language) compileLineBreak(next int32) int32 {
	if a.stance == strict {
		return a.compile(one{verticalSpace.without(singleRune('\r'))}, next)
	}
	pair := a.add(state{kind: consuming, set: singleRune('\r'),
		next: a.add(state{kind: consuming, set: singleRune('\n'), next: next})})
	return a.add(state{kind: forking, next: pair, other: a.compile(one{verticalSpace}, next)})
}

// approximate compiles a node that no finite automaton can express: generously as more
// texts than the node matches, strictly as no text.
func (a *language) approximate(part node, next int32) int32 {
	if a.stance == generous {
		switch part.(type) {
		case backreference:
			return a.compileRepeat(repeat{body: one{everyRune}, max: unlimited}, next)
		case look:
			return next
		}
	}
	return a.add(state{kind: blocked})
}

func (a *language) compileRepeat(loop repeat, next int32) int32 {
	if zeroWidth(loop.body) {
		loop.min, loop.max = min(loop.min, 1), 1 // more rounds make no difference
	}
	if a.stance == strict {
		// Java leaves counted loops early after a round that matched nothing.
		counts := loop.min > 1 || loop.max > 1 && loop.max < unlimited
		if loop.mode == possessive || counts && minLength(loop.body) == 0 {
			return a.add(state{kind: blocked})
		}
	}
	start := next
	if loop.max == unlimited {
		start = a.add(state{kind: forking, other: next})
		a.states[start].next = a.compile(loop.body, start)
	} else {
		for range loop.max - loop.min {
			if a.overfull() {
				return next
			}
			start = a.add(state{kind: forking, next: a.compile(loop.body, start), other: next})
		}
	}
	for range loop.min {
		if a.overfull() {
			return next
		}
		start = a.compile(loop.body, start)
	}
	return start
}

// What is known of the text around a place in an automaton.
const (
	begun          uint8 = 1 << iota // a rune was consumed
	mustEnd                          // no rune may follow
	lineEndFollows                   // only line terminators may follow

	knowledge = 1 << iota // how many combinations there are
)

// A standing is a place in an automaton with what is known of the text.
type standing struct {
	state int32
	known uint8
}

// A step is one way on from a standing: over a rune of a set, or the end of
// the text where the set is nil.
type step struct {
	set    runeSet
	target standing
}

var lineTerminators = runeSet{{'\n', '\n'}, {'\r', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}

// steps appends the ways on from a standing.
func (a *language) steps(dst []step, from standing) []step {
	if a.marks == nil {
		a.marks = make([]uint32, len(a.states)*knowledge)
	}
	a.call++
	a.pending = a.pending[:0]
	a.visit(from.state, from.known)
	for i := 0; i < len(a.pending); i++ {
		at := a.pending[i]
		switch s := &a.states[at.state]; s.kind {
		case accepting:
			dst = append(dst, step{target: at})
		case consuming:
			set := s.set
			if at.known&mustEnd != 0 {
				continue
			}
			if at.known&lineEndFollows != 0 {
				set = set.intersection(lineTerminators)
			}
			if len(set) > 0 {
				dst = append(dst, step{set: set, target: standing{s.next, at.known | begun}})
			}
		case forking:
			a.visit(s.next, at.known)
			a.visit(s.other, at.known)
		case asserting:
			if known, passes := a.pass(s.place, at.known); passes {
				a.visit(s.next, known)
			}
		}
	}
	return dst
}

func (a *language) visit(target int32, known uint8) {
	mark := &a.marks[int(target)*knowledge+int(known)]
	if *mark != a.call {
		*mark = a.call
		a.pending = append(a.pending, standing{target, known})
	}
}

// effort tells how much work the last call of steps was.
func (a *language) effort() int { return 1 + len(a.pending)/8 }

// pass tells whether an assertion may hold, and what is known then.
func (a *language) pass(place assertionKind, known uint8) (uint8, bool) {
	switch place {
	case textStart:
		return known, known&begun == 0
	case textEnd:
		return known | mustEnd, true
	case lastLineEnd, lastUnixLineEnd:
		if a.stance == strict {
			return known | mustEnd, true
		}
		return known | lineEndFollows, true
	case lineStart, unixLineStart:
		return known, a.stance == generous || known&begun == 0
	case lineEnd, unixLineEnd:
		if a.stance == strict {
			return known | mustEnd, true
		}
	}
	return known, a.stance == generous
}
