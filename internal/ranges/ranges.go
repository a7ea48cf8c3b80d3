// Package ranges parses and combines ranges of task numbers.
package ranges

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/sorting"
)

// A Range is a range of the numbers of tasks, both ends included.
type Range struct{ First, Last int }

// A Set is the numbers of tasks, as ranges in order and without overlap.
type Set []Range

// mostRanges bounds the ranges in a text, above the usual limits of schedulers for one job. A range with
// a step counts once for each number.
const mostRanges = 1 << 20

// mostTasks bounds the number of a task. Schedulers allow a few million.
const mostTasks = 1 << 30

// Parse reads numbers and ranges as schedulers write them: 3, 1-12:2, [3,6-9%1].
// It reports false for every other text.
func Parse(text string) (Set, bool) {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "["), "]")
	text, _, _ = strings.Cut(text, "%") // limit of concurrent tasks
	if text == "" {
		return nil, false
	}
	var found Set
	for part := range strings.SplitSeq(text, ",") {
		whole, step, isRange := parseRange(strings.TrimSpace(part))
		if !isRange {
			return nil, false
		}
		if step == 1 {
			found = append(found, whole)
			continue
		}
		if (whole.Last-whole.First)/step > mostRanges {
			return nil, false
		}
		for number := whole.First; number <= whole.Last; number += step {
			found = append(found, Range{number, number})
		}
		if len(found) > mostRanges {
			return nil, false
		}
	}
	return found.Merged(), true
}

// ParseCount reads a number of tasks: a number, or the ranges of all tasks.
func ParseCount(text string) (count int, isCount bool) {
	text = strings.TrimSpace(text)
	all, isCount := Parse(text)
	if len(all) == 1 && strings.Trim(text, "0123456789") == "" {
		return all[0].First, true
	}
	return all.Count(), isCount
}

// parseRange reads a number, FIRST-LAST or FIRST-LAST:STEP.
func parseRange(text string) (whole Range, step int, isRange bool) {
	bounds, stepText, hasStep := strings.Cut(text, ":")
	first, last, isSpan := strings.Cut(bounds, "-")
	if !isSpan {
		last = first
	}
	whole.First, isRange = taskNumber(first)
	lastNumber, isNumber := taskNumber(last)
	whole.Last, step = lastNumber, 1
	isRange = isRange && isNumber && whole.First <= whole.Last
	if hasStep {
		step, isNumber = taskNumber(stepText)
		isRange = isRange && isNumber && step > 0
	}
	return whole, step, isRange
}

func taskNumber(text string) (int, bool) {
	number, err := strconv.ParseUint(text, 10, 31)
	return int(number), err == nil && number <= mostTasks
}

// Count returns how many numbers there are.
func (r Set) Count() int {
	count := 0
	for _, each := range r {
		count += each.Last - each.First + 1
	}
	return count
}

// String writes the ranges as Parse reads them.
func (r Set) String() string {
	parts := make([]string, len(r))
	for i, each := range r {
		parts[i] = strconv.Itoa(each.First)
		if each.Last > each.First {
			parts[i] += "-" + strconv.Itoa(each.Last)
		}
	}
	return strings.Join(parts, ",")
}

// Union returns the numbers of both.
func (r Set) Union(other Set) Set {
	if len(other) == 0 {
		return r
	}
	return append(slices.Clone(r), other...).Merged()
}

// Without returns the numbers that are not in other.
func (r Set) Without(other Set) Set {
	var left Set
	for _, each := range r {
		next := each.First
		at, _ := slices.BinarySearchFunc(other, each.First, func(taken Range, first int) int { return cmp.Compare(taken.Last, first) })
		for ; at < len(other) && other[at].First <= each.Last; at++ {
			if other[at].First > next {
				left = append(left, Range{next, other[at].First - 1})
			}
			next = other[at].Last + 1
		}
		if next <= each.Last {
			left = append(left, Range{next, each.Last})
		}
	}
	return left
}

// Merged returns the sorted ranges and joins adjacent ones.
func (r Set) Merged() Set {
	sorting.Stable(r, func(a, b Range) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last)) })
	merged := r[:0]
	for _, each := range r {
		if last := len(merged) - 1; last >= 0 && each.First <= merged[last].Last+1 {
			merged[last].Last = max(merged[last].Last, each.Last)
			continue
		}
		merged = append(merged, each)
	}
	return merged
}

// Count counts the numbers in numbers and ranges, such as 0-3 and 5. It returns the first invalid text,
// if any, instead of a total.
func Count(texts []string) (total, odd string) {
	count := 0
	for _, text := range texts {
		numbers, isRanges := Parse(text)
		if !isRanges {
			return "", text
		}
		count += numbers.Count()
	}
	return strconv.Itoa(count), ""
}
