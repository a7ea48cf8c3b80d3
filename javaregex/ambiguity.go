package javaregex

import (
	"slices"
	"strings"
	"unicode"
)

// An expression takes a backtracking engine exponential time where a text can
// be read in two ways that lead from one place of the expression back to the
// same place: each further round of such a text doubles the ways to try.
// This file looks for such a text; whether the engine really runs away on it
// is then tried, since atomic groups, assertions and the engine's own cleverness
// may prevent it.

// maxPositions bounds the expressions that are looked at.
const maxPositions = 200

// positions counts the runes that an expression consumes, counted repetitions
// written out.
func positions(part node) int {
	switch part := part.(type) {
	case one, lineBreak:
		return 1
	case repeat:
		if zeroWidth(part.body) {
			return 0
		}
		copies := part.max
		if copies == unlimited {
			copies = part.min + 1
		}
		return min(positions(part.body)*copies, unlimited)
	}
	total := 0
	for _, inner := range children(part) {
		total = min(total+positions(inner), unlimited)
	}
	return total
}

// A ramble is an expression as the runes it consumes and which may follow
// which, with in how many ways, counted up to two.
type ramble struct {
	sets   []runeSet
	follow []map[int]int
}

// A fragment is a part of an expression: in how many ways it matches the
// empty text, and which positions it begins and ends with.
type fragment struct {
	empty       int
	first, last map[int]int
}

func twoAtMost(ways int) int { return min(ways, 2) }

func merge(into, from map[int]int, ways int) map[int]int {
	if ways == 0 || len(from) == 0 {
		return into
	}
	merged := make(map[int]int, len(into)+len(from))
	for position, count := range into {
		merged[position] = count
	}
	for position, count := range from {
		merged[position] = twoAtMost(merged[position] + count*ways)
	}
	return merged
}

func (r *ramble) connect(last, first map[int]int) {
	for from, waysFrom := range last {
		for to, waysTo := range first {
			r.follow[from][to] = twoAtMost(r.follow[from][to] + waysFrom*waysTo)
		}
	}
}

func (r *ramble) position(set runeSet) fragment {
	r.sets = append(r.sets, set)
	r.follow = append(r.follow, map[int]int{})
	ends := map[int]int{len(r.sets) - 1: 1}
	return fragment{first: ends, last: ends}
}

func (r *ramble) join(a, b fragment) fragment {
	r.connect(a.last, b.first)
	return fragment{
		empty: twoAtMost(a.empty * b.empty),
		first: merge(a.first, b.first, a.empty),
		last:  merge(b.last, a.last, b.empty),
	}
}

func either(a, b fragment) fragment {
	return fragment{empty: twoAtMost(a.empty + b.empty), first: merge(a.first, b.first, 1), last: merge(a.last, b.last, 1)}
}

// visit adds a node. Lookarounds count as what may be read or not, assertions as nothing.
func (r *ramble) visit(part node) fragment {
	nothing := fragment{empty: 1}
	switch part := part.(type) {
	case one:
		return r.position(part.set)
	case lineBreak:
		return r.position(verticalSpace)
	case sequence:
		result := nothing
		for _, element := range part.parts {
			result = r.join(result, r.visit(element))
		}
		return result
	case alternation:
		result := r.visit(part.branches[0])
		for _, branch := range part.branches[1:] {
			result = either(result, r.visit(branch))
		}
		return result
	case group:
		return r.visit(part.body)
	case look:
		return either(nothing, r.visit(part.body))
	case repeat:
		return r.visitRepeat(part)
	}
	return nothing
}

func (r *ramble) visitRepeat(loop repeat) fragment {
	nothing := fragment{empty: 1}
	if zeroWidth(loop.body) {
		return nothing
	}
	result := nothing
	for range loop.min {
		result = r.join(result, r.visit(loop.body))
	}
	if loop.max == unlimited {
		round := r.visit(loop.body)
		r.connect(round.last, round.first)
		return r.join(result, fragment{empty: 1, first: round.first, last: round.last})
	}
	for range loop.max - loop.min {
		result = r.join(result, either(nothing, r.visit(loop.body)))
	}
	return result
}

// A way is where two readings of the same text are, and whether they have parted.
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
func (r *ramble) rounds(position int, effort *int) (text string, passed []int, found bool) {
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
func (r *ramble) prefix(first map[int]int, position int) string {
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
	visit("", first)
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

// sample returns a rune of a set, if possible one that a reader recognises.
func sample(set runeSet) rune {
	for _, readable := range []runeSet{rangeOf('a', 'z'), rangeOf('0', '9'), rangeOf('A', 'Z'), rangeOf('!', '~'), singleRune(' ')} {
		if shared := set.intersection(readable); len(shared) > 0 {
			return shared[0].low
		}
	}
	return set[0].low
}

// Runaway looks for a text on which a whole match of the expression takes
// exponential time, and tries it. It returns the text that has to be repeated,
// with what stands before and after the repetitions. Only expressions for
// which the linear engine does not do can run away.
func (i *Inspector) Runaway(expression *Regexp) (before, repeated, after string, found bool) {
	matcher := expression.whole
	if matcher.reason == "" || i.effort < 0 {
		return "", "", "", false
	}
	if positions(matcher.parsed.root) > maxPositions {
		return "", "", "", false
	}
	var r ramble
	whole := r.visit(matcher.parsed.root)
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
			tried[one] = true // it would lead to the same text, begun elsewhere
		}
		before := r.prefix(whole.first, position)
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
		return false // as a rule: the two readings were only apparent
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

// ends returns texts that may make a match fail at last, after rounds of a text
// over the positions passed.
func (r *ramble) ends(repeated string, passed []int) []string {
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
