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
	givenUp    atomic.Bool // the tables would grow too large
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
	stays      []*stay      // by row number; nil where it was not looked for
	trail      []uint32     // how each byte of the present text was passed; see stayedFrom
	entry      uint32       // the lineup after the prefix, 0 where the tables have no room for it
	entered    []uint32     // the trail along the prefix
}

// A succession is the lineup after a rune, and where in approaches those of its
// states begin, in their order.
type succession struct{ lineup, approaches uint32 }

// An approach is the state of the lineup before that led to a state, and the
// positions to note on the path between them. With the flag lastNote among these nothing
// is left to note before.
type approach struct{ from, saves uint16 }

const lastNote = maxSaveLists

// A stay is what leads from a lineup back to it.
type stay struct {
	run run
	// settled has the states, by their index in the lineup, that all of the run leads to
	// from themselves, and on the way notes nothing.
	settled stateSet
}

// In a trail the last byte of a rune has its approaches. Marks with a place in the text
// added to them stand for all bytes from there on.
const (
	passedFrom = 1 << 31 // nothing changes, and nothing is to be noted
	stayedFrom = 1 << 30 // the lineup, which the byte before has, stays the same
)

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
	l.entered = make([]uint32, len(a.prefix))
	for i, r := range a.prefix {
		following := a.findNext(l, l.entry, a.classes.class(r))
		if l.entry = following.lineup; l.entry == 0 {
			return l
		}
		noteTrail(l.entered, following, i, utf8.RuneLen(r))
	}
	return l
}

func (a *automaton) addLineup(l *lineups, states []uint16) uint32 {
	row := uint32(len(l.states) * a.width())
	l.states = append(l.states, states)
	l.accepts = append(l.accepts, slices.Index(states, a.accept))
	l.stays = append(l.stays, nil)
	l.next = append(l.next, make([]succession, a.width())...)
	return row
}

// noteTrail leaves a trail along the rune that begins at some place.
func noteTrail(trail []uint32, following succession, at, size int) {
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

// forward leaves a trail and returns the lineup after the last rune, or deadEnd as
// soon as nothing can match, or 0 where the tables would grow too large.
func (a *automaton) forward(l *lineups, text []byte) uint32 {
	if cap(l.trail) < len(text) {
		l.trail = make([]uint32, 2*len(text)+64)
		copy(l.trail, l.entered)
	}
	trail, next, deadEnd := l.trail[:len(text)], l.next, a.deadEnd()
	present := l.entry
	for i := len(l.entered); i < len(text); i++ {
		var class uint8
		size := 1
		if b := text[i]; b < utf8.RuneSelf {
			class = a.classes.ascii[b]
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			class = a.classes.wide(r)
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
			noteTrail(trail, following, i, size)
			i += size - 1
		}
		if following.lineup == present {
			stay := l.stays[a.number(present)]
			if stay == nil {
				stay = a.findStay(l, present)
				next = l.next
			}
			if length := stay.run.length(text[i+1:]); length > 1 {
				i += length
				trail[i], trail[i-1] = stayedFrom+uint32(i-length+1), present
			}
		}
		present = following.lineup
	}
	return present
}

// findStay finds what leads from a lineup back to it.
func (a *automaton) findStay(l *lineups, row uint32) *stay {
	found := &stay{}
	l.stays[a.number(row)] = found
	length := len(l.states[a.number(row)])
	for index := range length {
		found.settled.add(index)
	}
	found.run = newRun(func(b byte) bool {
		at := row + uint32(a.classes.ascii[b])
		if l.next[at].lineup == 0 {
			a.findNext(l, row, a.classes.ascii[b])
		}
		if l.next[at].lineup != row {
			return false
		}
		for index, each := range l.approaches[l.next[at].approaches:][:length] {
			if int(each.from) != index || each.saves&^lastNote != 0 {
				found.settled.remove(index)
			}
		}
		return true
	})
	return found
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
		if passed >= stayedFrom {
			begin := int(passed &^ (passedFrom | stayedFrom))
			if passed < passedFrom {
				thread = a.backAlong(l, positions, text[:i+1], begin, thread)
			}
			i = begin
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

// backAlong goes back over what stays in a lineup, from the end of the text to where that
// begins, and returns the state before.
func (a *automaton) backAlong(l *lineups, positions []int, text []byte, begin, thread int) int {
	row := l.trail[len(text)-2]
	settled := &l.stays[a.number(row)].settled
	for i := len(text) - 1; i >= begin && !settled.has(thread); i-- {
		step := l.approaches[int(l.next[row+uint32(a.classes.ascii[text[i]])].approaches)+thread]
		a.noteIfUnset(positions, step.saves&^lastNote, i+1)
		thread = int(step.from)
	}
	return thread
}

func (a *automaton) noteIfUnset(positions []int, saves uint16, at int) {
	for _, slot := range a.saves[saves] {
		if positions[slot] < 0 {
			positions[slot] = at
		}
	}
}
