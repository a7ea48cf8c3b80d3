package backtrack

import (
	"slices"
	"unicode/utf8"
)

// An operation is a step of a program. It reports false if it fails; otherwise it has set the next
// operation.
type operation struct {
	do    func(s *search, o *operation) bool
	next  int // the operation that follows
	other int // of a branch, the one to try then; of lookarounds, atomic groups and loops, where the body begins

	class    // of what reads single runes
	text     []rune
	check    Check
	register int
	loop     Loop // of a lookbehind, how many runes it goes back
	negated  bool
	fold     func(rune) rune // of a reference: nil where case counts
}

func readRune(s *search, o *operation) bool {
	if s.at == len(s.text) || !s.accepts(&o.class, s.text[s.at]) {
		return false
	}
	s.at++
	s.here = o.next
	return true
}

func readText(s *search, o *operation) bool {
	return s.goOn(s.readSame(o.text, nil), o.next)
}

// readSame reads a text, possibly ignoring case.
func (s *search) readSame(text []rune, fold func(rune) rune) bool {
	if len(s.text)-s.at < len(text) {
		return false
	}
	s.work += len(text) / 8 // comparing is that much faster than reading
	present := s.text[s.at : s.at+len(text)]
	same := slices.Equal(text, present)
	if !same && fold != nil {
		same = slices.EqualFunc(text, present, func(a, b rune) bool { return fold(a) == fold(b) })
	}
	if same {
		s.at += len(text)
	}
	return same
}

func readGroup(s *search, o *operation) bool {
	span := s.registers[o.register]
	if span[0] < 0 {
		return false
	}
	return s.goOn(s.readSame(s.text[span[0]:span[1]], o.fold), o.next)
}

func checkPlace(s *search, o *operation) bool {
	holds, work := o.check(s.text, s.from, s.at)
	s.work += work
	return s.goOn(holds, o.next)
}

// readLoop repeats a single rune.
func readLoop(s *search, o *operation) bool {
	left := s.text[s.at:]
	if len(left) < o.loop.Least {
		return false
	}
	most := o.loop.Most
	if o.loop.Lazy {
		most = o.loop.Least
	}
	read := s.readWhile(&o.class, left[:min(most, len(left))])
	switch {
	case read < o.loop.Least:
		return false
	case o.loop.Possessive:
	case o.loop.Lazy && o.loop.Most > o.loop.Least:
		s.fallbacks = append(s.fallbacks, fallback{here: s.here, at: s.at, left: o.loop.Least - o.loop.Most})
	case !o.loop.Lazy && read > o.loop.Least:
		s.fallbacks = append(s.fallbacks, fallback{here: o.next, at: s.at - 1, left: read - o.loop.Least - 1})
	}
	s.here = o.next
	return true
}

// readWhile skips the runes of a class at the start of a text and returns their number.
func (s *search) readWhile(c *class, text []rune) int {
	read := 0
	for _, r := range text {
		if r < utf8.RuneSelf && c.ascii[r/64]&(1<<(r%64)) == 0 || r >= utf8.RuneSelf && !s.accepts(c, r) {
			break
		}
		read++
	}
	s.work += read
	s.at += read
	return read
}

// readMore lets a lazy loop read one more rune.
func (s *search) readMore(loop *fallback) bool {
	o := &s.program.operations[loop.here]
	if loop.at == len(s.text) || !s.accepts(&o.class, s.text[loop.at]) {
		return false
	}
	loop.at, loop.left = loop.at+1, loop.left+1
	s.here, s.at = o.next, loop.at
	if loop.left == 0 {
		s.fallbacks = s.fallbacks[:len(s.fallbacks)-1]
	}
	return true
}

func tryBranch(s *search, o *operation) bool {
	s.fallbacks = append(s.fallbacks, fallback{here: o.other, at: s.at})
	s.here = o.next
	return true
}

func fail(*search, *operation) bool { return false }

// beginGroup stores the start of a group. Its previous match stays valid until the group ends.
func beginGroup(s *search, o *operation) bool {
	s.set(o.register, s.at, 0)
	s.here = o.next
	return true
}

func endGroup(s *search, o *operation) bool {
	s.set(o.other, s.registers[o.register][0], s.at)
	s.here = o.next
	return true
}

// The register of a loop holds the start of the current round and the number of rounds started.
func beginLoop(s *search, o *operation) bool {
	s.set(o.register, -1, 0)
	s.here = o.next
	return true
}

func beginRound(s *search, o *operation) bool {
	s.set(o.register, s.at, s.registers[o.register][1]+1)
	s.here = o.next
	return true
}

// nextRound starts another round or leaves the loop. An empty round is the last one unless more are
// required.
func nextRound(s *search, o *operation) bool {
	began, count := s.registers[o.register][0], s.registers[o.register][1]
	switch {
	case count < o.loop.Least:
		s.here = o.other
	case count >= o.loop.Most || s.at == began:
		s.here = o.next
	case o.loop.Lazy:
		s.fallbacks = append(s.fallbacks, fallback{here: o.other, at: s.at})
		s.here = o.next
	default:
		s.fallbacks = append(s.fallbacks, fallback{here: o.next, at: s.at})
		s.here = o.other
	}
	return true
}

// tryOnce matches an atomic group, without backtracking into it.
func tryOnce(s *search, o *operation) bool {
	bottom := len(s.fallbacks)
	if !s.run(o.other, s.at) {
		return false
	}
	s.commit(bottom)
	s.here = o.next
	return true
}

func lookAhead(s *search, o *operation) bool {
	at, bottom := s.at, len(s.fallbacks)
	return s.endLook(o, s.run(o.other, at), at, bottom)
}

// lookBehind tries the body at each place at which it can begin, the last one first, as Java does.
func lookBehind(s *search, o *operation) bool {
	at, bottom, outer := s.at, len(s.fallbacks), s.behind
	s.behind = at
	matched := false
	for length := o.loop.Least; length <= min(o.loop.Most, at) && !matched; length++ {
		matched = s.run(o.other, at-length)
	}
	s.behind = outer
	return s.endLook(o, matched, at, bottom)
}

func endLookBehind(s *search, o *operation) bool { return s.goOn(s.at == s.behind, o.next) }

// endLook returns from a lookaround. Its groups keep their matches if it succeeded and is not negated.
func (s *search) endLook(o *operation, matched bool, at, bottom int) bool {
	if matched && !o.negated {
		s.commit(bottom)
	} else {
		s.undo(bottom)
	}
	s.at = at
	return s.goOn(matched != o.negated, o.next)
}
