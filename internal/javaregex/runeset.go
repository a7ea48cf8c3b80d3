package javaregex

import (
	"slices"
	"sync"
	"unicode"
)

// A runeRange holds the runes from low to high, both included.
type runeRange struct{ low, high rune }

// A runeSet is a set of runes: ranges in ascending order that neither overlap
// nor touch. Sets are never changed once built, so they may be shared.
type runeSet []runeRange

func singleRune(r rune) runeSet { return runeSet{{r, r}} }

func rangeOf(low, high rune) runeSet { return runeSet{{low, high}} }

// setOf returns the set of all runes of the text.
func setOf(text string) runeSet {
	var ranges []runeRange
	for _, r := range text {
		ranges = append(ranges, runeRange{r, r})
	}
	return normalized(ranges)
}

// normalized sorts and joins ranges; it takes the slice over.
func normalized(ranges []runeRange) runeSet {
	slices.SortFunc(ranges, func(a, b runeRange) int { return int(a.low - b.low) })
	joined := ranges[:0]
	for _, next := range ranges {
		if last := len(joined) - 1; last >= 0 && next.low <= joined[last].high+1 {
			joined[last].high = max(joined[last].high, next.high)
			continue
		}
		joined = append(joined, next)
	}
	return joined
}

func (s runeSet) union(other runeSet) runeSet {
	switch {
	case len(s) == 0:
		return other
	case len(other) == 0:
		return s
	}
	return normalized(slices.Concat(s, other))
}

func (s runeSet) complement() runeSet {
	result := make(runeSet, 0, len(s)+1)
	next := rune(0)
	for _, present := range s {
		if present.low > next {
			result = append(result, runeRange{next, present.low - 1})
		}
		next = present.high + 1
	}
	if next <= unicode.MaxRune {
		result = append(result, runeRange{next, unicode.MaxRune})
	}
	return result
}

func (s runeSet) intersection(other runeSet) runeSet {
	var result runeSet
	for i, j := 0, 0; i < len(s) && j < len(other); {
		low, high := max(s[i].low, other[j].low), min(s[i].high, other[j].high)
		if low <= high {
			result = append(result, runeRange{low, high})
		}
		if s[i].high < other[j].high {
			i++
		} else {
			j++
		}
	}
	return result
}

func (s runeSet) without(other runeSet) runeSet { return s.intersection(other.complement()) }

func (s runeSet) contains(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(present runeRange, wanted rune) int {
		switch {
		case present.high < wanted:
			return -1
		case present.low > wanted:
			return 1
		}
		return 0
	})
	return found
}

func (s runeSet) equal(other runeSet) bool { return slices.Equal(s, other) }

// only returns the one rune of a set of one.
func (s runeSet) only() (rune, bool) {
	if len(s) == 1 && s[0].low == s[0].high {
		return s[0].low, true
	}
	return 0, false
}

// fromTables returns the runes of all tables.
func fromTables(tables ...*unicode.RangeTable) runeSet {
	var ranges []runeRange
	add := func(low, high, stride rune) {
		if stride == 1 {
			ranges = append(ranges, runeRange{low, high})
			return
		}
		for r := low; r <= high; r += stride {
			ranges = append(ranges, runeRange{r, r})
		}
	}
	for _, table := range tables {
		for _, part := range table.R16 {
			add(rune(part.Lo), rune(part.Hi), rune(part.Stride))
		}
		for _, part := range table.R32 {
			add(rune(part.Lo), rune(part.Hi), rune(part.Stride))
		}
	}
	return normalized(ranges)
}

// foldedASCII adds the other case of each ASCII letter of the set.
func (s runeSet) foldedASCII() runeSet {
	upper := s.intersection(rangeOf('A', 'Z'))
	lower := s.intersection(rangeOf('a', 'z'))
	if len(upper) == 0 && len(lower) == 0 {
		return s
	}
	ranges := slices.Clone(s)
	for _, part := range upper {
		ranges = append(ranges, runeRange{part.low + 'a' - 'A', part.high + 'a' - 'A'})
	}
	for _, part := range lower {
		ranges = append(ranges, runeRange{part.low - 'a' + 'A', part.high - 'a' + 'A'})
	}
	return normalized(ranges)
}

// A casedRune is a rune that changes when it is mapped to upper case or, from
// there, to lower case: the two mappings that decide whether Java takes two
// runes for the same letter.
type casedRune struct{ self, upper, lower rune }

var casedRunes = sync.OnceValue(func() []casedRune {
	var result []casedRune
	for _, mapping := range unicode.CaseRanges {
		for r := rune(mapping.Lo); r <= rune(mapping.Hi); r++ {
			upper := unicode.ToUpper(r)
			lower := unicode.ToLower(upper)
			if upper != r || lower != r {
				result = append(result, casedRune{r, upper, lower})
			}
		}
	}
	return result
})

// foldedUnicode adds each rune whose upper case, or whose lower case reached
// by way of the upper case, is in the set.
func (s runeSet) foldedUnicode() runeSet {
	ranges := slices.Clone(s)
	for _, cased := range casedRunes() {
		if s.contains(cased.upper) || s.contains(cased.lower) {
			ranges = append(ranges, runeRange{cased.self, cased.self})
		}
	}
	return normalized(ranges)
}

// equivalentLetter returns the set that a single letter stands for when case
// is ignored beyond ASCII.
func equivalentLetter(letter rune) runeSet {
	common := unicode.ToLower(unicode.ToUpper(letter))
	ranges := []runeRange{{common, common}}
	for _, cased := range casedRunes() {
		if cased.lower == common {
			ranges = append(ranges, runeRange{cased.self, cased.self})
		}
	}
	return normalized(ranges)
}
