package config

import (
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/javaregex"
)

func (l *loader) parser(e element) *Parser {
	p := &Parser{
		Position:         e.position(),
		Element:          e.Name,
		Type:             strings.TrimSpace(e.childText("type").Text),
		Delimiter:        e.optional("delim"),
		IncludeDelimiter: e.boolean("includeDelim", false),
		MaxMatchLength:   e.integer("maxMatchLen", 0),
		All:              e.boolean("all", false),
		Save:             e.integer("save", 0),
		ApplyToAll:       e.boolean("applyToAll", false),
	}
	for _, target := range e.named("target") {
		p.Targets = append(p.Targets, l.target(target))
	}
	if exit, ok := e.first("exit-on"); ok {
		p.ExitOn = l.expression(exit)
	}
	if exit, ok := e.first("exit-after"); ok {
		p.ExitAfter = l.expression(exit)
	}
	return p
}

func (l *loader) target(e element) *Target {
	t := &Target{
		Position:        e.position(),
		Ref:             e.optional("ref"),
		refAt:           e.valuePosition("ref"),
		MatchAll:        e.boolean("matchAll", false),
		AllowOverwrites: e.boolean("allowOverwrites", false),
	}
	e.children(func(child element) {
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

func (l *loader) match(e element) *Match {
	m := &Match{Position: e.position(), MoveToTop: e.boolean("moveToTop", false), Actions: l.actions(e)}
	if expression, ok := e.first("expression"); ok {
		m.Expression = l.expression(expression)
	}
	return m
}

// expression reads an element of regex type: the attribute wins over the text,
// and text that goes over a line break loses the white space around it, which
// no author means (five definitions in the field have such texts).
func (l *loader) expression(e element) *Expression {
	flags, _ := javaregex.ParseFlags(e.text("flags"))
	x := &Expression{Flags: flags, Split: e.boolean("split", false)}
	if written := e.optional("expression"); written.Set {
		x.Text, x.Position = written.Text, e.valuePosition("expression")
		l.checkExpression(x, func(offset int) Position { return e.valueWithin("expression", offset) })
		return x
	}
	wrapped := strings.ContainsAny(e.Text, "\n\r")
	x.Text, x.Position = e.Text, e.textPosition(wrapped)
	trimmed := 0
	if wrapped {
		trimmed = len(e.Text) - len(strings.TrimLeftFunc(e.Text, unicode.IsSpace))
		x.Text = strings.TrimSpace(e.Text)
	}
	l.checkExpression(x, func(offset int) Position { return e.textWithin(trimmed + offset) })
	return x
}

func (l *loader) test(e element) *Test {
	t := &Test{Position: e.position(), Operator: l.operator(e), Actions: l.actions(e)}
	e.children(func(child element) {
		switch child.Name {
		case "test":
			t.Tests = append(t.Tests, l.test(child))
		case "value":
			t.Values = append(t.Values, child.Text)
			if field, isField := strings.CutPrefix(child.Text, fieldMark); isField {
				l.checkFieldName(field, child.textWithin(len(fieldMark)))
			}
		case "else":
			t.HasElse = true
			t.Else = l.actions(child)
		}
	})
	return t
}

// operator reads the operator of a test; as in the reference its case does not
// matter and what is unknown compares for equality.
func (l *loader) operator(e element) Operator {
	if written := strings.ToUpper(e.text("op")); isOperator(written) {
		return Operator(written)
	}
	return Equal
}

func isOperator(text string) bool {
	switch Operator(text) {
	case Equal, Less, Greater, LessOrEqual, GreaterOrEqual, And, Or, Not:
		return true
	}
	return false
}

func (l *loader) actions(e element) []*Action {
	var actions []*Action
	e.children(func(child element) {
		switch kind := ActionKind(child.Name); kind {
		case Set, Add, Append, Put, Throw:
			actions = append(actions, l.action(child, kind))
		}
	})
	return actions
}

func (l *loader) action(e element, kind ActionKind) *Action {
	a := &Action{
		Position:       e.position(),
		Kind:           kind,
		Field:          e.optional("field"),
		ForceNewObject: e.boolean("forceNewObject", false),
		Separator:      e.text("separator"),
		Message:        e.text("message"),
	}
	l.checkField(e, a)
	for _, entry := range e.named("entry") {
		l.checkEntryFields(entry)
		a.Entries = append(a.Entries, &Entry{
			Position:   entry.position(),
			Key:        entry.optional("key"),
			KeyGroup:   entry.integer("keyGroup", 0),
			KeyIndex:   entry.integer("keyIndex", 0),
			Value:      entry.optional("value"),
			valueAt:    entry.valuePosition("value"),
			ValueGroup: entry.integer("valueGroup", 0),
			ValueIndex: entry.integer("valueIndex", 0),
		})
	}
	return a
}
