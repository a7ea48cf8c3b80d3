package tokenizer

import "github.com/rmctl/rmctl/internal/javaregex"

// Explain returns how near a miss was, to help authors of definitions: the part of the text that the
// expression matches or else how far it gets, or nothing if that takes too long to find out. It is slower
// than the match itself. Call it only before the function that received the event returns.
func (e TraceEvent) Explain() nearness {
	if e.match == nil {
		return nearness{}
	}
	found, ok, err := e.match.regex.regexp.Find(nil, e.Text, 0)
	switch {
	case err != nil:
		return nearness{}
	case ok && found[1] > found[0]:
		return nearness{Near: true, Start: found[0], End: found[1]}
	}
	part, end := e.tokenizer.leadingPart(e.match, e.Text)
	return nearness{Leading: part, LeadingEnd: end}
}

// leadingPart returns the longest prefix of an expression that matches at the beginning of a text, and
// the end of that match; "" if nothing matches.
func (t *Tokenizer) leadingPart(m *match, text []byte) (part string, end int) {
	parts, known := t.leadingParts[m]
	if !known {
		parts = compileLeadingParts(m.regex.regexp)
		if t.leadingParts == nil {
			t.leadingParts = map[*match][]*javaregex.Regexp{}
		}
		t.leadingParts[m] = parts
	}
	for _, part := range parts {
		// The leftmost match is at the beginning of the text if any is.
		found, ok, err := part.Find(nil, text, 0)
		if err != nil {
			return "", 0 // the next prefix would be given up as well
		}
		if ok && found[0] == 0 && found[1] > 0 {
			return part.String(), found[1]
		}
	}
	return "", 0
}

// longestExplained bounds the expressions that Explain analyses, in bytes.
const longestExplained = 500

// compileLeadingParts returns the prefixes of an expression that are valid expressions, longest first. It
// skips those that match the empty text, such as .*, since they explain nothing.
func compileLeadingParts(whole *javaregex.Regexp) []*javaregex.Regexp {
	text := whole.String()
	var parts []*javaregex.Regexp
	for end := min(len(text), longestExplained+1) - 1; end > 0; end-- {
		part, err := javaregex.Compile(text[:end], whole.Flags())
		if err != nil {
			continue
		}
		if _, matchesNothing, err := part.Match(nil, nil); err == nil && !matchesNothing {
			parts = append(parts, part)
		}
	}
	return parts
}
