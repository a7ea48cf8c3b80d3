package proxy

import "strings"

// An Attribute is one argument id=value. An array takes an attribute for each element.
type Attribute struct{ ID, Value string }

// Attributes are attributes in the order in which they came.
type Attributes []Attribute

// Value returns the value of the first attribute with an id.
func (a Attributes) Value(id string) (string, bool) {
	for _, attribute := range a {
		if attribute.ID == id {
			return attribute.Value, true
		}
	}
	return "", false
}

// Values returns the values of all attributes with an id, the elements of an array.
func (a Attributes) Values(id string) []string {
	var values []string
	for _, attribute := range a {
		if attribute.ID == id {
			values = append(values, attribute.Value)
		}
	}
	return values
}

// parseAttributes appends the attributes of arguments. What has no id is left out, such as
// the counts that some peers send.
func parseAttributes(to Attributes, arguments []string) Attributes {
	for _, argument := range arguments {
		if id, value, isAttribute := strings.Cut(argument, "="); isAttribute && id != "" {
			to = append(to, Attribute{ID: id, Value: value})
		}
	}
	return to
}

// An argumentList collects arguments; all attributes share one allocation.
type argumentList struct {
	arguments []string
	texts     strings.Builder
}

// newArgumentList returns a list with room for a number of arguments, and for the bytes of those that are attributes.
func newArgumentList(arguments, bytes int) *argumentList {
	list := &argumentList{}
	if arguments > 0 {
		list.arguments = make([]string, 0, arguments)
	}
	list.texts.Grow(bytes)
	return list
}

func (l *argumentList) add(argument string) { l.arguments = append(l.arguments, argument) }

// addAttributes adds id=value for each attribute. The texts do not move: newArgumentList made room for them.
func (l *argumentList) addAttributes(attributes Attributes) {
	for _, attribute := range attributes {
		before := l.texts.Len()
		l.texts.WriteString(attribute.ID)
		l.texts.WriteByte('=')
		l.texts.WriteString(attribute.Value)
		l.arguments = append(l.arguments, l.texts.String()[before:])
	}
}

// size returns the bytes that addAttributes needs.
func (a Attributes) size() int {
	size := 0
	for _, attribute := range a {
		size += len(attribute.ID) + 1 + len(attribute.Value)
	}
	return size
}
