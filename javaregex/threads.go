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
	next       []uint32     // by lineup and class: the lineup after a rune
	approaches [][]approach // by lineup and class: how each state of the next one was reached
	size       int          // approaches in all
	runs       []run        // by row number: what leads from the lineup back to it
	sought     []bool       // by row number: the run was looked for
	trail      []uint32     // the lineup before each rune of the present text
	entry      uint32       // the lineup after the prefix, 0 where the tables have no room for it
	entered    []uint32     // the trail along the prefix
}

// An approach tells which state of the lineup before led to a state, and the
// positions to note on the path between them. With the flag lastNote among these nothing
// is left to note before.
type approach struct{ from, saves uint16 }

const lastNote = maxSaveLists

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
	for i, r := range a.prefix {
		for len(l.entered) <= i {
			l.entered = append(l.entered, l.entry)
		}
		if l.entry = a.findNext(l, l.entry, a.classes.of(r)); l.entry == 0 {
			return l
		}
	}
	for len(l.entered) < len(a.prefix) {
		l.entered = append(l.entered, 0) // within the last rune
	}
	return l
}

func (a *automaton) addLineup(l *lineups, states []uint16) uint32 {
	row := uint32(len(l.states) * a.width())
	l.states = append(l.states, states)
	l.accepts = append(l.accepts, slices.Index(states, a.accept))
	l.runs = append(l.runs, run{})
	l.sought = append(l.sought, false)
	l.next = append(l.next, make([]uint32, a.width())...)
	l.approaches = append(l.approaches, make([][]approach, a.width())...)
	return row
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
	var final uint32
	if l.entry != 0 {
		final = a.forward(l, text)
	}
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

// forward notes the lineup before each rune and returns the one after the last,
// or deadEnd as soon as nothing can match, or 0 where the tables would grow too large.
func (a *automaton) forward(l *lineups, text []byte) uint32 {
	if cap(l.trail) < len(text) {
		l.trail = make([]uint32, 2*len(text)+64)
		copy(l.trail, l.entered)
	}
	trail, next, deadEnd := l.trail[:len(text)], l.next, a.deadEnd()
	present := l.entry
	for i := len(l.entered); i < len(text); i++ {
		trail[i] = present
		var class uint8
		if b := text[i]; b < utf8.RuneSelf {
			class = a.classes.ascii[b]
		} else {
			r, size := utf8.DecodeRune(text[i:])
			class = a.classes.wide(r)
			i += size - 1
		}
		following := next[present+uint32(class)]
		if following <= deadEnd {
			if following == 0 {
				following = a.findNext(l, present, class)
				next = l.next
			}
			if following <= deadEnd {
				return following
			}
		}
		if following == present {
			length := a.runFrom(l, present).length(text[i+1:])
			along := trail[i+1 : i+1+length]
			for j := range along {
				along[j] = present
			}
			i += length
			next = l.next
		}
		present = following
	}
	return present
}

// runFrom returns the run of a lineup that leads back to itself.
func (a *automaton) runFrom(l *lineups, row uint32) *run {
	number := a.number(row)
	if !l.sought[number] {
		l.sought[number] = true
		l.runs[number] = newRun(func(b byte) bool {
			class := a.classes.ascii[b]
			if l.next[row+uint32(class)] == 0 {
				a.findNext(l, row, class)
			}
			return l.next[row+uint32(class)] == row
		})
	}
	return &l.runs[number]
}

// findNext returns the lineup after a rune, 0 where there would be too many.
func (a *automaton) findNext(l *lineups, present uint32, class uint8) uint32 {
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
			return 0
		}
		row = a.addLineup(l, states)
		l.rows[key] = row
	}
	if l.size += len(approaches); l.size > maxApproaches {
		return 0
	}
	l.next[present+uint32(class)] = row
	l.approaches[present+uint32(class)] = approaches
	return row
}

// back goes from the end of the text along the way that led to a state of the
// last lineup. Of several positions for one slot the last one counts.
func (a *automaton) back(l *lineups, positions []int, text []byte, thread int) {
	for i := len(text); i > 0; {
		var class uint8
		size := 1
		if b := text[i-1]; b < utf8.RuneSelf {
			class = a.classes.ascii[b]
		} else {
			var r rune
			r, size = utf8.DecodeLastRune(text[:i])
			class = a.classes.wide(r)
		}
		step := l.approaches[l.trail[i-size]+uint32(class)][thread]
		if step.saves != 0 {
			a.noteIfUnset(positions, step.saves&^lastNote, i)
			if step.saves&lastNote != 0 {
				return
			}
		}
		thread = int(step.from)
		i -= size
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
