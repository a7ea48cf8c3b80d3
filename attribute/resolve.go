package attribute

import (
	"errors"
	"fmt"
	"strings"
)

// JobPlaceholder stands for the id of the current job in definitions.
const JobPlaceholder = "@jobId"

const (
	referenceStart  = "${"
	referencePrefix = "ptp_rm"

	// A value may hold references whose values hold references, and so on;
	// hostile ones could go on for ever or grow beyond memory.
	maxResolvePasses = 100
	maxResolvedBytes = 16 << 20
)

func errTooLong() error { return fmt.Errorf("the result is longer than %d bytes", maxResolvedBytes) }

// Resolve replaces every occurrence of @jobId by job (unless job is empty) and
// then every reference ${ptp_rm:NAME#FIELD} by the text of that field, again
// and again until nothing changes, so that values may hold references
// themselves. Inner references are resolved before outer ones. A reference to
// an attribute that does not exist is empty; one without a field means the
// value; ${...} of any other kind, such as a shell variable, stays as it is.
//
// An unknown field, more than one field, and references that lead back to
// themselves give an error together with the text unchanged but for
// @jobId, which is what the reference implementation goes on with.
func (e *Environment) Resolve(text, job string) (string, error) {
	return e.ResolveNoting(text, job, nil)
}

// ResolveNoting is like Resolve and calls a function, which may be nil, with each
// attribute that it reads, in order.
func (e *Environment) ResolveNoting(text, job string, read func(*Attribute)) (string, error) {
	if job != "" && strings.Contains(text, JobPlaceholder) {
		text = strings.ReplaceAll(text, JobPlaceholder, job)
	}
	if !strings.Contains(text, referenceStart) {
		return text, nil
	}
	if resolved, done := e.resolveWhole(text, read); done {
		return resolved, nil
	}
	resolved, err := e.resolveAgain(text, read)
	if err != nil {
		return text, fmt.Errorf("resolving %q: %w", abbreviate(text), err)
	}
	return resolved, nil
}

// resolveAgain makes passes over a text until nothing changes.
func (e *Environment) resolveAgain(original string, read func(*Attribute)) (string, error) {
	text := original
	for range maxResolvePasses {
		next, changed, err := e.resolveOnce(text, read)
		if err != nil {
			return "", err
		}
		if !changed {
			return next, nil
		}
		if next == original {
			break
		}
		if len(next) > maxResolvedBytes {
			return "", errTooLong()
		}
		text = next
	}
	return "", errors.New("its references form a loop")
}

// resolveOnce makes one pass over text. Each reference whose end is found is
// handled once; innermost references end first and become part of the text of
// the one around them.
func (e *Environment) resolveOnce(text string, read func(*Attribute)) (string, bool, error) {
	resolved := make([]byte, 0, len(text))
	var open []int // where in resolved the references begin that have not ended, outermost first
	changed := false
	for {
		at := strings.IndexAny(text, "$}")
		if at < 0 {
			return string(append(resolved, text...)), changed, nil
		}
		resolved = append(resolved, text[:at]...)
		text = text[at:]
		switch {
		case strings.HasPrefix(text, referenceStart):
			open = append(open, len(resolved))
			resolved = append(resolved, referenceStart...)
			text = text[len(referenceStart):]
			continue
		case text[0] == '}' && len(open) > 0:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			replacement, replaced, err := e.reference(string(resolved[start+len(referenceStart):]), read)
			if err != nil {
				return "", false, err
			}
			if start+len(replacement) > maxResolvedBytes {
				return "", false, errTooLong()
			}
			changed = changed || replaced
			resolved = append(resolved[:start], replacement...)
		default:
			resolved = append(resolved, text[0])
		}
		text = text[1:]
	}
}

// reference returns the text for the inside of one ${...}.
func (e *Environment) reference(inside string, read func(*Attribute)) (text string, replaced bool, err error) {
	prefix, argument, _ := strings.Cut(inside, ":")
	if prefix != referencePrefix {
		return referenceStart + inside + "}", false, nil
	}
	name, fieldName, hasField := strings.Cut(argument, "#")
	found := e.Lookup(name)
	if found == nil {
		return "", true, nil
	}
	if read != nil {
		read(found)
	}
	field := FieldValue
	if hasField && fieldName != "" {
		var known bool
		if field, known = ParseField(fieldName); !known {
			return "", false, fmt.Errorf("attributes have no field %q (fields are %s)", fieldName, strings.Join(FieldNames(), ", "))
		}
	}
	return found.Text(field), true, nil
}

func abbreviate(text string) string {
	const longest = 120
	if len(text) <= longest {
		return text
	}
	return text[:longest] + "…"
}

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
