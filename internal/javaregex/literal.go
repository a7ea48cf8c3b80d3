package javaregex

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// requiredLiterals are texts that occur in every match, in order. Searching for them is much cheaper than
// running an engine, and most lines do not contain them.
type requiredLiterals [][]byte

// maxRequiredLiterals bounds the effort; usually the first literals decide.
const maxRequiredLiterals = 4

// literals are the texts known to occur in every match.
type literals struct {
	required requiredLiterals
	prefix   []byte // what every whole match begins with
	only     []byte // all that the expression matches, as the separator of many listings does; nil where it matches more
}

// findLiterals returns the literals that are easily seen. Single characters say
// little: they are left out beside longer ones, and one of them is enough.
func findLiterals(root node) literals {
	search := literalSearch{leading: true, exact: true}
	search.visit(root)
	search.end()
	found := literals{prefix: search.prefix}
	if search.exact {
		found.only = search.prefix
	}
	isShort := func(literal []byte) bool { return utf8.RuneCount(literal) < 2 }
	most := 1
	if slices.ContainsFunc(search.found, func(literal []byte) bool { return !isShort(literal) }) {
		search.found = slices.DeleteFunc(search.found, isShort)
		most = maxRequiredLiterals
	}
	found.required = search.found[:min(len(search.found), most)]
	return found
}

// RequiredLiterals returns texts that occur, in order, in every match of the expression, or none if they
// are hard to find. A text without them cannot match.
func (r *Regexp) RequiredLiterals() []string {
	texts := make([]string, 0, len(r.whole.required))
	for _, literal := range r.whole.required {
		texts = append(texts, string(literal))
	}
	return texts
}

// in reports whether the text contains all literals in order.
func (l requiredLiterals) in(text []byte) bool {
	for _, literal := range l {
		at := bytes.Index(text, literal)
		if at < 0 {
			return false
		}
		text = text[at+len(literal):]
	}
	return true
}

type literalSearch struct {
	run     []byte // literal that ends where the search is
	leading bool   // at the start of the expression
	exact   bool   // only literals so far
	prefix  []byte
	found   requiredLiterals
}

// end closes the run: what follows does not directly follow it in every match.
func (s *literalSearch) end() {
	if s.leading {
		s.prefix, s.leading = s.run, false
	}
	if len(s.run) > 0 {
		s.found = append(s.found, s.run)
	}
	s.run = nil
}

func (s *literalSearch) visit(part node) {
	switch part := part.(type) {
	case one:
		// The replacement character also matches bytes that are not UTF-8.
		if r, single := part.set.only(); single && r != utf8.RuneError {
			s.run = utf8.AppendRune(s.run, r)
			return
		}
		s.exact = false
		s.end()
	case sequence:
		for _, element := range part.parts {
			s.visit(element)
		}
	case group:
		s.visit(part.body)
	case assertion, look:
		s.exact = false // they match nothing, so what is around them stays together
	case repeat:
		s.exact = false
		s.end()
		if part.min > 0 {
			s.visit(part.body)
			s.end()
		}
	default:
		s.exact = false
		s.end()
	}
}
