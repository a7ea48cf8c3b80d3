package xpath

import (
	"regexp"
	"strings"
)

// A shortcut is an expression about a single field, such as state='R' or
// substring-before(exit,':'). They are what most rows and facts have, and the library takes
// a hundred times as long for them.
type shortcut struct {
	kind      shortcutKind
	field     string
	operand   string // a text, or the name of an attribute of the definition
	attribute bool   // operand is the name of an attribute
	pattern   *regexp.Regexp
}

type shortcutKind uint8

const (
	noShortcut shortcutKind = iota
	isEqual
	isMatch
	isMissing
	hasPrefix
	// The others are texts.
	textBefore
	textAfter
)

// shortcutOf returns the shortcut for an expression; nil for most.
func shortcutOf(tokens []token) *shortcut {
	found := &shortcut{kind: kindOf(shapeOf(tokens))}
	if found.kind == noShortcut {
		return nil
	}
	for at, each := range tokens {
		switch {
		case each.kind == nameToken && !isCall(tokens, at):
			found.field = each.text
		case each.kind == literalToken:
			found.operand = each.text
		case each.kind == attributeToken:
			found.operand, found.attribute = each.text, true
		}
	}
	if found.kind == isMatch {
		found.pattern = regexp.MustCompile(found.operand)
	}
	return found
}

// shapeOf writes an expression with N for a field, L for a literal text and A for the name of
// an attribute.
func shapeOf(tokens []token) string {
	var shape strings.Builder
	for at, each := range tokens {
		switch {
		case each.kind == literalToken:
			shape.WriteByte('L')
		case each.kind == attributeToken:
			shape.WriteByte('A')
		case each.kind == nameToken && !isCall(tokens, at):
			shape.WriteByte('N')
		default:
			shape.WriteString(each.text)
		}
	}
	return shape.String()
}

func kindOf(shape string) shortcutKind {
	switch shape {
	case "N=L":
		return isEqual
	case "matches(N,L)":
		return isMatch
	case "not(N)":
		return isMissing
	case "starts-with(N,L)", "starts-with(N,string(@A))":
		return hasPrefix
	case "substring-before(N,L)", "substring-before(N,string(@A))":
		return textBefore
	case "substring-after(N,L)", "substring-after(N,string(@A))":
		return textAfter
	}
	return noShortcut
}

// isText reports whether the value is a text, and not a condition.
func (s *shortcut) isText() bool { return s.kind >= textBefore }

// holds reports whether the condition holds for a record: of several fields of the name any
// may be equal, and otherwise the first counts.
func (s *shortcut) holds(record *Node, attribute Lookup) bool {
	if s.kind == isEqual {
		for _, child := range record.Children {
			if child.Name == s.field && child.Value() == s.operand {
				return true
			}
		}
		return false
	}
	field := record.Child(s.field)
	switch {
	case s.kind == isMissing:
		return field == nil
	case field == nil:
		return false
	case s.kind == isMatch:
		return s.pattern.MatchString(field.Value())
	}
	return strings.HasPrefix(field.Value(), s.argument(record, attribute))
}

// text returns the text for a record.
func (s *shortcut) text(record *Node, attribute Lookup) string {
	field := record.Child(s.field)
	if field == nil {
		return ""
	}
	argument := s.argument(record, attribute)
	before, after, isFound := strings.Cut(field.Value(), argument)
	switch {
	case !isFound || argument == "": // where the library finds nothing
		return ""
	case s.kind == textBefore:
		return before
	}
	return after
}

// argument returns the text that the field is compared with. An attribute of an XML element
// hides that of the definition.
func (s *shortcut) argument(record *Node, attribute Lookup) string {
	if !s.attribute {
		return s.operand
	}
	for _, own := range record.Attributes {
		if own.Name == s.operand {
			return own.Value
		}
	}
	if attribute == nil {
		return ""
	}
	value, _ := attribute(s.operand)
	return value
}
