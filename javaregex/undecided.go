package javaregex

import (
	"sync/atomic"
	"unicode/utf8"
)

// undecided holds what an automaton needs where runes alone do not decide which
// path to take: tables that grow with the texts seen. One match at a time uses
// them; another that runs meanwhile makes its own.
type undecided struct {
	tables  atomic.Pointer[lookback]
	givenUp atomic.Bool // the tables grow too large to be worth it
}

// A lookback remembers what followed from what. A future is a set of states that
// lead to a match from some place of the text on. Each has a row in both tables
// and goes by where its row begins; row 0 stands for what is not known yet.
type lookback struct {
	futures []stateSet // by row number
	rows    map[stateSet]uint32
	before  []uint32 // by future and class: the future one rune before
	moves   []move   // by future and origin: the path to take
	trail   []uint32 // the future at each place of the present text
}

const (
	maxFutures = 1024
	// longestTrail bounds the texts, in bytes, for which a trail is kept.
	longestTrail = 1 << 20
	// longestKeptTrail bounds the trail that is kept between matches.
	longestKeptTrail = 1 << 16
)

// stride is the length of a row.
func (a *automaton) stride() int { return max(a.classes.count, len(a.paths)) }

// noFuture is the row of the future in which nothing leads to a match.
func (a *automaton) noFuture() uint32 { return uint32(a.stride()) }

// endOfText is the row of the future in which only accepting leads to a match.
func (a *automaton) endOfText() uint32 { return uint32(2 * a.stride()) }

func (a *automaton) newLookback() *lookback {
	t := &lookback{rows: map[stateSet]uint32{}}
	var accepting stateSet
	accepting.add(int(a.accept))
	for _, future := range []stateSet{{}, {}, accepting} { // unknown, noFuture, endOfText
		a.addFuture(t, future)
	}
	return t
}

func (a *automaton) addFuture(t *lookback, future stateSet) uint32 {
	row := uint32(len(t.futures) * a.stride())
	t.futures = append(t.futures, future)
	t.rows[future] = row
	t.before = append(t.before, make([]uint32, a.stride())...)
	t.moves = append(t.moves, make([]move, a.stride())...)
	return row
}

// walkAfterLookingBack matches in two passes.
func (a *automaton) walkAfterLookingBack(positions []int, text []byte) (matched, decided bool) {
	if len(text) > longestTrail || a.givenUp.Load() {
		return false, false
	}
	t := a.tables.Swap(nil)
	if t == nil {
		t = a.newLookback()
	}
	matched, decided = a.lookBack(t, text)
	if matched {
		matched = a.walkTrail(t, positions, text)
	}
	if !decided {
		a.givenUp.Store(true)
		return false, false
	}
	if cap(t.trail) > longestKeptTrail {
		t.trail = nil
	}
	a.tables.Store(t)
	return matched, true
}

// lookBack notes the future at each place of the text, from its end to its
// start. Matched is false where there is none.
func (a *automaton) lookBack(t *lookback, text []byte) (matched, decided bool) {
	if cap(t.trail) < len(text)+1 {
		t.trail = make([]uint32, len(text)+1, 2*len(text)+64)
	}
	trail := t.trail[:len(text)+1]
	before, impossible := t.before, a.noFuture()
	future := a.endOfText()
	trail[len(text)] = future
	for i := len(text) - 1; i >= 0; i-- {
		var class uint8
		if b := text[i]; b < utf8.RuneSelf {
			class = a.classes.ascii[b]
		} else {
			r, size := utf8.DecodeLastRune(text[:i+1])
			class = a.classes.wide(r)
			i -= size - 1
		}
		earlier := before[future+uint32(class)]
		if earlier <= impossible {
			if earlier == 0 {
				earlier = a.findEarlier(t, future, class)
				before = t.before
			}
			if earlier == 0 {
				return false, false
			}
			if earlier == impossible {
				return false, true
			}
		}
		trail[i] = earlier
		future = earlier
	}
	return true, true
}

// findEarlier returns the future one rune of a class before another one, 0
// where that makes too many.
func (a *automaton) findEarlier(t *lookback, future uint32, class uint8) uint32 {
	later := t.futures[int(future)/a.stride()]
	var earlier stateSet
	a.members[class].each(func(state int) {
		if a.reach[state+1].meets(&later) {
			earlier.add(state)
		}
	})
	row, known := t.rows[earlier]
	if !known {
		if len(t.futures) == maxFutures {
			return 0
		}
		row = a.addFuture(t, earlier)
	}
	if earlier.empty() {
		row = a.noFuture()
	}
	t.before[future+uint32(class)] = row
	return row
}

// walkTrail goes from the start of the text to its end, or to where nothing is
// left to note, along the futures. It reports false where not even the first
// step is possible.
func (a *automaton) walkTrail(t *lookback, positions []int, text []byte) bool {
	trail := t.trail[:len(text)+1]
	origin := uint32(0)
	for i := 0; i < len(trail); i++ {
		next := t.moves[trail[i]+origin]
		if next == 0 {
			if next = a.findMove(t, trail[i], origin); next == 0 {
				return false
			}
		}
		if saves := next.saves(); saves != 0 {
			a.note(positions, saves, i)
		}
		if next.last() {
			return true
		}
		origin = next.origin()
		if text[i] >= utf8.RuneSelf {
			_, size := utf8.DecodeRune(text[i:])
			i += size - 1
		}
	}
	return false
}

// findMove returns the first path of an origin that leads to a match, 0 where
// none does.
func (a *automaton) findMove(t *lookback, future, origin uint32) move {
	possible := t.futures[int(future)/a.stride()]
	for _, each := range a.paths[origin] {
		if possible.has(int(each.to)) {
			chosen := newMove(int(each.to)+1, each.saves, a.settled[each.to+1])
			t.moves[future+origin] = chosen
			return chosen
		}
	}
	return 0
}
