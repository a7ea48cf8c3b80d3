package monitor

import (
	"iter"
	"strconv"
	"strings"
)

// eachHost calls visit with the nodes that a job's list of nodes names, as
// schedulers write these: n[1-3,007-012],gpu1, rack[0-1]n[0-3], node1/0*4+node2/1,
// 4*hosta:hostb, or names with spaces between. A name may come more than once. It
// ends when visit returns false, so the list may stand for any number of nodes.
func eachHost(list string, visit func(string) bool) {
	for word := range hostWords(list) {
		if !expand("", word, visit) {
			return
		}
	}
}

// hostWords yields the names and patterns of a list of nodes, up to one that has
// too many brackets.
func hostWords(list string) iter.Seq[string] {
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
			word := hostWord(list[begin:i])
			if strings.Count(word, "[") > maxBrackets || word != "" && !yield(word) {
				return
			}
			begin, depth = i+1, 0
		}
	}
}

// hostWord returns the name in one word of a list, without how many slots of the
// node there are: before it, as 4*name, or behind it, as name/0*4.
func hostWord(word string) string {
	word, _, _ = strings.Cut(word, "/")
	if count, name, counted := strings.Cut(word, "*"); counted {
		if _, err := strconv.Atoi(count); err == nil {
			return name
		}
		return count
	}
	return word
}

// What a name of a node and its pattern may have: far more than real ones, and so
// little that hostile ones cost no more than the names that they stand for.
const (
	maxDigits   = 18 // of a number of a range, leading zeros included
	maxHostName = 255
	maxBrackets = 8
)

// expand calls visit with the names that a pattern stands for, each behind prefix.
// It reports false once visit wants no more, and of a pattern that is none: a
// hostile one must not count for long without a name to show.
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
