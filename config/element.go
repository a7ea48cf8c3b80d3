package config

import (
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/schemas"
)

// An element wraps an XML element with typed access to what the format puts there.
type element struct {
	*schemas.Element
	loader *loader
}

func (e element) position() Position {
	return e.loader.place(e.Line, e.Column)
}

func (e element) isExtension(name string) bool {
	return e.Name == name && e.Space == schemas.ExtensionNamespace
}

// children calls use for each child element of the core format.
func (e element) children(use func(child element)) {
	for _, child := range e.Children {
		if schemas.IsCore(child.Space) {
			use(element{child, e.loader})
		}
	}
}

// named returns the core children of any of the given names.
func (e element) named(names ...string) []element {
	var found []element
	e.children(func(child element) {
		for _, name := range names {
			if child.Name == name {
				found = append(found, child)
			}
		}
	})
	return found
}

// first returns the first core child of a name.
func (e element) first(name string) (element, bool) {
	for _, child := range e.Children {
		if child.Name == name && schemas.IsCore(child.Space) {
			return element{child, e.loader}, true
		}
	}
	return element{}, false
}

// childText returns the text of the first child of that name; an empty child
// gives an empty text, not an absent one.
func (e element) childText(name string) Optional {
	if child, ok := e.first(name); ok {
		return Optional{Text: child.Text, Set: true}
	}
	return Optional{}
}

func (e element) lookup(space string, names ...string) (schemas.Attribute, bool) {
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

// optional returns the attribute of the first of the names that is there; more
// than one name is given where older files spell it differently.
func (e element) optional(names ...string) Optional {
	if attribute, ok := e.lookup("", names...); ok {
		return Optional{Text: attribute.Value, Set: true}
	}
	return Optional{}
}

func (e element) text(name string) string { return e.optional(name).Text }

// boolean returns an attribute as XML reads booleans. What is no boolean is
// reported by the schema and leaves the fallback.
func (e element) boolean(name string, fallback bool) bool {
	switch strings.TrimSpace(e.text(name)) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	default:
		return fallback
	}
}

func (e element) integer(name string, fallback int) int {
	text := strings.TrimSpace(e.text(name))
	if text == "" {
		return fallback // absent as a rule; ParseInt would make an error first
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return fallback
	}
	return int(number)
}

// valuePosition returns where the value of an attribute begins.
func (e element) valuePosition(name string) Position {
	attribute, ok := e.lookup("", name)
	if !ok {
		return e.position()
	}
	return e.loader.place(attribute.ValueLine, attribute.ValueColumn)
}

// valueWithin returns where a byte of an attribute's value stands in the source.
func (e element) valueWithin(name string, index int) Position {
	attribute, ok := e.lookup("", name)
	if !ok {
		return e.position()
	}
	return e.loader.place(e.loader.places(e.Element, name, func() *schemas.Places { return e.ValuePlaces(attribute) }).Of(index))
}

// places returns what finds bytes of one text. That of the text which was looked
// into last is kept, since what is reported of a text is reported in its order.
func (l *loader) places(e *schemas.Element, attribute string, find func() *schemas.Places) *schemas.Places {
	if l.placed.element != e || l.placed.attribute != attribute {
		l.placed = placedText{e, attribute, find()}
	}
	return l.placed.places
}

// textWithin returns where a byte of the element's text stands in the source.
func (e element) textWithin(index int) Position {
	if e.TextLine == 0 {
		return e.position()
	}
	return e.loader.place(e.loader.places(e.Element, "", e.TextPlaces).Of(index))
}

// textPosition returns where the text of the element begins, leading white
// space skipped if trimmed is set.
func (e element) textPosition(trimmed bool) Position {
	if e.TextLine == 0 {
		return e.position()
	}
	position := e.loader.place(e.TextLine, e.TextColumn)
	if !trimmed {
		return position
	}
	for _, r := range e.Text {
		switch r {
		case '\n':
			position.Line, position.Column = position.Line+1, 1
		case ' ', '\t', '\r':
			position.Column++
		default:
			return position
		}
	}
	return position
}
