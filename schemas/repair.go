package schemas

import "slices"

// A repair is what turns the children that stand in an element into children
// that its content model allows.
type repair struct {
	operation operation
	child     int // index of the child; of the next one for missing
	before    int // the state before
	place     int // the state after
}

type operation uint8

const (
	matched   operation = iota // the child fits
	renamed                    // the child fits under another, similar name
	replaced                   // something unknown stands where something is required
	surplus                    // the child must go
	missing                    // something required is not there
	unreached                  // marks states that no sequence leads to
)

// Costs of repairs. What a reader would call one mistake must be cheaper than
// two. Of two repairs that cost the same the one that keeps the earlier children
// wins: a little is added to surplus children the earlier they stand.
const (
	costUnit     = int64(1) << 40 // above what is added in the largest document
	costRenamed  = 8 * costUnit
	costSurplus  = 10 * costUnit
	costMissing  = 10 * costUnit
	costReplaced = 15 * costUnit // below surplus and missing together
	unreachable  = int64(1) << 62
)

type origin struct {
	operation operation
	before    int16
}

// A resemblance lists the names of a model that a name may be a misspelling of.
type resemblance struct {
	unknown bool   // the model has no place for the name itself
	similar []bool // by state
}

// maxResemblances bounds the different names per element that resemblances are looked
// for: more are not reported either.
const maxResemblances = maxViolations

// resemblances looks up every different name once. looksLike reports whether
// the first name looks like a misspelling of the second.
func (a *automaton) resemblances(symbols []string, looksLike func(symbol, meant string) bool) map[string]resemblance {
	found := map[string]resemblance{}
	for _, symbol := range symbols {
		if _, done := found[symbol]; done || a.knows(symbol) {
			continue
		}
		r := resemblance{unknown: true, similar: make([]bool, len(a.states))}
		if len(found) < maxResemblances {
			for place, s := range a.states {
				r.similar[place] = s.element != nil && looksLike(symbol, s.element.symbol)
			}
		}
		found[symbol] = r
	}
	return found
}

// repair finds the cheapest repairs that make the children acceptable.
func (a *automaton) repair(symbols []string, looksLike func(symbol, meant string) bool) []repair {
	resemblances := a.resemblances(symbols, looksLike)
	cost := make([]int64, len(a.states))
	for state := range cost {
		cost[state] = unreachable
	}
	cost[0] = 0
	origins := make([][]origin, 0, len(symbols)+1)
	column := newColumn(len(a.states))
	a.insertMissing(cost, column)
	origins = append(origins, column)
	for child, symbol := range symbols {
		next := make([]int64, len(a.states))
		column := newColumn(len(a.states))
		resembles := resemblances[symbol]
		for state := range next {
			next[state] = min(unreachable, cost[state]+costSurplus+int64(len(symbols)-child))
			if cost[state] < unreachable {
				column[state] = origin{surplus, int16(state)}
			}
		}
		reach := func(place, before int, total int64, by operation) {
			if total <= next[place] {
				next[place], column[place] = total, origin{by, int16(before)}
			}
		}
		for state := range cost {
			if cost[state] >= unreachable {
				continue
			}
			if place, ok := a.next(state, symbol); ok {
				reach(place, state, cost[state], matched)
			}
			if !resembles.unknown {
				continue
			}
			for _, place := range a.states[state].follow {
				if a.states[place].element == nil {
					continue
				}
				if resembles.similar[place] {
					reach(place, state, cost[state]+costRenamed, renamed)
				} else {
					reach(place, state, cost[state]+costReplaced, replaced)
				}
			}
		}
		a.insertMissing(next, column)
		cost = next
		origins = append(origins, column)
	}
	return a.trace(cost, origins)
}

func newColumn(states int) []origin {
	column := make([]origin, states)
	for i := range column {
		column[i].operation = unreached
	}
	return column
}

// insertMissing extends what is reached by required elements that are not there.
func (a *automaton) insertMissing(cost []int64, column []origin) {
	for changed := true; changed; {
		changed = false
		for state := range cost {
			if cost[state] >= unreachable {
				continue
			}
			for _, place := range a.states[state].follow {
				total := cost[state] + costMissing
				if a.states[place].element != nil && total < cost[place] {
					cost[place], column[place] = total, origin{missing, int16(state)}
					changed = true
				}
			}
		}
	}
}

// trace walks back from the cheapest end.
func (a *automaton) trace(cost []int64, origins [][]origin) []repair {
	end := -1
	for state := range cost {
		if a.states[state].accepting && cost[state] < unreachable && (end < 0 || cost[state] < cost[end]) {
			end = state
		}
	}
	var repairs []repair
	for state, child := end, len(origins)-1; state >= 0; {
		from := origins[child][state]
		if from.operation == unreached {
			break
		}
		before := int(from.before)
		if from.operation == missing {
			repairs = append(repairs, repair{missing, child, before, state})
		} else {
			child--
			repairs = append(repairs, repair{from.operation, child, before, state})
		}
		state = before
	}
	slices.Reverse(repairs)
	return repairs
}
