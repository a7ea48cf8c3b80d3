package javaregex

// A language is a finite automaton that accepts the texts that an expression matches as a
// whole, or more or fewer of them.
type language struct {
	thompson
	start int

	// The standings that the present call of steps has seen: those whose mark
	// is its number.
	marks   []uint32
	call    uint32
	pending []standing
}

// newLanguage returns nil for an expression that is too large.
func newLanguage(root node, stance stance) *language {
	a := &language{thompson: thompson{stance: stance}}
	a.start = a.node(root, a.add(instruction{kind: acceptText}), place{})
	if a.failed {
		return nil
	}
	return a
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
	state int
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
		a.marks = make([]uint32, len(a.instructions)*knowledge)
	}
	a.call++
	a.pending = a.pending[:0]
	a.visit(from.state, from.known)
	for i := 0; i < len(a.pending); i++ {
		at := a.pending[i]
		switch s := &a.instructions[at.state]; s.kind {
		case acceptText:
			dst = append(dst, step{target: at})
		case takeRune:
			set := s.set
			if at.known&mustEnd != 0 {
				continue
			}
			if at.known&lineEndFollows != 0 {
				set = set.intersection(lineTerminators)
			}
			if len(set) > 0 {
				dst = append(dst, step{set: set, target: standing{s.first, at.known | begun}})
			}
		case choose:
			a.visit(s.first, at.known)
			a.visit(s.second, at.known)
		case demand:
			if known, passes := a.pass(s.place, at.known); passes {
				a.visit(s.first, known)
			}
		}
	}
	return dst
}

func (a *language) visit(target int, known uint8) {
	mark := &a.marks[target*knowledge+int(known)]
	if *mark != a.call {
		*mark = a.call
		a.pending = append(a.pending, standing{target, known})
	}
}

// effort returns how much work the last call of steps was.
func (a *language) effort() int { return 1 + len(a.pending)/8 }

// pass reports whether an assertion may hold, and what is known then.
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
