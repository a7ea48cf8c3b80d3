package config

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config/internal/tree"
	"github.com/rmctl/rmctl/schemas"
)

// checkSchema reports what the schema does not allow. The reference's XML
// binding does not insist on the order of elements, nor its tokenizer on the
// case of operators, so these are warnings.
func (l *loader) checkSchema(root *schemas.Element) {
	for _, violation := range schemas.Validate(root, l.source.LineName) {
		severity := Error
		if violation.Code == "misplaced-element" || violation.Code == "invalid-value" && isOperator(strings.ToUpper(violation.Found)) {
			severity = Warning
		}
		l.report(l.place(violation.Line, violation.Column), severity, violation.Code, violation.Message, violation.Suggestion)
		l.problems[len(l.problems)-1].Replaces = violation.Found
	}
}

// checkField checks the field that an action names.
func (l *loader) checkField(e tree.Element, action *Action) {
	if !action.Field.Set {
		if action.Kind != Throw {
			l.report(action.Position, Error, "missing-field", fmt.Sprintf("<%s> names no field", action.Kind), `add field="value"`)
		}
		return
	}
	l.checkFieldName(action.Field.Text, e.ValuePosition("field"))
}

// checkFieldName checks the name of a field that stands at a position.
func (l *loader) checkFieldName(name string, at Position) {
	if _, known := attribute.ParseField(name); known {
		return
	}
	suggestion := schemas.Nearest(name, attribute.FieldNames())
	if suggestion == "" {
		suggestion = "one of " + strings.Join(attribute.FieldNames(), ", ")
	}
	l.report(at, Error, "unknown-field", fmt.Sprintf("attributes have no field %q", name), suggestion)
}

// fieldMark begins a value of an entry or test that is a field of the attribute
// at hand.
const fieldMark = "#"

// checkEntryFields checks the fields that an entry takes its value and key from.
func (l *loader) checkEntryFields(entry tree.Element) {
	for _, name := range []string{"value", "key"} {
		if field, isField := strings.CutPrefix(entry.Value(name), fieldMark); isField {
			l.checkFieldName(field, entry.ValueWithin(name, len(fieldMark)))
		}
	}
}
