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

// maxBehind bounds the counts in a lookbehind, far below where Java's overflow.
const maxBehind = 1000

// unsupportedBehind names the construct for which a lookbehind is refused, if any.
// What remains has a length that Java, too, finds to be bounded; which other loops
// Java takes depends on how it counts, overflows included.
func unsupportedBehind(body node) string {
	construct := ""
	holds(body, func(part node) bool {
		switch part := part.(type) {
		case backreference:
			construct = "a backreference"
		case repeat:
			_, isOne := part.body.(one)
			switch {
			case part.max == unlimited:
				construct = "a repetition without an upper bound"
			case part.max > maxBehind:
				construct = fmt.Sprintf("a repetition of more than %d", maxBehind)
			case part.counted && !isOne:
				construct = "a count behind more than one character"
			}
		}
		return construct != ""
	})
	return construct
}

// zeroWidth reports whether a node never matches any rune.
func zeroWidth(part node) bool {
	switch part := part.(type) {
	case assertion, look:
		return true
	case sequence:
		for _, element := range part.parts {
			if !zeroWidth(element) {
				return false
			}
		}
		return true
	case alternation:
		for _, branch := range part.branches {
			if !zeroWidth(branch) {
				return false
			}
		}
		return true
	case group:
		return zeroWidth(part.body)
	case repeat:
		return part.max == 0 || zeroWidth(part.body)
	}
	return false
}

// holds reports whether the node or any within it satisfies the condition.
func holds(part node, condition func(node) bool) bool {
	if condition(part) {
		return true
	}
	within := func(inner node) bool { return holds(inner, condition) }
	switch part := part.(type) {
	case group:
		return within(part.body)
	case look:
		return within(part.body)
	case repeat:
		return within(part.body)
	case sequence:
		return slices.ContainsFunc(part.parts, within)
	case alternation:
		return slices.ContainsFunc(part.branches, within)
	}
	return false
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

func isPreviousMatchEnd(part node) bool {
	place, isAssertion := part.(assertion)
	return isAssertion && place.kind == previousMatchEnd
}
