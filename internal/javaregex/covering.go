package javaregex

import (
	"encoding/binary"
	"slices"
)

// Covered reports whether each text matched by the expression is certainly matched by one of the others,
// too. A nil expression may match anything; a nil among the others matches everything.
func (i *Inspector) Covered(expression *Regexp, others []*Regexp, texts Texts) bool {
	var languages []*language
	for _, other := range others {
		if a := i.language(other, strict); a != nil {
			languages = append(languages, a)
		}
	}
	return len(languages) > 0 && i.covers(expression, languages, texts)
}

// covers reports whether each of the texts that the expression matches is certainly one of a language; of
// no languages, whether it certainly has no text.
func (i *Inspector) covers(expression *Regexp, others []*language, texts Texts) bool {
	if i.effort < 0 {
		return false
	}
	c := covering{Inspector: i, texts: texts, visited: map[string]bool{}, others: others}
	if c.covered = i.language(expression, generous); c.covered == nil {
		return false
	}
	start := make([]otherPlace, len(others))
	for number, other := range others {
		start[number] = otherPlace{automaton: int32(number), standing: standing{state: other.start}}
	}
	return c.holds(readStanding{standing{state: c.covered.start}, nothingRead}, start)
}

// otherPlace is a standing in one of several automata.
type otherPlace struct {
	automaton int32
	standing
}

// A covering walks through the covered automaton and, in step, through all
// places that the others can be in.
type covering struct {
	*Inspector
	texts   Texts
	covered *language
	others  []*language
	visited map[string]bool
	key     []byte
}

type coverStep struct {
	set    runeSet
	target otherPlace
}

// holds reports whether all remaining texts are covered.
func (c *covering) holds(from readStanding, others []otherPlace) bool {
	type pair struct {
		from   readStanding
		others []otherPlace
	}
	pending := []pair{{from, others}}
	var ways []step
	var otherWays []coverStep
	for len(pending) > 0 {
		current := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		slices.SortFunc(current.others, compareOthers)
		current.others = slices.Compact(current.others)
		if !c.isNew(current.from, current.others) {
			continue
		}
		ways = c.covered.steps(ways[:0], current.from.standing)
		c.effort -= c.covered.effort()
		var accepts bool
		if otherWays, accepts = c.otherSteps(otherWays[:0], current.others); c.effort < 0 {
			return false
		}
		for _, way := range ways {
			if way.set == nil {
				if c.texts.mayEnd(current.from.at) && !accepts {
					return false
				}
				continue
			}
			followed := c.texts.over(current.from.at, way.set, func(part runeSet, next reading) bool {
				return c.divide(part, otherWays, func(_ runeSet, targets []otherPlace) bool {
					pending = append(pending, pair{readStanding{way.target, next}, targets})
					return c.spend(1 + len(targets)/8)
				})
			})
			if !followed {
				return false
			}
		}
	}
	return true
}

func (c *covering) otherSteps(dst []coverStep, others []otherPlace) (ways []coverStep, accepts bool) {
	var steps []step
	for _, other := range others {
		a := c.others[other.automaton]
		steps = a.steps(steps[:0], other.standing)
		c.effort -= a.effort()
		for _, way := range steps {
			if way.set == nil {
				accepts = true
				continue
			}
			dst = append(dst, coverStep{way.set, otherPlace{other.automaton, way.target}})
		}
	}
	return dst, accepts
}

// divide splits a set into parts whose runes lead the others to the same
// places, and stops where use returns false.
func (c *covering) divide(set runeSet, ways []coverStep, use func(part runeSet, targets []otherPlace) bool) bool {
	if r, single := set.only(); single {
		var targets []otherPlace
		for _, way := range ways {
			if way.set.contains(r) {
				targets = append(targets, way.target)
			}
		}
		return use(set, targets)
	}
	var divideBy func(part runeSet, index int, targets []otherPlace) bool
	divideBy = func(part runeSet, index int, targets []otherPlace) bool {
		if len(part) == 0 {
			return true
		}
		if index == len(ways) {
			return use(part, slices.Clone(targets))
		}
		if !c.spend(1) {
			return false
		}
		// Without the way first: what none of the others follows ends the search.
		if !divideBy(part.without(ways[index].set), index+1, targets) {
			return false
		}
		return divideBy(part.intersection(ways[index].set), index+1, append(targets[:len(targets):len(targets)], ways[index].target))
	}
	return divideBy(set, 0, nil)
}

// isNew remembers a pair of places.
func (c *covering) isNew(from readStanding, others []otherPlace) bool {
	key := binary.AppendVarint(c.key[:0], int64(from.state))
	key = append(key, from.known, byte(from.at))
	for _, other := range others {
		key = binary.AppendVarint(key, int64(other.automaton))
		key = binary.AppendVarint(key, int64(other.state))
		key = append(key, other.known)
	}
	c.key = key
	if c.visited[string(key)] {
		return false
	}
	c.visited[string(key)] = true
	return true
}

func compareOthers(a, b otherPlace) int {
	if a.automaton != b.automaton {
		return int(a.automaton - b.automaton)
	}
	if a.state != b.state {
		return a.state - b.state
	}
	return int(a.known) - int(b.known)
}
