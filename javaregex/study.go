package javaregex

import "slices"

// A study is what Java finds out about the parts of a lookbehind before it
// accepts it. Lengths wrap around like Java's 32-bit integers: whether a*b or
// ba*? is refused depends on it.
type study struct {
	maxLength     int32
	maxValid      bool
	deterministic bool
	earlier       int32 // length of what stands before the last alternation
	earlierValid  bool
	alternated    bool
}

func newStudy() study {
	return study{maxValid: true, deterministic: true, earlierValid: true}
}

// closed adds what stands before the alternations.
func (s study) closed() study {
	result := newStudy()
	result.maxLength = s.maxLength + s.earlier
	result.maxValid = s.maxValid && s.earlierValid
	result.deterministic = s.deterministic && !s.alternated
	return result
}

// studyLookbehind reports whether Java accepts the body of a lookbehind.
func studyLookbehind(body node) bool {
	info := newStudy()
	info.visit(body)
	return info.closed().maxValid
}

func studied(part node) study {
	info := newStudy()
	info.visit(part)
	return info.closed()
}

func (s *study) visit(part node) {
	switch part := part.(type) {
	case one:
		s.maxLength++
	case lineBreak:
		s.maxLength += 2
	case cluster:
		s.deterministic = false // Java counts no characters for it
	case backreference:
		s.maxValid = false
	case sequence:
		for _, element := range part.parts {
			s.visit(element)
		}
	case alternation:
		s.branch(part.branches)
	case group:
		if part.atomic {
			s.apart(part.body)
		} else {
			s.visit(part.body)
		}
	case repeat:
		s.loop(part)
	}
}

// apart visits what Java studies as a chain of its own, so that alternations
// in it do not hide the length of what stands before them.
func (s *study) apart(part node) {
	outer := *s
	s.earlier, s.earlierValid, s.alternated = 0, true, false
	s.visit(part)
	*s = s.closed()
	s.earlier, s.earlierValid, s.alternated = outer.earlier, outer.earlierValid, outer.alternated
}

func (s *study) branch(branches []node) {
	longest, valid := int32(-1), s.maxValid
	for _, branch := range branches {
		info := studied(branch)
		longest = max(longest, info.maxLength)
		valid = valid && info.maxValid
	}
	s.earlier += s.maxLength + longest
	s.earlierValid = s.earlierValid && valid
	s.maxLength, s.maxValid, s.deterministic = 0, true, true
	s.alternated = true
}

func (s *study) loop(loop repeat) {
	body, isGroup := loop.body.(group)
	if isGroup && body.atomic {
		isGroup = false // Java treats it like a single construct
	}
	_, isOne := loop.body.(one)
	switch {
	case isOptional(loop) && isGroup && loop.mode != possessive:
		s.branch([]node{body, sequence{}})
	case isOptional(loop):
		s.apart(loop.body)
		s.deterministic = false
	case isOne && loop.mode == greedy && loop.max == unlimited:
		s.maxLength = wrappingSum(s.maxLength, unlimited)
		s.deterministic = false
	case isGroup && loop.mode != possessive && !studied(body).deterministic:
		s.maxValid, s.deterministic = false, false
	default:
		s.counted(loop)
	}
}

// isOptional tells ? from {0,1}: Java studies them differently.
func isOptional(loop repeat) bool { return loop.min == 0 && loop.max == 1 && !loop.counted }

func (s *study) counted(loop repeat) {
	info := studied(loop.body)
	before := s.maxLength
	s.maxLength = wrappingSum(int32(int64(info.maxLength)*int64(loop.max)), int64(before))
	s.maxValid = s.maxValid && info.maxValid && s.maxLength >= before
	s.deterministic = s.deterministic && info.deterministic && loop.min == loop.max
}

func wrappingSum(a int32, b int64) int32 { return int32(int64(a) + b) }

// minLength returns the least number of runes that a node matches.
func minLength(part node) int {
	switch part := part.(type) {
	case one, lineBreak, cluster:
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

func isCluster(part node) bool {
	_, is := part.(cluster)
	return is
}

func isPreviousMatchEnd(part node) bool {
	place, isAssertion := part.(assertion)
	return isAssertion && place.kind == previousMatchEnd
}
