package javaregex

import (
	"math/bits"
	"slices"
	"unicode/utf8"
)

// An automaton runs whole matches of expressions without lookaround,
// backreferences and the like, in time linear in the text and with the groups
// that backtracking would find.
//
// Its states are the places of the expression that take a rune, and one that
// accepts at the end of the text. From a state, paths lead over whatever takes
// no rune to the next states, in the order in which backtracking would try
// them. A backtracking engine ends up on the first path from which the rest of
// the text can match. Where runes alone decide which that is, one pass over the
// text is enough. Otherwise a first pass from the end to the start notes at each
// place which states still lead to a match, and a second pass from the start
// takes the first path to one of them.
type automaton struct {
	classes classifier
	members []stateSet // by class: the states that take its runes
	groups  int

	// An origin is the start of the expression, number 0, or the state before it.
	paths   [][]path
	reach   []stateSet // by origin: where its paths lead
	settled []bool     // by origin: no group begins or ends from here on
	saves   [][]uint16 // positions to note on a path; the first is none
	accept  uint16     // the accepting state

	// By origin and class, and by origin for the end of the text: the one move that
	// is possible. Only where runes alone decide.
	steps    []move
	finishes []move
	undecided
}

// A path leads to a state and notes positions of groups on its way.
type path struct{ to, saves uint16 }

// A move is a path that was chosen: the origin that it leads to, times the width
// of the table that it is used with, the positions to note, and whether nothing is left to
// note after them. 0 is none.
type move uint32

func newMove(origin int, saves uint16, last bool) move {
	chosen := move(origin)<<13 | move(saves)<<1
	if last {
		chosen |= 1
	}
	return chosen
}

func (m move) origin() uint32 { return uint32(m >> 13) }

func (m move) saves() uint16 { return uint16(m>>1) & (maxSaveLists - 1) }

func (m move) last() bool { return m&1 != 0 }

const (
	maxStates    = 256
	maxSaveLists = 1 << 12
	maxPaths     = 1 << 13
	maxClasses   = 255
	// maxInstructions bounds an automaton while it is made.
	maxInstructions = 2048
)

// A stateSet is a set of states, or of classes, by number.
type stateSet [maxStates / 64]uint64

func (s *stateSet) add(number int) { s[number>>6] |= 1 << (number & 63) }

func (s *stateSet) has(number int) bool { return s[number>>6]&(1<<(number&63)) != 0 }

func (s *stateSet) meets(other *stateSet) bool {
	return s[0]&other[0]|s[1]&other[1]|s[2]&other[2]|s[3]&other[3] != 0
}

func (s *stateSet) empty() bool { return *s == stateSet{} }

// each calls do with each number of the set in ascending order.
func (s *stateSet) each(do func(number int)) {
	for word, left := range s {
		for left != 0 {
			do(word<<6 + bits.TrailingZeros64(left))
			left &= left - 1
		}
	}
}

// newAutomaton returns nil where the expression needs another engine, or where
// its automaton would be too large.
func newAutomaton(parsed program) *automaton {
	made := thompson{}
	start := made.node(parsed.root, made.add(instruction{kind: acceptText}), place{first: true, last: true})
	if made.failed {
		return nil
	}
	a := &automaton{groups: parsed.groups, saves: [][]uint16{nil}}
	var states []int // instructions that are states
	for number, one := range made.instructions {
		if one.kind == takeRune || one.kind == acceptText {
			states = append(states, number)
		}
	}
	var ok bool
	if len(states) >= maxStates {
		return nil
	}
	if a.classes, a.members, ok = classify(made, states); !ok {
		return nil
	}
	if !a.findPaths(made, states, start) {
		return nil
	}
	a.findSettled()
	a.decide()
	return a
}

// findPaths fills paths and reach for all origins.
func (a *automaton) findPaths(made thompson, states []int, start int) bool {
	stateOf := make([]uint16, len(made.instructions))
	for state, number := range states {
		stateOf[number] = uint16(state)
		if made.instructions[number].kind == acceptText {
			a.accept = uint16(state)
		}
	}
	finder := pathFinder{automaton: a, instructions: made.instructions, stateOf: stateOf, visited: make([]int, len(made.instructions))}
	origins := append([]int{start}, make([]int, len(states))...)
	for state, number := range states {
		origins[state+1] = made.instructions[number].first
	}
	a.paths = make([][]path, len(origins))
	a.reach = make([]stateSet, len(origins))
	total := 0
	for origin, from := range origins {
		if origin == int(a.accept)+1 {
			continue
		}
		finder.round++
		finder.visit(origin, from)
		total += len(a.paths[origin])
		if total > maxPaths || len(a.saves) >= maxSaveLists {
			return false
		}
	}
	return true
}

// A pathFinder follows instructions that take no rune, in order of preference.
type pathFinder struct {
	*automaton
	instructions []instruction
	stateOf      []uint16
	visited      []int // in which round
	round        int
	noted        []uint16
}

func (f *pathFinder) visit(origin, number int) {
	if f.visited[number] == f.round {
		return // whatever follows was tried on a path that is preferred
	}
	f.visited[number] = f.round
	switch one := f.instructions[number]; one.kind {
	case takeRune, acceptText:
		to := f.stateOf[number]
		f.paths[origin] = append(f.paths[origin], path{to: to, saves: f.saveList()})
		f.reach[origin].add(int(to))
	case choose:
		f.visit(origin, one.first)
		f.visit(origin, one.second)
	case note:
		f.noted = append(f.noted, uint16(one.second))
		f.visit(origin, one.first)
		f.noted = f.noted[:len(f.noted)-1]
	}
}

// saveList returns the number of the list of positions noted on the way.
func (f *pathFinder) saveList() uint16 {
	for i, list := range f.saves {
		if slices.Equal(list, f.noted) {
			return uint16(i)
		}
	}
	f.saves = append(f.saves, slices.Clone(f.noted))
	return uint16(len(f.saves) - 1)
}

// findSettled finds the origins from which no path ever notes a position.
func (a *automaton) findSettled() {
	a.settled = make([]bool, len(a.paths))
	for origin := range a.settled {
		a.settled[origin] = true
	}
	for changed := true; changed; {
		changed = false
		for origin, paths := range a.paths {
			if a.settled[origin] && slices.ContainsFunc(paths, func(p path) bool { return p.saves != 0 || !a.settled[p.to+1] }) {
				a.settled[origin] = false
				changed = true
			}
		}
	}
}

// decide fills steps and finishes if a rune never allows for two paths.
func (a *automaton) decide() {
	width := a.classes.count
	steps := make([]move, len(a.paths)*width)
	finishes := make([]move, len(a.paths))
	for origin, paths := range a.paths {
		for _, each := range paths {
			if each.to == a.accept {
				finishes[origin] = newMove(1, each.saves, true)
				continue
			}
			for class := range width {
				if !a.members[class].has(int(each.to)) {
					continue
				}
				step := &steps[origin*width+class]
				if *step != 0 {
					return
				}
				*step = newMove((int(each.to)+1)*width, each.saves, false)
			}
		}
	}
	a.steps, a.finishes = steps, finishes
}

// match is like matcher.match. It gives up, deciding nothing, where the text
// needs more tables than are worth their memory.
func (a *automaton) match(dst []int, text []byte) (positions []int, matched, decided bool) {
	dst = append(dst[:0], 0, len(text))
	for range a.groups {
		dst = append(dst, -1, -1)
	}
	if a.steps != nil {
		matched, decided = a.walk(dst, text), true
	} else {
		matched, decided = a.walkAfterLookingBack(dst, text)
	}
	if !matched {
		dst = dst[:0]
	}
	return dst, matched, decided
}

// walk matches in one pass.
func (a *automaton) walk(positions []int, text []byte) bool {
	steps := a.steps
	row := uint32(0)
	for i := 0; i < len(text); i++ {
		var class uint8
		size := 1
		if b := text[i]; b < utf8.RuneSelf {
			class = a.classes.ascii[b]
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			class = a.classes.wide(r)
		}
		step := steps[row+uint32(class)]
		if step == 0 {
			return false
		}
		if saves := step.saves(); saves != 0 {
			a.note(positions, saves, i)
		}
		row = step.origin()
		i += size - 1
	}
	finish := a.finishes[int(row)/a.classes.count]
	if finish == 0 {
		return false
	}
	a.note(positions, finish.saves(), len(text))
	return true
}

func (a *automaton) note(positions []int, saves uint16, at int) {
	for _, slot := range a.saves[saves] {
		positions[slot] = at
	}
}
