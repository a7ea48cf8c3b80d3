package tokenizer

import "github.com/rmctl/rmctl/internal/javaregex"

// Explain returns how near the match of a miss was, which is what authors of
// definitions need to know: the part of the text that the expression does match or,
// if it matches none of it, how far it gets; nothing if finding out takes too long.
// It takes more time than the match itself, and may be called only until the
// function that got the event returns.
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

// leadingPart returns the longest beginning of an expression that matches at
// the begin of a text, and where that match ends; "" if nothing matches.
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
		// The leftmost match is at the begin of the text if there is one there.
		found, ok, err := part.Find(nil, text, 0)
		if err != nil {
			return "", 0 // an expression that was given up will be again
		}
		if ok && found[0] == 0 && found[1] > 0 {
			return part.String(), found[1]
		}
	}
	return "", 0
}

// longestExplained bounds the expressions that are looked into, in bytes.
const longestExplained = 500

// compileLeadingParts returns those beginnings of an expression that are
// expressions themselves, the longest first. One that matches nothing as well
// is of no use, such as the .* that many expressions begin with.
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
