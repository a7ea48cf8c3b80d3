package rsl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxParts bounds the parts of a concatenation, which other programs nest.
const maxParts = 1000

// Parse reads a request. If it is invalid, the error is [Problems]: after an error in a group, the
// groups behind it are still checked. Texts longer than [MaxSize], nested deeper than [MaxDepth] or
// with a NUL byte are invalid; other bytes of literals stay as they are.
func Parse(text string) (Spec, error) {
	p := &parser{}
	p.scanner = scanner{text: text, last: Position{Line: 1, Column: 1}, fail: p.stop}
	if len(text) > MaxSize {
		return nil, Problems{{Message: fmt.Sprintf("the request has more than %d bytes", MaxSize)}}
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, Problems{{Position: p.locate(i), Message: "the request contains a NUL byte"}}
	}
	p.token = p.next()
	spec := p.specification(false)
	if spec != nil {
		p.finish()
	}
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return spec, nil
}

// A parser reads a specification by recursive descent. Its methods return nil after a problem; parsing then
// continues after the group.
type parser struct {
	scanner
	token    token // the next one
	before   int   // where the one before it ends
	open     int   // parentheses before it that are not closed
	depth    int
	stopped  bool // what follows cannot be judged
	problems Problems
}

func (p *parser) advance() {
	switch p.token.kind {
	case opening:
		p.open++
	case closing:
		p.open--
	}
	p.before = p.token.end
	p.token = p.next()
}

// report records a problem, unless the parser has given up.
func (p *parser) report(at Position, hint, format string, arguments ...any) {
	if p.stopped {
		return
	}
	p.problems = append(p.problems, &Problem{at, fmt.Sprintf(format, arguments...), hint})
	p.stopped = len(p.problems) == mostProblems
}

// stop records a problem after which the text cannot be judged.
func (p *parser) stop(at Position, message string) {
	p.report(at, "", "%s", message)
	p.stopped = true
}

// enter begins a nested element, which the caller ends by p.depth--.
func (p *parser) enter(at Position) bool {
	p.depth++
	if p.depth > MaxDepth {
		p.stop(at, fmt.Sprintf("parentheses are nested more than %d deep", MaxDepth))
	}
	return p.depth <= MaxDepth
}

// specification reads a boolean or a relation.
func (p *parser) specification(isGroup bool) Spec {
	first := p.token
	switch first.kind {
	case prefix:
		p.advance()
		if p.token.kind != opening {
			p.report(p.token.Position, "write "+first.text+"(NAME=VALUE)", "%s must be followed by a group in parentheses, not by %s", first.text, describe(p.token))
			return nil
		}
		return p.groups(first)
	case opening:
		p.report(first.Position, "write &, | or + before the first group", "no operator before the group")
		p.groups(first)
		return nil
	case word, quoted:
		return p.relation()
	case closing:
		if isGroup {
			p.report(first.Position, "", "the group is empty")
			return nil
		}
	case relational:
		p.report(first.Position, "", "no attribute name before %s", first.text)
		return nil
	case end:
		if !isGroup {
			p.report(first.Position, "", "the request is empty")
			return nil
		}
	}
	p.unexpected("a specification")
	return nil
}

// groups reads the groups behind an operator.
func (p *parser) groups(operator token) Spec {
	boolean := &Boolean{Position: operator.Position, Operator: Operator(operator.text)}
	for p.token.kind == opening {
		if spec := p.group(); spec != nil {
			boolean.Specs = append(boolean.Specs, spec)
		}
	}
	return boolean
}

// group reads a specification in parentheses; after a problem, up to the end of the group.
func (p *parser) group() Spec {
	start := p.token.Position
	p.advance()
	level := p.open
	defer func() { p.depth-- }()
	if p.enter(start) {
		spec := p.specification(true)
		if spec != nil && p.token.kind == closing {
			p.advance()
			return spec
		}
		if spec != nil {
			p.unclosed(start, "group", spec)
		}
	}
	for p.open >= level && p.token.kind != end {
		p.advance()
	}
	return nil
}

// unclosed reports the token in place of a closing parenthesis.
func (p *parser) unclosed(start Position, what string, spec Spec) {
	_, isRelation := spec.(*Relation)
	switch {
	case p.token.kind == end:
		p.stop(start, "the "+what+` is not closed: ")" is missing`)
	case p.token.kind == prefix && !isRelation && what == "group":
		p.report(p.token.Position, "remove it: groups follow one another directly", "unexpected operator %s after a group", p.token.text)
	case p.token.kind == relational && what == "sequence":
		p.report(p.token.Position, `add ")" where a group before is not closed`, "unexpected %s in a sequence", describe(p.token))
	case what == "group" && !isRelation:
		p.unexpected(`a group or ")"`)
	default:
		p.unexpected(`a value or ")"`)
	}
}

// finish reports tokens after the specification, and checks groups there.
func (p *parser) finish() {
	for isFirst := true; p.token.kind != end && !p.stopped; isFirst = false {
		switch {
		case p.token.kind == closing:
			p.report(p.token.Position, "", `unexpected ")": no group is open`)
		case p.token.kind == prefix:
			p.report(p.token.Position, "remove it: groups follow one another directly", "unexpected operator %s after a group", p.token.text)
		case !isFirst && p.token.kind == opening:
			p.groups(p.token)
			continue
		default:
			p.report(p.token.Position, "", "unexpected %s after the request", describe(p.token))
			return
		}
		p.advance()
	}
}

func (p *parser) relation() Spec {
	relation := &Relation{Position: p.token.Position, Name: p.token.text}
	p.advance()
	if p.token.kind != relational {
		p.report(p.token.Position, "write one of = != < <= > >=", "attribute %s must be followed by an operator, not by %s", quote(relation.Name), describe(p.token))
		return nil
	}
	relation.Operator = Operator(p.token.text)
	p.advance()
	values, ok := p.values()
	if !ok {
		return nil
	}
	if len(values) == 0 {
		if p.token.kind == closing || p.token.kind == end {
			p.report(p.token.Position, `write "" for an empty value`, "attribute %s has no value", quote(relation.Name))
		} else {
			p.unexpected("a value")
		}
		return nil
	}
	relation.Values = values
	return relation
}

// values reads values up to the first token that does not begin a value.
func (p *parser) values() (values []Value, ok bool) {
	for {
		var value Value
		switch p.token.kind {
		case word, quoted, dollar:
			value = p.simple()
		case opening:
			value = p.sequence()
		default:
			return values, true
		}
		if value == nil {
			return nil, false
		}
		values = append(values, value)
	}
}

func (p *parser) sequence() Value {
	sequence := &Sequence{Position: p.token.Position}
	p.advance()
	defer func() { p.depth-- }()
	if !p.enter(sequence.Position) {
		return nil
	}
	values, ok := p.values()
	switch {
	case !ok:
		return nil
	case p.token.kind != closing:
		p.unclosed(sequence.Position, "sequence", nil)
		return nil
	case len(values) == 0:
		p.report(p.token.Position, "", "the sequence is empty")
		return nil
	}
	p.advance()
	if p.token.kind == hash {
		p.report(p.token.Position, "", "a sequence cannot be concatenated")
		return nil
	}
	sequence.Values = values
	return sequence
}

// simple reads literals and references joined by # or by the lack of blanks.
func (p *parser) simple() Value {
	start := p.token.Position
	var parts []Value
	for {
		part := p.part()
		if part == nil {
			return nil
		}
		parts = append(parts, part)
		if len(parts) > maxParts {
			p.report(part.Pos(), "", "a value is joined from more than %d parts", maxParts)
			return nil
		}
		if p.token.kind == hash {
			p.advance()
			if !p.isPart() {
				p.report(p.token.Position, "", "# must be followed by text or a reference, not by %s", describe(p.token))
				return nil
			}
		} else if !p.touches(part) {
			break
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &Concatenation{start, parts}
}

func (p *parser) isPart() bool {
	return p.token.kind == word || p.token.kind == quoted || p.token.kind == dollar
}

// touches reports whether the next token belongs to the part before it: nothing is between
// them, and one of them is a reference.
func (p *parser) touches(part Value) bool {
	_, isReference := part.(*Reference)
	return p.token.Offset == p.before && p.isPart() && (isReference || p.token.kind == dollar)
}

func (p *parser) part() Value {
	if p.token.kind == dollar {
		return p.reference()
	}
	literal := &Literal{p.token.Position, p.token.text}
	p.advance()
	return literal
}

// reference reads a reference; nil is without a type, so that it equals a nil Value.
func (p *parser) reference() Value {
	start := p.token.Position
	p.advance()
	if p.token.kind != opening {
		p.report(p.token.Position, "write $(NAME), or quote the $", "$ must be followed by a name in parentheses, not by %s", describe(p.token))
		return nil
	}
	opened := p.token.Position
	p.advance()
	defer func() { p.depth-- }()
	if !p.enter(opened) {
		return nil
	}
	reference := &Reference{Position: start, Name: p.token.text}
	switch p.token.kind {
	case word, quoted:
		p.advance()
	case closing:
		p.report(p.token.Position, "write $(NAME)", "the reference has no name")
		return nil
	default:
		p.report(p.token.Position, "write $(NAME)", "the name of a reference must be text, not %s", describe(p.token))
		return nil
	}
	if touching := p.token; touching.kind == dollar && touching.Offset == p.before {
		p.report(touching.Position, "separate the name and the default by a blank", "the name of a reference must be text, not a concatenation")
		return nil
	}
	if p.isPart() {
		if reference.Default = p.simple(); reference.Default == nil {
			return nil
		}
	}
	switch p.token.kind {
	case closing:
		p.advance()
		return reference
	case end:
		p.stop(opened, `the reference is not closed: ")" is missing`)
	default:
		p.report(p.token.Position, "quote a default that has blanks", "unexpected %s: a reference has a name and at most one default", describe(p.token))
	}
	return nil
}

// unexpected reports that the next token is not allowed here.
func (p *parser) unexpected(expected string) {
	hint := ""
	switch p.token.kind {
	case prefix, relational, invalid:
		hint = "quote text that contains " + p.token.text
	case hash:
		hint = "write text or a reference on both sides of #"
	}
	p.report(p.token.Position, hint, "unexpected %s instead of %s", describe(p.token), expected)
}

func describe(t token) string {
	switch t.kind {
	case end:
		return "the end of the request"
	case word, quoted:
		return quote(t.text)
	default:
		return `"` + t.text + `"`
	}
}

// quote shows text of a request in a message.
func quote(text string) string {
	const longest = 60
	if len(text) <= longest {
		return strconv.Quote(text)
	}
	cut := longest
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(text[:cut]) + "…"
}
