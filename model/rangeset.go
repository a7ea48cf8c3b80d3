package model

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A RangeSet is a set of numbers, kept and written as ranges: 1-7,34-38,41. Its
// zero value is the empty set.
type RangeSet struct {
	ranges []numberRange // ascending, neither overlapping nor adjacent
}

type numberRange struct{ first, last uint64 } // both inclusive

// maxRanges bounds the ranges of a text that ParseRangeSet reads.
const maxRanges = 1 << 20

// ErrRangeSet is what every error about a text that is no range set wraps.
var ErrRangeSet = errors.New("not a range set")

// ParseRangeSet reads a set such as 1-7,34-38. The ranges may come in any order
// and overlap; spaces, signs, empty ranges and ranges that run backwards are
// refused with an error that wraps [ErrRangeSet].
func ParseRangeSet(text string) (RangeSet, error) {
	if strings.Count(text, ",") >= maxRanges {
		return RangeSet{}, fmt.Errorf("%w: it has more than %d ranges", ErrRangeSet, maxRanges)
	}
	var ranges []numberRange
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		low, lowKnown := parseNumber(first)
		high, highKnown := parseNumber(last)
		if !lowKnown || !highKnown || low > high {
			return RangeSet{}, fmt.Errorf("%w: %s is neither a number nor a range such as 3-7", ErrRangeSet, quoted(part))
		}
		ranges = append(ranges, numberRange{low, high})
	}
	return RangeSet{merged(ranges)}, nil
}

// parseNumber reads decimal digits alone.
func parseNumber(text string) (uint64, bool) {
	number, err := strconv.ParseUint(text, 10, 64) // takes no sign and, in base 10, no underscore
	return number, err == nil
}

// RangeSetOf returns the set of the numbers.
func RangeSetOf(numbers ...uint64) RangeSet {
	ranges := make([]numberRange, len(numbers))
	for i, number := range numbers {
		ranges[i] = numberRange{number, number}
	}
	return RangeSet{merged(ranges)}
}

// RangeSetOfIDs returns the ids that are numbers as a set, and the others in their
// order. An id with leading zeros is not a number: the set would not give it back.
func RangeSetOfIDs(ids iter.Seq[string]) (RangeSet, []string) {
	var ranges []numberRange
	var others []string
	for id := range ids {
		number, known := parseNumber(id)
		if !known || len(id) > 1 && id[0] == '0' {
			others = append(others, id)
			continue
		}
		ranges = append(ranges, numberRange{number, number})
	}
	return RangeSet{merged(ranges)}, others
}

// merged sorts ranges in place and joins those that overlap or touch.
func merged(ranges []numberRange) []numberRange {
	slices.SortFunc(ranges, func(a, b numberRange) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		default:
			return 0
		}
	})
	joined := ranges[:0]
	for _, next := range ranges {
		if len(joined) == 0 {
			joined = append(joined, next)
			continue
		}
		end := &joined[len(joined)-1]
		if end.last != math.MaxUint64 && next.first > end.last+1 {
			joined = append(joined, next)
			continue
		}
		end.last = max(end.last, next.last)
	}
	return slices.Clip(joined)
}

// String writes the set in its shortest form, ascending; the empty set is the
// empty text.
func (r RangeSet) String() string {
	var text []byte
	for i, each := range r.ranges {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendUint(text, each.first, 10)
		if each.last > each.first {
			text = append(text, '-')
			text = strconv.AppendUint(text, each.last, 10)
		}
	}
	return string(text)
}

// Contains reports whether number is in the set.
func (r RangeSet) Contains(number uint64) bool {
	_, found := slices.BinarySearchFunc(r.ranges, number, func(each numberRange, number uint64) int {
		switch {
		case each.last < number:
			return -1
		case each.first > number:
			return 1
		default:
			return 0
		}
	})
	return found
}

// Len returns how many numbers are in the set, and the greatest number there is for
// the set of all numbers.
func (r RangeSet) Len() uint64 {
	var length uint64
	for _, each := range r.ranges {
		size := each.last - each.first
		if size == math.MaxUint64 {
			return size
		}
		length += size + 1
	}
	return length
}

// Union returns the numbers that are in either set.
func (r RangeSet) Union(other RangeSet) RangeSet {
	return RangeSet{merged(slices.Concat(r.ranges, other.ranges))}
}

// All yields the numbers, ascending.
func (r RangeSet) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, each := range r.ranges {
			for number := each.first; ; number++ {
				if !yield(number) {
					return
				}
				if number == each.last {
					break
				}
			}
		}
	}
}
