package javaregex

import "strings"

// requiredLiteral returns the longest text, as far as it is easily seen, that
// is in every match.
func requiredLiteral(root node) string {
	var search literalSearch
	search.visit(root)
	search.end()
	return search.longest
}

type literalSearch struct {
	run     strings.Builder // literal that ends where the search is
	longest string
}

// end closes the run: what follows does not directly follow it in every match.
func (s *literalSearch) end() {
	if s.run.Len() > len(s.longest) {
		s.longest = s.run.String()
	}
	s.run.Reset()
}

func (s *literalSearch) visit(part node) {
	switch part := part.(type) {
	case one:
		// The replacement character also matches bytes that are not UTF-8.
		if r, single := part.set.only(); single && r != '\uFFFD' {
			s.run.WriteRune(r)
			return
		}
		s.end()
	case sequence:
		for _, element := range part.parts {
			s.visit(element)
		}
	case group:
		s.visit(part.body)
	case assertion, look:
		// They match nothing, so what is around them stays together.
	case repeat:
		if part.min == 1 && part.max == 1 {
			s.visit(part.body)
			return
		}
		s.end()
		if part.min > 0 {
			s.visit(part.body)
			s.end()
		}
	default:
		s.end()
	}
}
