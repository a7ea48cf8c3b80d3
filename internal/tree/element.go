// Package tree reads the elements of a definition, with their places in the files
// that it is made of. Packages config and check share it.
package tree

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/schemas"
)

// An Element wraps an XML element with typed access to what the format puts there.
type Element struct {
	*schemas.Element
	Source *Source
}

// Of returns a child of the element with the same access.
func (e Element) Of(child *schemas.Element) Element { return Element{child, e.Source} }

// Position returns where the element begins.
func (e Element) Position() Position {
	return e.Source.Position(e.Line, e.Column)
}

// IsExtension reports whether the element is the one of that name in our namespace.
func (e Element) IsExtension(name string) bool {
	return e.Name == name && e.Space == schemas.ExtensionNamespace
}

// Core calls use for each child element of the core format.
func (e Element) Core(use func(child Element)) {
	for _, child := range e.Children {
		if schemas.IsCore(child.Space) {
			use(e.Of(child))
		}
	}
}

// Named returns the core children of any of the given names.
func (e Element) Named(names ...string) []Element {
	var found []Element
	e.Core(func(child Element) {
		for _, name := range names {
			if child.Name == name {
				found = append(found, child)
			}
		}
	})
	return found
}

// First returns the first core child of a name.
func (e Element) First(name string) (Element, bool) {
	for _, child := range e.Children {
		if child.Name == name && schemas.IsCore(child.Space) {
			return e.Of(child), true
		}
	}
	return Element{}, false
}

// ChildText returns the text of the first child of that name; an empty child
// gives an empty text, not an absent one.
func (e Element) ChildText(name string) Optional {
	if child, ok := e.First(name); ok {
		return Optional{Text: child.Text, Set: true}
	}
	return Optional{}
}

// Lookup returns the first attribute of the namespace with one of the names.
func (e Element) Lookup(space string, names ...string) (schemas.Attribute, bool) {
	for _, attribute := range e.Attributes {
		if attribute.Space != space {
			continue
		}
		for _, name := range names {
			if attribute.Name == name {
				return attribute, true
			}
		}
	}
	return schemas.Attribute{}, false
}

// Optional returns the attribute of the first of the names that is there; more
// than one name is given where older files spell it differently.
func (e Element) Optional(names ...string) Optional {
	if attribute, ok := e.Lookup("", names...); ok {
		return Optional{Text: attribute.Value, Set: true}
	}
	return Optional{}
}

// Value returns an attribute, empty for one that is absent.
func (e Element) Value(name string) string { return e.Optional(name).Text }

// Boolean returns an attribute as XML reads booleans. What is no boolean is
// reported by the schema and leaves the fallback.
func (e Element) Boolean(name string, fallback bool) bool {
	switch strings.TrimSpace(e.Value(name)) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	default:
		return fallback
	}
}

// Integer returns an attribute as a whole number of 32 bits. The schema reports all
// others, which leave the fallback.
func (e Element) Integer(name string, fallback int) int {
	text := strings.TrimSpace(e.Value(name))
	if text == "" {
		return fallback // absent as a rule; ParseInt would make an error first
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return fallback
	}
	return int(number)
}

// ValuePosition returns where the value of an attribute begins.
func (e Element) ValuePosition(name string) Position {
	attribute, ok := e.Lookup("", name)
	if !ok {
		return e.Position()
	}
	return e.Source.Position(attribute.ValueLine, attribute.ValueColumn)
}

// ValueWithin returns where a byte of an attribute's value stands in the source.
func (e Element) ValueWithin(name string, index int) Position {
	attribute, ok := e.Lookup("", name)
	if !ok {
		return e.Position()
	}
	return e.Source.Position(e.Source.places(e.Element, name, func() placesOfText { return e.ValuePlaces(attribute) })(index))
}

// places returns what finds bytes of one text. That of the text which was looked
// into last is kept, since what is reported of a text is reported in its order.
func (s *Source) places(e *schemas.Element, attribute string, find func() placesOfText) placesOfText {
	if s.placed.element != e || s.placed.attribute != attribute {
		s.placed = placedText{e, attribute, find()}
	}
	return s.placed.places
}

// TextWithin returns where a byte of the element's text stands in the source.
func (e Element) TextWithin(index int) Position {
	if e.TextLine == 0 {
		return e.Position()
	}
	return e.Source.Position(e.Source.places(e.Element, "", e.TextPlaces)(index))
}

// TextPosition returns where the text of the element begins, without the white space
// before it.
func (e Element) TextPosition() Position {
	return e.TextWithin(len(e.Text) - len(strings.TrimLeft(e.Text, " \t\r\n")))
}

// Expression returns what an element of regex type holds, where that begins, and
// where a byte of it stands. The attribute wins over the text, and text that goes
// over a line break loses the white space around it, which no author means (five
// definitions in the field have such texts).
func (e Element) Expression() (text string, at Position, within func(offset int) Position) {
	if written := e.Optional("expression"); written.Set {
		return written.Text, e.ValuePosition("expression"), func(offset int) Position { return e.ValueWithin("expression", offset) }
	}
	text, trimmed := e.Text, 0
	if strings.ContainsAny(e.Text, "\n\r") {
		trimmed = len(e.Text) - len(strings.TrimLeftFunc(e.Text, unicode.IsSpace))
		text = strings.TrimSpace(e.Text)
	}
	within = func(offset int) Position { return e.TextWithin(trimmed + offset) }
	return text, within(0), within
}

// PartName returns the element name by which rules are found.
func PartName(e *schemas.Element) string {
	switch {
	case e.Space == schemas.ExtensionNamespace:
		return "x:" + e.Name
	case e.Name == "property" && schemas.IsCore(e.Space): // format of 5.0
		return "attribute"
	}
	return e.Name
}

// AttributeName returns the name of an attribute in messages.
func AttributeName(a schemas.Attribute) string {
	if a.Space == schemas.ExtensionNamespace {
		return "x:" + a.Name
	}
	return a.Name
}
