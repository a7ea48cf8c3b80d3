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
// them; a backtracking engine ends up on the first way on which all of the text
// matches. Where a rune never allows for two paths, one pass over the text decides
// and finds the groups. Otherwise one pass follows all ways at once, and another
// one goes back along the first that succeeded, as far as there are groups.
type automaton struct {
	classes classifier
	shift   uint8      // rows of tables have as many places as there are classes, rounded up to 1<<shift
	members []stateSet // by class: the states that take its runes
	groups  int

	// An origin is the start of the expression, number 0, or the state before it.
	paths   [][]path
	unnoted []bool     // by state: on no way to it does a group begin or end
	saves   [][]uint16 // positions to note on a path; the first notes nothing
	accept  uint16     // the accepting state
	prefix  string     // what every match begins with; the text is known to do so
	firsts  stateSet   // classes whose runes may follow the prefix

	// By origin and class, and by origin for the end of the text: the one move that
	// is possible. Only where runes alone decide.
	steps    []move
	finishes []move
	runs     []run  // by origin: what leads from it back to it
	entry    uint32 // the row after the prefix
	noted    []int  // slots and positions that are noted on the way there
	threads
}

// A path leads to a state and notes positions of groups on its way.
type path struct{ to, saves uint16 }

// A move is a path that was chosen: where the row of the origin that it leads to
// begins, and the positions to note. 0 notes nothing.
type move uint32

// mayRun is set in a move that leads back to where it began and notes nothing.
const mayRun move = 1 << 31

func newMove(row int, saves uint16) move { return move(row)<<12 | move(saves) }

func (m move) row() uint32 { return uint32(m &^ mayRun >> 12) }

func (m move) saves() uint16 { return uint16(m) & (maxSaveLists - 1) }

// The bounds of an automaton. Expressions of definitions stay far below them.
const (
	maxStates     = 256
	maxClasses    = 255
	maxPaths      = 1 << 13
	maxSaveLists  = 1 << 12 // so that a move has room for the number of one
	mostSaveLists = 1 << 9  // before the last origin, which may add one for each state
)

// A stateSet is a set of states, or of classes, by number.
type stateSet [maxStates / 64]uint64

func (s *stateSet) add(number int) { s[number>>6] |= 1 << (number & 63) }

func (s *stateSet) remove(number int) { s[number>>6] &^= 1 << (number & 63) }

func (s *stateSet) has(number int) bool { return s[number>>6]&(1<<(number&63)) != 0 }

// newAutomaton returns nil where the expression needs another engine, or where
// its automaton would be too large. It will see only texts that begin with the prefix.
func newAutomaton(parsed program, prefix string) *automaton {
	made := thompson{}
	start := made.node(parsed.root, made.add(instruction{kind: acceptText}), place{first: true, last: true})
	if made.failed {
		return nil
	}
	a := &automaton{groups: parsed.groups, prefix: prefix, saves: [][]uint16{nil}}
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
	a.shift = uint8(bits.Len(uint(len(a.members) - 1)))
	if !a.findPaths(made, states, start) {
		return nil
	}
	a.findUnnoted()
	a.findFirsts()
	a.decide()
	return a
}

func (a *automaton) width() int { return 1 << a.shift }

// number returns the number of the row that begins there.
func (a *automaton) number(row uint32) int { return int(row >> a.shift) }

// findPaths fills paths for all origins.
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
	total := 0
	for origin, from := range origins {
		if origin == int(a.accept)+1 {
			continue
		}
		finder.round++
		finder.visit(origin, from)
		total += len(a.paths[origin])
		if total > maxPaths || len(a.saves) > mostSaveLists {
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
		f.paths[origin] = append(f.paths[origin], path{to: f.stateOf[number], saves: f.saveList()})
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

// findUnnoted finds the states on the ways to which no position is noted.
func (a *automaton) findUnnoted() {
	a.unnoted = make([]bool, len(a.paths)-1)
	for state := range a.unnoted {
		a.unnoted[state] = true
	}
	for changed := true; changed; {
		changed = false
		for origin, paths := range a.paths {
			noted := origin > 0 && !a.unnoted[origin-1]
			for _, each := range paths {
				if a.unnoted[each.to] && (noted || each.saves != 0) {
					a.unnoted[each.to] = false
					changed = true
				}
			}
		}
	}
}

// findFirsts finds out what may follow the prefix.
func (a *automaton) findFirsts() {
	follow := func(present *stateSet, origin int) {
		for _, each := range a.paths[origin] {
			present.add(int(each.to))
		}
	}
	var present stateSet
	follow(&present, 0)
	for _, r := range a.prefix {
		var next stateSet
		for state := range a.unnoted {
			if present.has(state) && a.members[a.classes.class(r)].has(state) {
				follow(&next, state+1)
			}
		}
		present = next
	}
	for class, takers := range a.members {
		for word := range takers {
			if present[word]&takers[word] != 0 {
				a.firsts.add(class)
			}
		}
	}
}

// decide fills steps and finishes if a rune never allows for two paths.
func (a *automaton) decide() {
	width := a.width()
	steps := make([]move, len(a.paths)*width)
	finishes := make([]move, len(a.paths))
	for origin, paths := range a.paths {
		for _, each := range paths {
			if each.to == a.accept {
				finishes[origin] = newMove(1, each.saves)
				continue
			}
			for class := range a.members {
				if !a.members[class].has(int(each.to)) {
					continue
				}
				step := &steps[origin*width+class]
				if *step != 0 {
					return
				}
				*step = newMove((int(each.to)+1)*width, each.saves)
			}
		}
	}
	a.steps, a.finishes = steps, finishes
	a.findEntry()
	a.findRuns()
}

// findEntry walks along the prefix.
func (a *automaton) findEntry() {
	for i, r := range a.prefix {
		step := a.steps[a.entry+uint32(a.classes.class(r))]
		for _, slot := range a.saves[step.saves()] {
			a.noted = append(a.noted, int(slot), i)
		}
		a.entry = step.row()
	}
}

// findRuns marks the steps that lead back to where they began and may be the
// first of a run.
func (a *automaton) findRuns() {
	width := a.width()
	a.runs = make([]run, len(a.paths))
	for origin := 1; origin < len(a.runs); origin++ { // nothing leads back to the start
		row := a.steps[origin*width : (origin+1)*width]
		same := newMove(origin*width, 0)
		if !slices.Contains(row, same) {
			continue
		}
		a.runs[origin] = newRun(func(b byte) bool { return row[a.classes.ascii[b]] == same })
		if !a.runs[origin].usable {
			continue
		}
		for class := range row {
			if row[class] == same {
				row[class] |= mayRun
			}
		}
	}
}

// match is like matcher.match. It gives up, deciding nothing, where the text
// needs more tables than are worth their memory.
func (a *automaton) match(dst []int, text []byte) (positions []int, matched, decided bool) {
	if len(text) > len(a.prefix) {
		if b := text[len(a.prefix)]; b < utf8.RuneSelf && !a.firsts.has(int(a.classes.ascii[b])) {
			return dst[:0], false, true
		}
	}
	dst = append(dst[:0], 0, len(text))
	for range a.groups {
		dst = append(dst, -1, -1)
	}
	if a.steps != nil {
		matched, decided = a.walk(dst, text), true
	} else {
		matched, decided = a.matchByThreads(dst, text)
	}
	if !matched {
		dst = dst[:0]
	}
	return dst, matched, decided
}

// walk matches in one pass.
func (a *automaton) walk(positions []int, text []byte) bool {
	steps := a.steps
	row := a.entry
	for i := 0; i < len(a.noted); i += 2 {
		positions[a.noted[i]] = a.noted[i+1]
	}
	for i := len(a.prefix); i < len(text); i++ {
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
		if step&mayRun != 0 {
			i += size - 1
			i += a.runs[a.number(row)].length(text[i+1:])
			continue
		}
		if saves := step.saves(); saves != 0 {
			a.note(positions, saves, i)
		}
		row = step.row()
		i += size - 1
	}
	finish := a.finishes[a.number(row)]
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
