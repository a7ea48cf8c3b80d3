package config

import (
	"strings"

	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/xmltree"
)

func (l *loader) parser(e *xmltree.Element) *Parser {
	p := &Parser{
		Position:         e.Position(),
		Element:          e.Name,
		Type:             strings.TrimSpace(e.ChildText("type").Text),
		Delimiter:        e.Optional("delim"),
		IncludeDelimiter: e.Boolean("includeDelim", false),
		MaxMatchLength:   e.Integer("maxMatchLen", 0),
		All:              e.Boolean("all", false),
		Save:             e.Integer("save", 0),
		ApplyToAll:       e.Boolean("applyToAll", false),
	}
	for _, target := range e.Named("target") {
		p.Targets = append(p.Targets, l.target(target))
	}
	if exit, ok := e.First("exit-on"); ok {
		p.ExitOn = l.expression(exit)
	}
	if exit, ok := e.First("exit-after"); ok {
		p.ExitAfter = l.expression(exit)
	}
	return p
}

func (l *loader) target(e *xmltree.Element) *Target {
	t := &Target{
		Position:        e.Position(),
		Ref:             e.Optional("ref"),
		RefAt:           e.ValuePosition("ref"),
		MatchAll:        e.Boolean("matchAll", false),
		AllowOverwrites: e.Boolean("allowOverwrites", false),
	}
	e.Core(func(child *xmltree.Element) {
		switch child.Name {
		case "match":
			t.Matches = append(t.Matches, l.match(child))
		case "test":
			t.Tests = append(t.Tests, l.test(child))
		case "else":
			t.HasElse = true
			t.Else = l.actions(child)
		}
	})
	return t
}

func (l *loader) match(e *xmltree.Element) *Match {
	m := &Match{Position: e.Position(), MoveToTop: e.Boolean("moveToTop", false), Actions: l.actions(e)}
	if expression, ok := e.First("expression"); ok {
		m.Expression = l.expression(expression)
	}
	return m
}

// expression reads an element of regex type.
func (l *loader) expression(e *xmltree.Element) *Expression {
	flags, _ := javaregex.ParseFlags(e.Value("flags"))
	text, at, _ := e.Expression()
	return &Expression{Position: at, Text: text, Flags: flags, Split: e.Boolean("split", false)}
}

func (l *loader) test(e *xmltree.Element) *Test {
	t := &Test{Position: e.Position(), Operator: l.operator(e), Actions: l.actions(e)}
	e.Core(func(child *xmltree.Element) {
		switch child.Name {
		case "test":
			t.Tests = append(t.Tests, l.test(child))
		case "value":
			t.Values = append(t.Values, child.Text)
		case "else":
			t.Else = l.actions(child)
		}
	})
	return t
}

// operator reads the operator of a test; as in the reference its case does not
// matter and what is unknown compares for equality.
func (l *loader) operator(e *xmltree.Element) Operator {
	if written := strings.ToUpper(e.Value("op")); Operator(written).IsKnown() {
		return Operator(written)
	}
	return Equal
}

func (l *loader) actions(e *xmltree.Element) []*Action {
	var actions []*Action
	e.Core(func(child *xmltree.Element) {
		switch kind := ActionKind(child.Name); kind {
		case Set, Add, Append, Put, Throw:
			actions = append(actions, l.action(child, kind))
		}
	})
	return actions
}

func (l *loader) action(e *xmltree.Element, kind ActionKind) *Action {
	a := &Action{
		Position:       e.Position(),
		Kind:           kind,
		Field:          e.Optional("field"),
		ForceNewObject: e.Boolean("forceNewObject", false),
		Separator:      e.Value("separator"),
		Message:        e.Value("message"),
	}
	for _, entry := range e.Named("entry") {
		a.Entries = append(a.Entries, &Entry{
			Position:   entry.Position(),
			Key:        entry.Optional("key"),
			KeyGroup:   entry.Integer("keyGroup", 0),
			KeyIndex:   entry.Integer("keyIndex", 0),
			Value:      entry.Optional("value"),
			ValueAt:    entry.ValuePosition("value"),
			ValueGroup: entry.Integer("valueGroup", 0),
			ValueIndex: entry.Integer("valueIndex", 0),
		})
	}
	return a
}
