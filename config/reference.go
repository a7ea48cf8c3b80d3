package config

import "strings"

const (
	referenceStart  = "${"
	referencePrefix = "ptp_rm"
)

// A reference is one ${PREFIX:NAME#FIELD} of a text.
type reference struct {
	offset   int    // of the ${ in the text
	written  string // as it stands there
	prefix   string // before the colon, empty without a colon
	name     string
	field    string
	hasField bool
	closed   bool
	nested   bool // holds another reference, so that what it names is known only when it is resolved
}

// nameOffset returns where in the text the name begins.
func (r reference) nameOffset() int {
	return r.offset + len(referenceStart) + len(r.prefix) + len(":")
}

// references finds the references of a text as resolving it would: inner ones
// before outer ones, each ending at the first brace after it. Of those that are
// not closed only such with our prefix count.
func references(text string) []reference {
	if !strings.Contains(text, referenceStart) {
		return nil
	}
	var found []reference
	var open []int
	nested := map[int]bool{}
	for at := 0; at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], referenceStart):
			for _, outer := range open {
				nested[outer] = true
			}
			open = append(open, at)
			at++
		case text[at] == '}' && len(open) > 0:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			found = append(found, parsed(text, start, at+1, nested[start]))
		}
		if len(open) > maxNestedReferences {
			return found
		}
	}
	for _, start := range open {
		if strings.HasPrefix(text[start:], referenceStart+referencePrefix) {
			found = append(found, reference{offset: start, written: text[start:], prefix: referencePrefix})
		}
	}
	return found
}

// maxNestedReferences bounds the work on texts that were not written to be read.
const maxNestedReferences = 100

func parsed(text string, start, end int, nested bool) reference {
	r := reference{offset: start, written: text[start:end], closed: true, nested: nested}
	inside := text[start+len(referenceStart) : end-1]
	prefix, argument, hasColon := strings.Cut(inside, ":")
	if !hasColon {
		return r
	}
	r.prefix = prefix
	r.name, r.field, r.hasField = strings.Cut(argument, "#")
	return r
}

// withoutReferences returns a text with nothing in the place of our references:
// what is left of it where no attribute has a value.
func withoutReferences(text string) string {
	var rest strings.Builder
	depth := 0
	for at := 0; at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], referenceStart+referencePrefix+":"):
			depth++
			at += len(referenceStart)
		case text[at] == '}' && depth > 0:
			depth--
		case depth == 0:
			rest.WriteByte(text[at])
		}
	}
	return rest.String()
}
