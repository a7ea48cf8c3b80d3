package proxy

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// mostIDs bounds how many elements the ids of one update stand for.
const mostIDs = 1_000_000

// IDs are ids of elements: a set of numbers, written as ranges such as 1-7,34, or one id that
// is another text. The zero value is empty.
type IDs struct {
	text  string  // an id that is not a number
	first numbers // the first range of a set
	more  []numbers
	count int
}

// numbers are those from low to high, both included.
type numbers struct{ low, high uint64 }

// ParseIDs parses an argument that names elements. Ranges that end before they begin have no
// elements. More than 1,000,000 elements are a [*FrameError] that ends the session.
func ParseIDs(text string) (IDs, error) {
	budget := mostIDs
	ids, broken := parseIDs(text, &budget)
	if broken != nil {
		return IDs{}, broken
	}
	return ids, nil
}

// parseIDs takes what the ids stand for off a budget, which they must not exceed. It counts
// before it allocates.
func parseIDs(text string, budget *int) (IDs, *FrameError) {
	if number, isNumber := parseNumber(text); isNumber {
		*budget--
		return IDs{first: numbers{number, number}, count: 1}, within(*budget)
	}
	ranges := strings.Count(text, ",") + 1
	if ranges > *budget {
		return IDs{}, within(-1)
	}
	if text == "" {
		return IDs{}, nil
	}
	parsed := make([]numbers, 0, ranges)
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := parseRange(part)
		if !isRange {
			*budget--
			return IDs{text: text, count: 1}, within(*budget)
		}
		if low <= high {
			parsed = append(parsed, numbers{low, high})
		}
	}
	ids := setOf(parsed)
	*budget -= max(ids.count, ranges)
	return ids, within(*budget)
}

// within returns the error of an exceeded budget.
func within(budget int) *FrameError {
	if budget >= 0 {
		return nil
	}
	return &FrameError{Reason: "ids of more than 1,000,000 elements", Ends: true}
}

// parseRange parses low-high or one number.
func parseRange(text string) (low, high uint64, isRange bool) {
	from, to, isPair := strings.Cut(text, "-")
	low, isLow := parseNumber(from)
	if !isPair {
		return low, low, isLow
	}
	high, isHigh := parseNumber(to)
	return low, high, isLow && isHigh
}

// parseNumber parses decimal digits without a sign.
func parseNumber(text string) (uint64, bool) {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	number, err := strconv.ParseUint(text, 10, 64)
	return number, err == nil
}

// setOf sorts ranges and merges those that touch.
func setOf(ranges []numbers) IDs {
	if len(ranges) == 0 {
		return IDs{}
	}
	slices.SortFunc(ranges, func(a, b numbers) int { return cmp.Compare(a.low, b.low) })
	merged := ranges[:1]
	for _, next := range ranges[1:] {
		last := &merged[len(merged)-1]
		if next.low <= last.high || next.low == last.high+1 {
			last.high = max(last.high, next.high)
		} else {
			merged = append(merged, next)
		}
	}
	ids := IDs{first: merged[0]}
	if len(merged) > 1 {
		ids.more = slices.Clone(merged[1:])
	}
	for _, each := range merged {
		ids.count = saturated(ids.count, each)
	}
	return ids
}

// saturated adds the elements of a range to a count, which stays small enough not to overflow.
func saturated(count int, each numbers) int {
	if elements := each.high - each.low; elements < mostIDs {
		return min(count+int(elements)+1, 2*mostIDs)
	}
	return 2 * mostIDs
}

// IDsOf returns the set of numbers.
func IDsOf(numbered ...uint64) IDs {
	ranges := make([]numbers, len(numbered))
	for i, number := range numbered {
		ranges[i] = numbers{number, number}
	}
	return setOf(ranges)
}

// Len returns the number of elements.
func (i IDs) Len() int { return i.count }

// All yields the id of each element, numbers in ascending order.
func (i IDs) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		if i.text != "" {
			yield(i.text)
			return
		}
		if i.count == 0 || !i.first.yield(yield) {
			return
		}
		for _, each := range i.more {
			if !each.yield(yield) {
				return
			}
		}
	}
}

// yield yields the numbers and reports whether the loop goes on.
func (n numbers) yield(yield func(string) bool) bool {
	for number := n.low; ; number++ {
		if !yield(strconv.FormatUint(number, 10)) {
			return false
		}
		if number == n.high {
			return true
		}
	}
}

// String returns the argument that names the elements: ascending ranges that do not touch, or the text.
func (i IDs) String() string {
	if i.text != "" || i.count == 0 {
		return i.text
	}
	if i.more == nil && i.first.low == i.first.high {
		return strconv.FormatUint(i.first.low, 10)
	}
	text := i.first.append(nil)
	for _, each := range i.more {
		text = each.append(append(text, ','))
	}
	return string(text)
}

func (n numbers) append(to []byte) []byte {
	to = strconv.AppendUint(to, n.low, 10)
	if n.high > n.low {
		to = strconv.AppendUint(append(to, '-'), n.high, 10)
	}
	return to
}
