// Package reference finds references in the texts of definitions.
package reference

import "strings"

const (
	// Start begins a reference, and Prefix is the word before its colon.
	Start  = "${"
	Prefix = "ptp_rm"
)

// A Reference is one ${PREFIX:NAME#FIELD} of a text.
type Reference struct {
	Offset   int    // of the ${ in the text
	Written  string // as it stands there
	Prefix   string // before the colon, empty without a colon
	Name     string
	Field    string
	HasField bool
	Closed   bool
	Nested   bool // holds another reference, so that what it names is known only when it is resolved
}

// NameOffset returns where in the text the name begins.
func (r Reference) NameOffset() int {
	return r.Offset + len(Start) + len(r.Prefix) + len(":")
}

// Find finds the references of a text as resolving it would: inner ones
// before outer ones, each ending at the first brace after it. Of those that are
// not closed only such with our prefix count.
func Find(text string) []Reference {
	if !strings.Contains(text, Start) {
		return nil
	}
	var found []Reference
	var open []int
	nested := map[int]bool{}
	for at := 0; at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], Start):
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
		if strings.HasPrefix(text[start:], Start+Prefix) {
			found = append(found, Reference{Offset: start, Written: text[start:], Prefix: Prefix})
		}
	}
	return found
}

// maxNestedReferences bounds the work on texts that were not written to be read.
const maxNestedReferences = 100

func parsed(text string, start, end int, nested bool) Reference {
	r := Reference{Offset: start, Written: text[start:end], Closed: true, Nested: nested}
	inside := text[start+len(Start) : end-1]
	prefix, argument, hasColon := strings.Cut(inside, ":")
	if !hasColon {
		return r
	}
	r.Prefix = prefix
	r.Name, r.Field, r.HasField = strings.Cut(argument, "#")
	return r
}

// Replace returns a text with another one instead of each of our references that stands
// in no other.
func Replace(text, with string) string {
	var rest strings.Builder
	depth := 0
	for at := 0; at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], Start+Prefix+":"):
			if depth == 0 {
				rest.WriteString(with)
			}
			depth++
			at += len(Start)
		case text[at] == '}' && depth > 0:
			depth--
		case depth == 0:
			rest.WriteByte(text[at])
		}
	}
	return rest.String()
}
