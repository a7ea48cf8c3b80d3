package javaregex

import (
	"fmt"
	"slices"
)

// minLength returns the least number of runes that a node matches.
func minLength(part node) int {
	switch part := part.(type) {
	case one, lineBreak:
		return 1
	case sequence:
		total := 0
		for _, element := range part.parts {
			total = min(total+minLength(element), unlimited)
		}
		return total
	case alternation:
		least := unlimited
		for _, branch := range part.branches {
			least = min(least, minLength(branch))
		}
		return least
	case group:
		return minLength(part.body)
	case repeat:
		return min(minLength(part.body)*part.min, unlimited)
	}
	return 0
}

// maxLength returns the largest number of runes that a node matches.
func maxLength(part node) int {
	switch part := part.(type) {
	case one:
		return 1
	case lineBreak:
		return 2
	case backreference:
		return unlimited
	case look:
		return 0
	case alternation:
		most := 0
		for _, branch := range part.branches {
			most = max(most, maxLength(branch))
		}
		return most
	case repeat:
		return min(maxLength(part.body)*part.max, unlimited)
	}
	total := 0
	for _, inner := range children(part) {
		total = min(total+maxLength(inner), unlimited)
	}
	return total
}

// maxBehind bounds the counts in a lookbehind, far below where Java's overflow.
const maxBehind = 1000

// unsupportedBehind names the construct for which a lookbehind is refused, if any.
// What remains has a length that Java, too, finds to be bounded; which other loops
// Java takes depends on how it counts, overflows included.
func unsupportedBehind(part node) string {
	switch part := part.(type) {
	case look:
		return "" // it has no length; one that looks behind was checked by itself
	case backreference:
		return "a backreference"
	case repeat:
		_, isOne := part.body.(one)
		switch {
		case part.max == unlimited:
			return "a repetition without an upper bound"
		case part.max > maxBehind:
			return fmt.Sprintf("a repetition of more than %d", maxBehind)
		case part.counted && !isOne:
			return "a count behind more than one character"
		}
	}
	for _, inner := range children(part) {
		if construct := unsupportedBehind(inner); construct != "" {
			return construct
		}
	}
	return ""
}

// zeroWidth reports whether a node never matches any rune.
func zeroWidth(part node) bool {
	switch part := part.(type) {
	case assertion, look:
		return true
	case repeat:
		return part.max == 0 || zeroWidth(part.body)
	case sequence, alternation, group:
		return !slices.ContainsFunc(children(part), func(inner node) bool { return !zeroWidth(inner) })
	}
	return false
}

// holds reports whether the node or any within it satisfies the condition.
func holds(part node, condition func(node) bool) bool {
	if condition(part) {
		return true
	}
	return slices.ContainsFunc(children(part), func(inner node) bool { return holds(inner, condition) })
}

// children returns the nodes directly within a node.
func children(part node) []node {
	switch part := part.(type) {
	case group:
		return []node{part.body}
	case look:
		return []node{part.body}
	case repeat:
		return []node{part.body}
	case sequence:
		return part.parts
	case alternation:
		return part.branches
	}
	return nil
}

func isCapture(part node) bool {
	captured, isGroup := part.(group)
	return isGroup && captured.capture > 0
}

// isChoice finds what may prefer the empty text over a longer one.
func isChoice(part node) bool {
	if loop, isLoop := part.(repeat); isLoop {
		return loop.mode == lazy
	}
	_, isAlternation := part.(alternation)
	return isAlternation
}
