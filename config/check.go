package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/javaregex"
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
	if e.Space == schemas.ExtensionNamespace && e.Name != "outcome" && e.Name != string(Fallback) {
		l.report(l.place(e.Line, e.Column), Warning, "extension-without-effect",
			fmt.Sprintf("x:%s has no effect in this version of rmctl", e.Name), "")
	}
	for _, child := range e.Children {
		l.checkExtensions(child)
	}
}

// checkExpression compiles an expression unless references in it, which are
// known only when it is used, keep it from being complete.
func (l *loader) checkExpression(x *Expression) {
	if !l.check || strings.Contains(x.Text, "${ptp_rm:") || strings.Contains(x.Text, attribute.JobPlaceholder) {
		return
	}
	_, err := javaregex.Compile(x.Text, x.Flags)
	if err == nil {
		return
	}
	at := x.Position
	message := err.Error()
	var syntax *javaregex.SyntaxError
	if errors.As(err, &syntax) {
		at.Column += syntax.Offset
		message = syntax.Reason
	}
	l.report(at, Error, "invalid-expression", message, "")
}

func (l *loader) checkCommand(c *Command) {
	for _, parser := range c.parsers() {
		if parser.MaxMatchLength < 0 {
			l.report(parser.Position, Error, "invalid-value", "maxMatchLen is negative", "leave it out to cut the stream at delimiters")
		}
		for _, target := range parser.Targets {
			l.checkActions(target.Else, 0)
			for _, match := range target.Matches {
				l.checkActions(match.Actions, groups(match.Expression))
			}
			l.checkTests(target.Tests)
		}
	}
}

func (c *Command) parsers() []*Parser {
	var parsers []*Parser
	for _, parser := range []*Parser{c.StdoutParser, c.StderrParser, c.RedirectParser} {
		if parser != nil {
			parsers = append(parsers, parser)
		}
	}
	return parsers
}

func (l *loader) checkTests(tests []*Test) {
	for _, test := range tests {
		l.checkActions(test.Actions, unknownGroups)
		l.checkActions(test.Else, unknownGroups)
		l.checkTests(test.Tests)
	}
}

// unknownGroups is for expressions whose groups cannot be counted: those with
// references, and those that split.
const unknownGroups = -1

// groups returns how many groups an expression has.
func groups(x *Expression) int {
	if x == nil {
		return 0
	}
	if x.Split || strings.Contains(x.Text, "${") {
		return unknownGroups
	}
	compiled, err := javaregex.Compile(strings.ReplaceAll(x.Text, attribute.JobPlaceholder, "0"), x.Flags)
	if err != nil {
		return unknownGroups
	}
	return compiled.Groups()
}

func (l *loader) checkActions(actions []*Action, groups int) {
	for _, action := range actions {
		for _, entry := range action.Entries {
			for _, index := range []int{entry.ValueGroup, entry.ValueIndex, entry.KeyGroup, entry.KeyIndex} {
				if index < 0 || groups != unknownGroups && index > groups {
					l.report(entry.Position, Error, "no-such-group",
						fmt.Sprintf("the entry takes group %d of an expression with %d", index, max(groups, 0)), "groups count from 1; 0 is the whole segment")
					break
				}
			}
		}
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
