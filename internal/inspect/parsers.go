// Package inspect finds out what the parsers of a command can set, and which expressions a
// definition has.
package inspect

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// referenceStart begins a reference.
const referenceStart = "${"

// ReadingParsers returns the parsers that a stream reaches.
func ReadingParsers(c *config.Command) []*config.Parser {
	return slices.DeleteFunc(c.Parsers(), func(parser *config.Parser) bool { return ReadsNothing(parser, c) })
}

// MayActOnJob reports whether a target acts on the job, or may: its name may
// become known only when it is used.
func MayActOnJob(t *config.Target) bool {
	return t.Ref.Set && (strings.Contains(t.Ref.Text, attribute.JobPlaceholder) || strings.Contains(t.Ref.Text, referenceStart))
}

// MayDescribe reports whether the parsers of a command can set a field of an
// attribute beside its value, such as its bounds: these say which values it takes.
func MayDescribe(c *config.Command, name string) bool {
	return slices.ContainsFunc(ReadingParsers(c), func(parser *config.Parser) bool {
		if parser.Type != "" {
			return true // a tokenizer of another program may do anything
		}
		return slices.ContainsFunc(parser.Targets, func(target *config.Target) bool { return mayDescribe(target, name) })
	})
}

func mayDescribe(t *config.Target, name string) bool {
	if t.Ref.Text != name && !strings.Contains(t.Ref.Text, referenceStart) {
		return false
	}
	for _, action := range Actions(t) {
		if action.Field.Set && !Sets(action, attribute.FieldValue) {
			return true
		}
	}
	return false
}

// MaySet reports whether the parsers of a command can set a field of the job,
// or one that does not exist: it may be meant.
func MaySet(c *config.Command, field attribute.Field) bool {
	return slices.ContainsFunc(ReadingParsers(c), func(parser *config.Parser) bool {
		if parser.Type != "" {
			return true // a tokenizer of another program may do anything
		}
		return slices.ContainsFunc(parser.Targets, func(target *config.Target) bool { return MayActOnJob(target) && maySet(target, field) })
	})
}

// MayRead reports whether the parsers of a command have a target for an attribute.
func MayRead(c *config.Command, name string) bool {
	return slices.ContainsFunc(ReadingParsers(c), func(parser *config.Parser) bool {
		return slices.ContainsFunc(parser.Targets, func(target *config.Target) bool { return target.Ref.Text == name })
	})
}

// SetsState reports whether an action of the parsers of a command gives the job a state.
func SetsState(c *config.Command, state string) bool {
	isState := func(entry *config.Entry) bool { return entry.Value.Text == state }
	return slices.ContainsFunc(ReadingParsers(c), func(parser *config.Parser) bool {
		return slices.ContainsFunc(parser.Targets, func(target *config.Target) bool {
			return MayActOnJob(target) && slices.ContainsFunc(Actions(target), func(action *config.Action) bool {
				return Sets(action, attribute.FieldValue) && slices.ContainsFunc(action.Entries, isState)
			})
		})
	})
}

func maySet(t *config.Target, field attribute.Field) bool {
	for _, action := range Actions(t) {
		_, known := attribute.ParseField(action.Field.Text)
		if (action.Kind == config.Set || action.Kind == config.Append) && (Sets(action, field) || !known) {
			return true
		}
	}
	return false
}

// ReadsNothing reports whether the stream of a parser is always empty, or read by another.
func ReadsNothing(p *config.Parser, command *config.Command) bool {
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

// Actions returns all actions of a target.
func Actions(t *config.Target) []*config.Action {
	var all []*config.Action
	for _, match := range t.Matches {
		all = append(all, match.Actions...)
	}
	EachTest(t.Tests, func(test *config.Test) bool {
		all = append(append(all, test.Actions...), test.Else...)
		return true
	})
	return append(all, t.Else...)
}

// EachTest calls use for tests and the tests in them, until it returns false.
func EachTest(tests []*config.Test, use func(*config.Test) bool) bool {
	for _, test := range tests {
		if !use(test) || !EachTest(test.Tests, use) {
			return false
		}
	}
	return true
}

// Sets reports whether the action is on a field of attributes.
func Sets(a *config.Action, wanted attribute.Field) bool {
	field, known := attribute.ParseField(a.Field.Text)
	return known && field == wanted
}
