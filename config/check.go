package config

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/schemas"
)

// checkSchema reports what the schema does not allow. The reference's XML
// binding does not insist on the order of elements, so that is a warning.
func (l *loader) checkSchema(root *schemas.Element) {
	for _, violation := range schemas.ValidateMerged(root, l.documents.lineName) {
		severity := Error
		if violation.Code == "misplaced-element" {
			severity = Warning
		}
		l.report(l.place(violation.Line, violation.Column), severity, violation.Code, violation.Message, violation.Suggestion)
		l.problems[len(l.problems)-1].Replaces = violation.Found
	}
}

// checkExtensions warns of elements of our namespace that the schema knows but
// that nothing in this version acts on.
func (l *loader) checkExtensions(e *schemas.Element) {
	if e.Space == schemas.ExtensionNamespace && e.Name != "outcome" && e.Name != string(Fallback) && e.Name != string(ProbeCommand) {
		l.report(l.place(e.Line, e.Column), Warning, "extension-without-effect",
			fmt.Sprintf("x:%s has no effect in this version of rmctl", e.Name), "")
	}
	for _, child := range e.Children {
		l.checkExtensions(child)
	}
}

// checkField checks the field that an action names.
func (l *loader) checkField(e element, action *Action) {
	if !action.Field.Set {
		if action.Kind != Throw {
			l.report(action.Position, Error, "missing-field", fmt.Sprintf("<%s> names no field", action.Kind), `add field="value"`)
		}
		return
	}
	if _, known := attribute.ParseField(action.Field.Text); !known {
		suggestion := schemas.Nearest(action.Field.Text, attribute.FieldNames())
		if suggestion == "" {
			suggestion = "one of " + strings.Join(attribute.FieldNames(), ", ")
		}
		l.report(e.valuePosition("field"), Error, "unknown-field", fmt.Sprintf("attributes have no field %q", action.Field.Text), suggestion)
	}
}
