package attribute

import "strings"

// A Reference is a text that is one reference such as ${ptp_rm:queue#value} and nothing
// else, taken apart for those who resolve it again and again.
type Reference struct {
	text, name string
	field      Field
}

// ParseReference takes a text apart. It reports false for every other text, also for
// one with references or @jobId within, and for a field that is not known.
func ParseReference(text string) (Reference, bool) {
	inside, begins := strings.CutPrefix(text, referenceStart+referencePrefix+":")
	inside, ends := strings.CutSuffix(inside, "}")
	if !begins || !ends || strings.ContainsAny(inside, "$}") || strings.Contains(inside, JobPlaceholder) {
		return Reference{}, false
	}
	parsed := Reference{text: text, field: FieldValue}
	var fieldName string
	if parsed.name, fieldName, _ = strings.Cut(inside, "#"); fieldName != "" {
		var known bool
		if parsed.field, known = ParseField(fieldName); !known {
			return Reference{}, false
		}
	}
	return parsed, true
}

// ResolveReference is [Environment.ResolveNoting] of the text of a reference.
func (e *Environment) ResolveReference(r Reference, job string, read func(*Attribute)) (string, error) {
	found := e.Lookup(r.name)
	if found == nil {
		return "", nil
	}
	text := found.Text(r.field)
	if strings.Contains(text, referenceStart) || len(text) > maxResolvedBytes {
		return e.ResolveNoting(r.text, job, read)
	}
	if read != nil {
		read(found)
	}
	return text, nil
}
