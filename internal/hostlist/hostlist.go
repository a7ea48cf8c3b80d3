// Package hostlist parses node lists of schedulers: n[1-3,007-012],gpu1, rack[0-1]n[0-3],
// node1/0*4+node2/1, 4*hosta:hostb, or names separated by spaces.
package hostlist

import (
	"iter"
	"strconv"
	"strings"
)

// Each calls visit with the nodes in a list, possibly with repetitions. It stops when visit returns
// false, so the list may be of any size. It returns false if it was stopped or the list is invalid.
func Each(list string, visit func(string) bool) bool {
	for word := range words(list) {
		if strings.Count(word, "[") > maxBrackets || !expand("", word, visit) {
			return false
		}
	}
	return true
}

// words yields the names and patterns of a list of nodes.
func words(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		depth, begin := 0, 0
		for i := 0; i <= len(list); i++ {
			if i < len(list) {
				switch char := list[i]; {
				case char == '[':
					depth++
					continue
				case char == ']':
					depth--
					continue
				case depth > 0 || !strings.ContainsRune(",+: ;\t", rune(char)):
					continue
				}
			}
			name := word(list[begin:i])
			if name != "" && !yield(name) {
				return
			}
			begin, depth = i+1, 0
		}
	}
}

// word returns the name in one word of a list, without the number of slots before it, as in 4*name, or
// after it, as in name/0*4.
func word(text string) string {
	text, _, _ = strings.Cut(text, "/")
	if count, name, counted := strings.Cut(text, "*"); counted {
		if _, err := strconv.Atoi(count); err == nil {
			return name
		}
		return count
	}
	return text
}

// Limits of a node name and its pattern: above all real ones, but low enough that hostile patterns are
// cheap.
const (
	maxDigits   = 18 // of a number of a range, leading zeros included
	maxHostName = 255
	maxBrackets = 8
)

// expand calls visit with the names that match a pattern, each after prefix. It returns false if visit
// does or the pattern is invalid. A hostile pattern must not take long without yielding a name.
func expand(prefix, pattern string, visit func(string) bool) bool {
	before, rest, bracketed := strings.Cut(pattern, "[")
	prefix += before
	if len(prefix) > maxHostName {
		return false
	}
	if !bracketed {
		return visit(prefix)
	}
	numbers, rest, closed := strings.Cut(rest, "]")
	if !closed {
		return false
	}
	for part := range strings.SplitSeq(numbers, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			if !expand(prefix+part, rest, visit) {
				return false
			}
			continue
		}
		first, errFirst := strconv.ParseUint(low, 10, 63)
		last, errLast := strconv.ParseUint(high, 10, 63)
		if errFirst != nil || errLast != nil || first > last || max(len(low), len(high)) > maxDigits {
			return false
		}
		for number := first; number <= last; number++ {
			digits := strconv.FormatUint(number, 10)
			if missing := len(low) - len(digits); missing > 0 {
				digits = strings.Repeat("0", missing) + digits
			}
			if !expand(prefix+digits, rest, visit) {
				return false
			}
		}
	}
	return true
}

// mostSteps bounds the comparisons with one list of nodes: above what real lists need, but low enough
// that hostile lists are cheap.
const mostSteps = 1 << 14

// Names reports whether Each would visit a node, which may include its domain, without expanding the
// list.
func Names(list, node string, isNode func(string) bool) bool {
	left := mostSteps
	for word := range words(list) {
		if strings.Count(word, "[") > maxBrackets {
			return false
		}
		if stands(word, node, &left) {
			return true
		}
		if short, domain, isLong := strings.Cut(word, "."); isLong && stands(short, node, &left) && !isNode(node+"."+domain) {
			return true
		}
	}
	return false
}

// stands reports whether a pattern matches a name within the remaining steps.
func stands(pattern, name string, left *int) bool {
	before, rest, bracketed := strings.Cut(pattern, "[")
	name, begins := strings.CutPrefix(name, before)
	if *left--; *left < 0 || !begins || !bracketed {
		return begins && name == "" && *left >= 0
	}
	numbers, rest, closed := strings.Cut(rest, "]")
	if !closed {
		return false
	}
	for part := range strings.SplitSeq(numbers, ",") {
		if *left--; *left < 0 {
			return false
		}
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			if after, begins := strings.CutPrefix(name, part); begins && stands(rest, after, left) {
				return true
			}
			continue
		}
		for digits := len(low); digits <= min(max(len(low), len(high)), len(name), maxDigits); digits++ {
			if inRange(name[:digits], low, high) && stands(rest, name[digits:], left) {
				return true
			}
		}
	}
	return false
}

// inRange reports whether a range contains a number in this spelling: padded with zeros to the width of
// the first number, but not further.
func inRange(digits, low, high string) bool {
	first, errFirst := strconv.ParseUint(low, 10, 63)
	last, errLast := strconv.ParseUint(high, 10, 63)
	number, err := strconv.ParseUint(digits, 10, 63)
	isPlain := len(digits) == len(low) || digits[0] != '0'
	return errFirst == nil && errLast == nil && err == nil && isPlain && first <= number && number <= last
}
