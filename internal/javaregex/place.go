package javaregex

// A place is what is known about where a node stands.
type place struct {
	first  bool // only ever at the start of the text
	last   bool // only ever at the end of the text, if the match succeeds
	follow int  // runes that still follow, at least
}

// places returns where the parts of a sequence stand. What stands behind a part
// decides whether it is last and what follows it.
func (s sequence) places(where place) []place {
	places := make([]place, len(s.parts))
	last, follow := where.last, where.follow
	for i := len(s.parts) - 1; i >= 0; i-- {
		places[i] = place{last: last, follow: follow}
		last = last && zeroWidth(s.parts[i])
		follow = min(follow+minLength(s.parts[i]), unlimited)
	}
	first := where.first
	for i, part := range s.parts {
		places[i].first = first
		first = first && zeroWidth(part)
	}
	return places
}

// inside returns where the body of a loop stands.
func (r repeat) inside(where place) place {
	if r.max <= 1 {
		return where
	}
	return place{follow: where.follow}
}

// holdsAt reports whether an assertion surely holds at a place.
func (k assertionKind) holdsAt(where place) bool {
	switch k {
	case textStart, previousMatchEnd:
		return where.first
	case textEnd, lastLineEnd, lastUnixLineEnd, lineEnd, unixLineEnd:
		return where.last // a whole match ends at the end of the text, where all of them hold
	case lineStart, unixLineStart:
		// Java has no start of a line at the end of the text, not even in an empty text.
		return where.first && where.follow > 0
	}
	return false
}
