package config

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config/internal/reference"
)

// Parsers returns the command's parsers, that of standard output first.
func (c *Command) Parsers() []*Parser {
	return slices.DeleteFunc([]*Parser{c.StdoutParser, c.StderrParser, c.RedirectParser}, func(parser *Parser) bool { return parser == nil })
}

// ReadingParsers returns the parsers that a stream reaches.
func (c *Command) ReadingParsers() []*Parser {
	return slices.DeleteFunc(c.Parsers(), func(parser *Parser) bool { return parser.ReadsNothing(c) })
}

// MayActOnJob reports whether a target acts on the job, or may: its name may
// become known only when it is used.
func (t *Target) MayActOnJob() bool {
	return t.Ref.Set && (strings.Contains(t.Ref.Text, attribute.JobPlaceholder) || strings.Contains(t.Ref.Text, reference.Start))
}

// MayDescribe reports whether the parsers of a command can set a field of an
// attribute beside its value, such as its bounds: these say which values it takes.
func (c *Command) MayDescribe(name string) bool {
	return slices.ContainsFunc(c.ReadingParsers(), func(parser *Parser) bool {
		if parser.Type != "" {
			return true // a tokenizer of a program that uses rmctl does what it likes
		}
		return slices.ContainsFunc(parser.Targets, func(target *Target) bool { return target.mayDescribe(name) })
	})
}

func (t *Target) mayDescribe(name string) bool {
	if t.Ref.Text != name && !strings.Contains(t.Ref.Text, reference.Start) {
		return false
	}
	for action := range t.Actions {
		if action.Field.Set && !action.Sets(attribute.FieldValue) {
			return true
		}
	}
	return false
}

// MaySet reports whether the parsers of a command can set a field of the job,
// or one that does not exist: it may be meant.
func (c *Command) MaySet(field attribute.Field) bool {
	return slices.ContainsFunc(c.ReadingParsers(), func(parser *Parser) bool {
		if parser.Type != "" {
			return true // a tokenizer of a program that uses rmctl does what it likes
		}
		return slices.ContainsFunc(parser.Targets, func(target *Target) bool { return target.MayActOnJob() && target.maySet(field) })
	})
}

func (t *Target) maySet(field attribute.Field) bool {
	for action := range t.Actions {
		_, known := attribute.ParseField(action.Field.Text)
		if (action.Kind == Set || action.Kind == Append) && (action.Sets(field) || !known) {
			return true
		}
	}
	return false
}

// ReadsNothing reports whether the stream of a parser is always empty, or read by another.
func (p *Parser) ReadsNothing(command *Command) bool {
	switch p.Element {
	case "redirect-parser":
		return !command.RedirectStderr
	case "stdout-parser":
		return command.RedirectStderr && command.RedirectParser != nil
	case "stderr-parser":
		return command.RedirectStderr
	}
	return false
}

// Actions yields all actions of a target.
func (t *Target) Actions(yield func(*Action) bool) {
	var all []*Action
	for _, match := range t.Matches {
		all = append(all, match.Actions...)
	}
	EachTest(t.Tests, func(test *Test) bool {
		all = append(append(all, test.Actions...), test.Else...)
		return true
	})
	slices.Values(append(all, t.Else...))(yield)
}

// EachTest calls use for tests and the tests in them, until it returns false.
func EachTest(tests []*Test, use func(*Test) bool) bool {
	for _, test := range tests {
		if !use(test) || !EachTest(test.Tests, use) {
			return false
		}
	}
	return true
}

// Sets reports whether the action is on a field of attributes.
func (a *Action) Sets(wanted attribute.Field) bool {
	field, known := attribute.ParseField(a.Field.Text)
	return known && field == wanted
}
