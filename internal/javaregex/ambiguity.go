package javaregex

import (
	"slices"
	"strings"
	"unicode"
)

// A backtracking engine takes exponential time if a text can be read in two ways that lead from one
// position of the expression back to it: each repetition of the text doubles the ways to try. This file
// searches for such a text and then tests whether the engine really takes that long, since atomic groups,
// assertions and optimizations may prevent it.

// maxPositions bounds the expressions that are analysed.
const maxPositions = 200

// A positionGraph represents an expression by the runes it consumes and, for each pair, in how many ways
// one may follow the other, counted up to two.
type positionGraph struct {
	sets   []runeSet
	first  map[int]int
	follow []map[int]int

	instructions []instruction
	positions    map[int]int // by instruction
}

// newPositionGraph returns nil for an expression that is too large.
func newPositionGraph(root node) *positionGraph {
	made := thompson{stance: ambiguous}
	start := made.node(root, made.add(instruction{kind: acceptText}), place{})
	r := &positionGraph{instructions: made.instructions, positions: map[int]int{}}
	var takers []int // from left to right: instructions are written from the end on
	for number := len(made.instructions) - 1; number >= 0; number-- {
		if made.instructions[number].kind == takeRune {
			r.positions[number] = len(takers)
			takers = append(takers, number)
		}
	}
	if made.failed || len(takers) > maxPositions {
		return nil
	}
	r.first = r.waysFrom(start)
	for _, number := range takers {
		r.sets = append(r.sets, made.instructions[number].set)
		r.follow = append(r.follow, r.waysFrom(made.instructions[number].first))
	}
	return r
}

// waysFrom returns the possible next positions, each with the number of ways.
func (r *positionGraph) waysFrom(from int) map[int]int {
	ways := map[int]int{}
	visits := map[int]int{}
	pending := []int{from}
	for len(pending) > 0 {
		number := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if visits[number] == 2 {
			continue
		}
		visits[number]++
		switch one := r.instructions[number]; one.kind {
		case takeRune:
			ways[r.positions[number]]++
		case choose:
			pending = append(pending, one.first, one.second)
		case demand:
			pending = append(pending, one.first)
		}
	}
	return ways
}

// A way is the pair of positions of two readings of the same text, and whether they have diverged.
type way struct {
	one, other int
	parted     bool
}

type arrival struct {
	from way
	over rune
}

// rounds returns a text that leads from a position back to it in two ways, and
// the positions on the first way.
func (r *positionGraph) rounds(position int, effort *int) (text string, passed []int, found bool) {
	start := way{one: position, other: position}
	goal := way{one: position, other: position, parted: true}
	arrivals := map[way]arrival{start: {}}
	pending := []way{start}
	for len(pending) > 0 {
		current := pending[0]
		pending = pending[1:]
		for _, one := range sortedPositions(r.follow[current.one]) {
			for _, other := range sortedPositions(r.follow[current.other]) {
				*effort--
				if *effort < 0 {
					return "", nil, false
				}
				shared := r.sets[one].intersection(r.sets[other])
				if len(shared) == 0 {
					continue
				}
				parted := current.parted || one != other || current.one == current.other && r.follow[current.one][one] > 1
				next := way{one, other, parted}
				if _, seen := arrivals[next]; seen {
					continue
				}
				arrivals[next] = arrival{current, sample(shared)}
				if next == goal {
					text, passed = textTo(arrivals, start, goal)
					return text, passed, true
				}
				pending = append(pending, next)
			}
		}
	}
	return "", nil, false
}

func textTo(arrivals map[way]arrival, start, goal way) (text string, passed []int) {
	var runes []rune
	for at := goal; at != start; at = arrivals[at].from {
		runes = append(runes, arrivals[at].over)
		passed = append(passed, at.one)
	}
	slices.Reverse(runes)
	return string(runes), passed
}

// prefix returns a text that leads to a position.
func (r *positionGraph) prefix(position int) string {
	type path struct {
		position int
		text     string
	}
	var pending []path
	seen := map[int]bool{}
	visit := func(from string, positions map[int]int) {
		for _, next := range sortedPositions(positions) {
			if !seen[next] && len(r.sets[next]) > 0 {
				seen[next] = true
				pending = append(pending, path{next, from + string(sample(r.sets[next]))})
			}
		}
	}
	visit("", r.first)
	for len(pending) > 0 {
		current := pending[0]
		pending = pending[1:]
		if current.position == position {
			return current.text
		}
		visit(current.text, r.follow[current.position])
	}
	return ""
}

func sortedPositions(ways map[int]int) []int {
	positions := make([]int, 0, len(ways))
	for position := range ways {
		positions = append(positions, position)
	}
	slices.Sort(positions)
	return positions
}

// sample returns a rune of a set, preferably a readable one.
func sample(set runeSet) rune {
	for _, readable := range []runeSet{rangeOf('a', 'z'), rangeOf('0', '9'), rangeOf('A', 'Z'), rangeOf('!', '~'), singleRune(' ')} {
		if shared := set.intersection(readable); len(shared) > 0 {
			return shared[0].low
		}
	}
	return set[0].low
}

// Runaway searches for a text on which a whole match of the expression takes exponential time, and tests
// it. It returns the text to repeat, and the texts before and after the repetitions. Only expressions
// that need the backtracking engine can run away.
func (i *Inspector) Runaway(expression *Regexp) (before, repeated, after string, found bool) {
	matcher := expression.whole
	if matcher.reason == "" || i.effort < 0 {
		return "", "", "", false
	}
	r := newPositionGraph(matcher.parsed.root)
	if r == nil {
		return "", "", "", false
	}
	tried := map[int]bool{}
	for position := range r.sets {
		if tried[position] {
			continue
		}
		repeated, passed, found := r.rounds(position, &i.effort)
		if !found {
			continue
		}
		for _, one := range passed {
			tried[one] = true // it gives a rotation of the same text
		}
		before := r.prefix(position)
		for _, end := range r.ends(repeated, passed) {
			// Whatever has to be in the text may stand behind the mismatch.
			after := end + requiredText(matcher.required)
			if i.runsAway(matcher, before, repeated, after) {
				return before, repeated, after, true
			}
		}
	}
	return "", "", "", false
}

// A trial measures the work of the engine for so many rounds that there is some, and
// for four and eight rounds more. If each round doubles the work, each four make it
// sixteen times as much; if it grows with the fifth power of the rounds, the second
// four make it eight times as much at most.
const (
	trialRounds  = 64
	fewestRounds = 4
	trialWork    = 20_000
	trialGrowth  = 12
	mostWork     = 6_000_000
	workPerUnit  = 2000 // of effort
	endlessWork  = maxWork / 10
)

// runsAway reports whether the work of the engine explodes with the number of rounds.
func (i *Inspector) runsAway(m *matcher, before, repeated, after string) bool {
	engine := m.backtrackingEngine()
	text := func(rounds int) string { return before + strings.Repeat(repeated, rounds) + after }
	work := func(rounds, most int) int {
		_, _, took, _ := engine.Find(nil, []rune(text(rounds)), 0, 0, most)
		i.effort -= took / workPerUnit
		return min(took, most)
	}
	if !m.required.in([]byte(text(trialRounds))) || work(trialRounds, mostWork/10) < mostWork/10 {
		return false // usually the ambiguity was only apparent
	}
	rounds := fewestRounds
	for work(rounds, trialWork) < trialWork {
		if rounds++; rounds > trialRounds {
			return false
		}
	}
	some := work(rounds+fewestRounds, mostWork)
	if work(rounds+2*fewestRounds, mostWork) < min(some*trialGrowth, mostWork) || i.effort < 0 {
		return false
	}
	return work(trialRounds, endlessWork) == endlessWork
}

// ends returns texts that may make a match fail after rounds of a text.
func (r *positionGraph) ends(repeated string, passed []int) []string {
	var all, loop runeSet
	for _, set := range r.sets {
		all = all.union(set)
	}
	for _, position := range passed {
		loop = loop.union(r.sets[position])
	}
	printable := rangeOf(' ', unicode.MaxRune)
	ends := []string{""}
	add := func(end string) {
		if !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	if rest := all.complement().intersection(printable); len(rest) > 0 {
		add(string(sample(rest)))
	}
	add("!")
	// A .* at the end takes all but the carriage return that many lines end
	// with; the loop itself may take that as white space.
	add("\r")
	add("!\r")
	// What follows the loop may take what the loop does not, but not the loop's text once more.
	if outside := loop.complement().intersection(printable); len(outside) > 0 {
		add(string(sample(outside)) + repeated)
	}
	return ends
}

func requiredText(literals requiredLiterals) string {
	var text strings.Builder
	for _, literal := range literals {
		text.Write(literal)
	}
	return text.String()
}
