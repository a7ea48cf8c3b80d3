package javaregex

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
	"unicode/utf8"
)

// threads holds what an automaton needs where a rune may allow for several
// paths: tables that grow with the texts seen. One match at a time uses them; another that
// runs meanwhile makes its own.
type threads struct {
	remembered atomic.Pointer[lineups]
	givenUp    atomic.Bool // the tables grow too large to be worth it
}

// A lineup is an ordered list of the states that a text may have led to, without
// repetition: each with the way to it that backtracking would have tried first, and
// in the order in which it would have tried them. Lineups remembers those that
// occurred and what followed from them. A lineup goes by where its row in the tables
// begins; row 0 stands for what is not known yet.
type lineups struct {
	states     [][]uint16 // by row number
	accepts    []int      // by row number: the index of the accepting state, negative where it is missing
	rows       map[string]uint32
	next       []succession // by lineup and class
	approaches []approach   // of all successions
	trail      []uint32     // how each byte of the present text was passed; see passedFrom
	entry      uint32       // the lineup at the start
}

// A succession is the lineup after a rune, and where in approaches those of its
// states begin, in their order.
type succession struct{ lineup, approaches uint32 }

// An approach is the state of the lineup before that led to a state, and the
// positions to note on the path between them. With the flag lastNote among these nothing
// is left to note before.
type approach struct{ from, saves uint16 }

const lastNote = maxSaveLists

// passedFrom, with a place in the text added, marks a byte of a trail: it and all bytes
// from that place on belong to a rune whose last byte has the approaches.
const passedFrom = 1 << 31

const (
	// maxPlaces and maxApproaches bound the memory of one expression to half a megabyte.
	maxPlaces     = 1 << 13
	maxApproaches = 1 << 15
	// longestTrail bounds the texts, in bytes, for which a trail is kept.
	longestTrail = 1 << 20
	// longestKeptTrail bounds the trail that is kept between matches.
	longestKeptTrail = 1 << 16
)

// deadEnd is the row of the lineup without states.
func (a *automaton) deadEnd() uint32 { return uint32(a.width()) }

func (a *automaton) newLineups() *lineups {
	l := &lineups{rows: map[string]uint32{}}
	a.addLineup(l, nil) // row 0
	l.rows[""] = a.addLineup(l, nil)
	first := make([]uint16, len(a.paths[0]))
	for i, each := range a.paths[0] {
		first[i] = each.to
	}
	l.entry = a.addLineup(l, first)
	l.rows[keyOf(first)] = l.entry
	return l
}

func (a *automaton) addLineup(l *lineups, states []uint16) uint32 {
	row := uint32(len(l.states) * a.width())
	l.states = append(l.states, states)
	l.accepts = append(l.accepts, slices.Index(states, a.accept))
	l.next = append(l.next, make([]succession, a.width())...)
	return row
}

// leave leaves a trail along the rune that begins at some place.
func leave(trail []uint32, following succession, at, size int) {
	trail[at+size-1] = following.approaches
	if size > 1 {
		trail[at+size-2] = passedFrom + uint32(at)
	}
}

func keyOf(states []uint16) string {
	key := make([]byte, 0, 2*len(states))
	for _, state := range states {
		key = binary.LittleEndian.AppendUint16(key, state)
	}
	return string(key)
}

// matchByThreads follows all ways at once, then the way that succeeded back to
// where no group begins or ends before it.
func (a *automaton) matchByThreads(positions []int, text []byte) (matched, decided bool) {
	if len(text) > longestTrail || a.givenUp.Load() {
		return false, false
	}
	l := a.remembered.Swap(nil)
	if l == nil {
		l = a.newLineups()
	}
	final := a.forward(l, text)
	if final == 0 {
		a.givenUp.Store(true)
		return false, false
	}
	thread := l.accepts[a.number(final)]
	if thread >= 0 && a.groups > 0 {
		a.back(l, positions, text, thread)
	}
	if cap(l.trail) > longestKeptTrail {
		l.trail = nil
	}
	a.remembered.Store(l)
	return thread >= 0, true
}

// forward leaves a trail and returns the lineup after the last rune, or deadEnd as
// soon as nothing can match, or 0 where the tables would grow too large.
func (a *automaton) forward(l *lineups, text []byte) uint32 {
	if cap(l.trail) < len(text) {
		l.trail = make([]uint32, 2*len(text)+64)
	}
	trail, next, deadEnd := l.trail[:len(text)], l.next, a.deadEnd()
	present := l.entry
	for i := 0; i < len(text); i++ {
		class, size := uint8(0), 1
		if b := text[i]; b < utf8.RuneSelf {
			class = a.classes.ascii[b]
		} else {
			class, size = a.classes.wide(text[i:])
		}
		following := next[present+uint32(class)]
		if following.lineup <= deadEnd {
			if following.lineup == 0 {
				following = a.findNext(l, present, class)
				next = l.next
			}
			if following.lineup <= deadEnd {
				return following.lineup
			}
		}
		trail[i] = following.approaches
		if size > 1 {
			leave(trail, following, i, size)
			i += size - 1
		}
		present = following.lineup
	}
	return present
}

// findNext returns what follows on a rune: lineup 0 where there would be too many.
func (a *automaton) findNext(l *lineups, present uint32, class uint8) succession {
	var states []uint16
	var approaches []approach
	var seen stateSet
	for from, state := range l.states[a.number(present)] {
		if !a.members[class].has(int(state)) {
			continue
		}
		for _, each := range a.paths[state+1] {
			if !seen.has(int(each.to)) {
				seen.add(int(each.to))
				states = append(states, each.to)
				saves := each.saves
				if a.unnoted[state] {
					saves |= lastNote
				}
				approaches = append(approaches, approach{uint16(from), saves})
			}
		}
	}
	key := keyOf(states)
	row, known := l.rows[key]
	if !known {
		if len(l.next) >= maxPlaces {
			return succession{}
		}
		row = a.addLineup(l, states)
		l.rows[key] = row
	}
	if len(l.approaches)+len(approaches) > maxApproaches {
		return succession{}
	}
	found := succession{lineup: row, approaches: uint32(len(l.approaches))}
	l.approaches = append(l.approaches, approaches...)
	l.next[present+uint32(class)] = found
	return found
}

// back goes from the end of the text along the way that led to a state of the
// last lineup. Of several positions for one slot the last one counts.
func (a *automaton) back(l *lineups, positions []int, text []byte, thread int) {
	trail, approaches := l.trail[:len(text)], l.approaches
	for i := len(trail) - 1; i >= 0; i-- {
		passed := trail[i]
		if passed >= passedFrom {
			i = int(passed &^ passedFrom)
			continue
		}
		step := approaches[int(passed)+thread]
		if step.saves != 0 {
			a.noteIfUnset(positions, step.saves&^lastNote, i+1)
			if step.saves&lastNote != 0 {
				return
			}
		}
		thread = int(step.from)
	}
	a.noteIfUnset(positions, a.paths[0][thread].saves, 0)
}

func (a *automaton) noteIfUnset(positions []int, saves uint16, at int) {
	for _, slot := range a.saves[saves] {
		if positions[slot] < 0 {
			positions[slot] = at
		}
	}
}
