package javaregex

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A classifier distinguishes runes as far as an automaton does: those that the
// same states take are of one class.
type classifier struct {
	ascii  [utf8.RuneSelf]uint8
	starts []rune  // where, beyond ASCII, another class begins
	kinds  []uint8 // the class that begins there
}

// class returns the class of a rune.
func (c *classifier) class(r rune) uint8 {
	if r < utf8.RuneSelf {
		return c.ascii[r]
	}
	return c.wide(r)
}

// wide returns the class of a rune beyond ASCII.
func (c *classifier) wide(r rune) uint8 {
	at, found := slices.BinarySearch(c.starts, r)
	if !found {
		at--
	}
	return c.kinds[at]
}

// maxBoundaries bounds the places where sets of runes begin or end: more take too long to
// sort out for expressions that use large parts of Unicode.
const maxBoundaries = 256

// classify finds the classes of all runes, and the states that take each.
func classify(made thompson, states []int) (c classifier, members []stateSet, ok bool) {
	boundaries := []rune{0, utf8.RuneSelf}
	for _, number := range states {
		for _, part := range made.instructions[number].set {
			boundaries = append(boundaries, part.low, part.high+1)
		}
		if len(boundaries) > 4*maxBoundaries {
			return c, nil, false
		}
	}
	slices.Sort(boundaries)
	boundaries = slices.Compact(boundaries)
	if len(boundaries) > maxBoundaries {
		return c, nil, false
	}
	classOf := map[stateSet]uint8{}
	for i, low := range boundaries {
		if low > unicode.MaxRune {
			break
		}
		var takers stateSet
		for state, number := range states {
			if made.instructions[number].set.contains(low) {
				takers.add(state)
			}
		}
		class, known := classOf[takers]
		if !known {
			if len(members) == maxClasses {
				return c, nil, false
			}
			class = uint8(len(members))
			classOf[takers] = class
			members = append(members, takers)
		}
		if low >= utf8.RuneSelf {
			c.starts, c.kinds = append(c.starts, low), append(c.kinds, class)
			continue
		}
		for r := low; r < min(boundaries[i+1], utf8.RuneSelf); r++ {
			c.ascii[r] = class
		}
	}
	return c, members, true
}
