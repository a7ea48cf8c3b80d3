package attribute

import "strings"

// resolveWhole resolves a text that is one reference such as ${ptp_rm:queue#value} and
// nothing else, which most are, in one step. It reports false for every other text, for
// one with references within, and where the value needs another pass.
func (e *Environment) resolveWhole(text string, read func(*Attribute)) (resolved string, done bool) {
	inside, begins := strings.CutPrefix(text, referenceStart+referencePrefix+":")
	inside, ends := strings.CutSuffix(inside, "}")
	if !begins || !ends || strings.ContainsAny(inside, "$}") {
		return "", false
	}
	name, fieldName, _ := strings.Cut(inside, "#")
	field := FieldValue
	if fieldName != "" {
		var known bool
		if field, known = ParseField(fieldName); !known {
			return "", false
		}
	}
	found := e.Lookup(name)
	if found == nil {
		return "", true
	}
	resolved = found.Text(field)
	if strings.Contains(resolved, referenceStart) || len(resolved) > maxResolvedBytes {
		return "", false
	}
	if read != nil {
		read(found)
	}
	return resolved, true
}
