package backtrack

import "unicode/utf8"

// A search is one search for a match.
type search struct {
	program *Program
	text    []rune
	from    int // \G
	at      int // place in the text
	here    int // operation to do next
	behind  int // end of the current lookbehind

	registers [][2]int // those of the groups hold start and end, -1 for a group without a match
	fallbacks []fallback

	work, limit int
}

// A fallback is used after a failure: it continues with another operation at a position, or restores a
// register and goes further back.
type fallback struct {
	here int // the operation; negative for the complement of a register
	at   int // the place; the first number of a register
	// left is the number of runes that a loop over single runes may still give back or, if negative, may
	// still read; for a register, its second number.
	left int
}

const (
	// operationWork is the work of an operation. The unit is the work to skip one rune within an
	// operation, one or two nanoseconds.
	operationWork = 4
	// wideWork is the work of looking a rune beyond ASCII up in a set.
	wideWork = 8
	// maxFallbacks bounds the memory of fallbacks to 800 MB.
	maxFallbacks = 1 << 25
	// maxKeptFallbacks is the number of fallbacks up to which their memory is reused.
	maxKeptFallbacks = 1 << 15
)

// Find looks for the first match that begins at start or behind it, and appends the start and end of its
// groups, in runes, to dst. From is the end of the previous match. The error is [ErrWork] if the search
// exceeds the limit of work, which does not depend on the machine.
func (p *Program) Find(dst []int, text []rune, from, start, limit int) (found []int, matched bool, work int, err error) {
	s, reused := p.searches.Get().(*search)
	if !reused {
		s = &search{program: p, registers: make([][2]int, p.registers)}
	}
	s.text, s.from, s.work, s.limit = text, from, 0, limit
	matched = s.search(start)
	if s.isExhausted() {
		matched, err = false, ErrWork
	}
	if matched {
		for _, span := range s.registers[:p.groups+1] {
			dst = append(dst, span[0], span[1])
		}
	}
	work, s.text = s.work, nil
	if cap(s.fallbacks) <= maxKeptFallbacks {
		p.searches.Put(s)
	}
	return dst, matched, work, err
}

func (s *search) search(start int) bool {
	for ; start <= len(s.text) && !s.isExhausted(); start++ {
		s.fallbacks = s.fallbacks[:0]
		for i := range s.registers {
			s.registers[i] = [2]int{-1, -1}
		}
		if s.run(s.program.start, start) {
			s.registers[0] = [2]int{start, s.at}
			return true
		}
		if s.program.anchored {
			return false
		}
	}
	return false
}

func (s *search) isExhausted() bool { return s.work > s.limit }

// spend counts work and reports whether more may be done.
func (s *search) spend(work int) bool {
	s.work += work
	if len(s.fallbacks) > maxFallbacks {
		s.work = s.limit + 1
	}
	return s.work <= s.limit
}

// run executes operations from a position of the text until one accepts. Without a match it changes only
// here and at.
func (s *search) run(here, at int) bool {
	bottom := len(s.fallbacks)
	s.here, s.at = here, at
	for s.here != Accept {
		if !s.spend(operationWork) {
			return false
		}
		o := &s.program.operations[s.here]
		if !o.do(s, o) && !s.goBack(bottom) {
			return false
		}
	}
	return true
}

// goBack returns to the latest fallback and reports whether one exists.
func (s *search) goBack(bottom int) bool {
	for len(s.fallbacks) > bottom {
		if !s.spend(operationWork) {
			return false
		}
		top := len(s.fallbacks) - 1
		last := &s.fallbacks[top]
		switch {
		case last.here < 0:
			s.registers[^last.here] = [2]int{last.at, last.left}
			s.fallbacks = s.fallbacks[:top]
		case last.left < 0:
			if s.readMore(last) {
				return true
			}
			s.fallbacks = s.fallbacks[:top]
		default:
			s.here, s.at = last.here, last.at
			if last.left == 0 {
				s.fallbacks = s.fallbacks[:top]
			} else {
				last.at, last.left = last.at-1, last.left-1
			}
			return true
		}
	}
	return false
}

// undo restores the registers to their state at an earlier number of fallbacks.
func (s *search) undo(bottom int) {
	for len(s.fallbacks) > bottom {
		top := len(s.fallbacks) - 1
		if last := s.fallbacks[top]; last.here < 0 {
			s.registers[^last.here] = [2]int{last.at, last.left}
		}
		s.fallbacks = s.fallbacks[:top]
	}
}

// commit drops fallbacks added since an earlier number of them, except those that restore registers.
func (s *search) commit(bottom int) {
	kept := s.fallbacks[:bottom]
	for _, each := range s.fallbacks[bottom:] {
		if each.here < 0 {
			kept = append(kept, each)
		}
	}
	s.fallbacks = kept
}

// set changes a register so that going back restores it.
func (s *search) set(register, first, second int) {
	former := s.registers[register]
	s.fallbacks = append(s.fallbacks, fallback{here: ^register, at: former[0], left: former[1]})
	s.registers[register] = [2]int{first, second}
}

// goOn continues with the next operation if a condition holds.
func (s *search) goOn(holds bool, next int) bool {
	if holds {
		s.here = next
	}
	return holds
}

// A class is a set of runes with fast lookup for ASCII.
type class struct {
	contains func(rune) bool
	ascii    [utf8.RuneSelf / 64]uint64
}

func newClass(contains func(rune) bool) class {
	c := class{contains: contains}
	for r := range rune(utf8.RuneSelf) {
		if contains(r) {
			c.ascii[r/64] |= 1 << (r % 64)
		}
	}
	return c
}

// accepts reports whether a class contains a rune.
func (s *search) accepts(c *class, r rune) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r/64]&(1<<(r%64)) != 0
	}
	s.work += wideWork
	return c.contains(r)
}
