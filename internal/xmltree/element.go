// Package xmltree reads the XML of a definition into elements that know their position, even if
// several files were merged.
package xmltree

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Position returns where the element begins.
func (e *Element) Position() Position { return e.document.position(e.offset) }

// Source returns the source of the element.
func (e *Element) Source() string { return e.document.Text[e.offset:e.end] }

// Namespace returns the namespace of a prefix inside the element.
func (e *Element) Namespace(prefix string) (space string, known bool) { return e.scope.lookup(prefix) }

// IsExtension reports whether the element has that name in rmctl's namespace.
func (e *Element) IsExtension(name string) bool {
	return e.Name == name && e.Space == ExtensionNamespace
}

// Core calls use for each child element of the core format.
func (e *Element) Core(use func(child *Element)) {
	for _, child := range e.Children {
		if IsCore(child.Space) {
			use(child)
		}
	}
}

// All yields the element and its descendants in document order.
func (e *Element) All() iter.Seq[*Element] {
	return func(yield func(*Element) bool) { e.walk(yield) }
}

func (e *Element) walk(yield func(*Element) bool) bool {
	if !yield(e) {
		return false
	}
	for _, child := range e.Children {
		if !child.walk(yield) {
			return false
		}
	}
	return true
}

// Named returns the core children of any of the given names.
func (e *Element) Named(names ...string) []*Element {
	var found []*Element
	e.Core(func(child *Element) {
		if slices.Contains(names, child.Name) {
			found = append(found, child)
		}
	})
	return found
}

// First returns the first core child of a name.
func (e *Element) First(name string) (*Element, bool) {
	for _, child := range e.Children {
		if child.Name == name && IsCore(child.Space) {
			return child, true
		}
	}
	return nil, false
}

// ChildText returns the text of the first child of that name; an empty child
// gives an empty text, not an absent one.
func (e *Element) ChildText(name string) Optional {
	if child, ok := e.First(name); ok {
		return Optional{Text: child.Text, Set: true}
	}
	return Optional{}
}

// Lookup returns the first attribute of the namespace with one of the names.
func (e *Element) Lookup(space string, names ...string) (Attribute, bool) {
	for _, attribute := range e.Attributes {
		if attribute.Space == space && slices.Contains(names, attribute.Name) {
			return attribute, true
		}
	}
	return Attribute{}, false
}

// Optional returns the first attribute that exists among the names. Several names cover the spellings of
// older files.
func (e *Element) Optional(names ...string) Optional {
	if attribute, ok := e.Lookup("", names...); ok {
		return Optional{Text: attribute.Value, Set: true}
	}
	return Optional{}
}

// Value returns an attribute, empty if it is absent.
func (e *Element) Value(name string) string { return e.Optional(name).Text }

// Boolean returns an XML boolean attribute, or the fallback. The schema reports invalid values.
func (e *Element) Boolean(name string, fallback bool) bool {
	switch strings.TrimSpace(e.Value(name)) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	default:
		return fallback
	}
}

// Integer returns a 32-bit integer attribute, or the fallback. The schema reports invalid values.
func (e *Element) Integer(name string, fallback int) int {
	text := strings.TrimSpace(e.Value(name))
	if text == "" {
		return fallback // the usual case; avoids the error of ParseInt
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return fallback
	}
	return int(number)
}

// ValuePosition returns where the value of an attribute begins.
func (e *Element) ValuePosition(name string) Position {
	attribute, ok := e.Lookup("", name)
	if !ok {
		return e.Position()
	}
	return attribute.ValuePosition()
}

// ValueWithin returns the source position of a byte of an attribute's value.
func (e *Element) ValueWithin(name string, index int) Position {
	attribute, ok := e.Lookup("", name)
	if !ok {
		return e.Position()
	}
	return attribute.document.within(attribute.valueOffset, index, true)
}

// TextWithin returns the source position of a byte of the element's text.
func (e *Element) TextWithin(index int) Position {
	if e.textOffset == 0 {
		return e.Position()
	}
	return e.document.within(e.textOffset, index, false)
}

// TextPosition returns where the text of the element begins, without the white space
// before it.
func (e *Element) TextPosition() Position {
	return e.TextWithin(len(e.Text) - len(strings.TrimLeft(e.Text, blanks)))
}

// VisibleText returns the position of the first text inside the element that is not blank, even after
// children.
func (e *Element) VisibleText() (at Position, ok bool) {
	if e.inkOffset == 0 {
		return Position{}, false
	}
	return e.document.position(e.inkOffset), true
}

// Expression returns the expression of an element of regex type, its position, and a function for the
// position of a byte. The attribute wins over the text. Text with a line break loses the white space
// around it, which no author intends.
func (e *Element) Expression() (text string, at Position, within func(offset int) Position) {
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

// QualifiedName returns the name of the element in messages and rules, such as x:outcome for one of
// rmctl's.
func (e *Element) QualifiedName() string {
	switch {
	case e.Space == ExtensionNamespace:
		return "x:" + e.Name
	case e.Name == "property" && IsCore(e.Space): // format of 5.0
		return "attribute"
	}
	return e.Name
}

// QualifiedName returns the name of the attribute in messages.
func (a Attribute) QualifiedName() string {
	if a.Space == ExtensionNamespace {
		return "x:" + a.Name
	}
	return a.Name
}

// Position returns where the attribute begins.
func (a Attribute) Position() Position { return a.document.position(a.offset) }

// ValuePosition returns where the value of the attribute begins.
func (a Attribute) ValuePosition() Position { return a.document.position(a.valueOffset) }
