package tokenizer

import "github.com/rmctl/rmctl/javaregex"

// traceMiss tells that a match did not take a text, and how near it was, which
// is what authors of definitions need to know: the part of the text that the
// expression does match or, where there is none, how far it gets.
func (t *Tokenizer) traceMiss(target *target, m *match, text []byte) {
	miss := MissEvent{Target: target.config, Match: m.config, Text: text}
	found, ok, err := m.regex.regexp.Find(nil, text, 0)
	switch {
	case err != nil:
		t.options.Trace(WarningEvent{Position: m.regex.config.Position, Err: err})
	case ok && found[1] > found[0]:
		miss.Near, miss.Start, miss.End = true, found[0], found[1]
	default:
		miss.Leading, miss.LeadingEnd = t.leadingPart(m, text)
	}
	t.options.Trace(miss)
}

// leadingPart returns the longest beginning of an expression that matches at
// the begin of a text, and where that match ends; nothing if there is none.
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
			return "", 0 // an expression that took too long will again
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
// tells nothing, such as the .* that many expressions begin with.
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
