package model

import (
	"iter"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
)

// An Element is one version of an element: of a resource manager, a machine, a
// queue, a node, a job or a process. It never changes once a snapshot shows it.
type Element struct {
	id, parent string
	shape      *shape
	values     []string // by the shape's definitions
	revision   uint64   // of the model that this version came with
	kind       Kind
}

// A shape is the list of attributes that an element was given, shared by all
// elements that were given the same in the same order. So a row costs its values
// only.
type shape struct {
	definitions []*Definition
	index       map[string]int    // place of each id in definitions
	longer      map[string]*shape // with one more attribute; for the writer alone
}

// with returns the shape with one more attribute, and whether it was made now.
func (s *shape) with(definition *Definition) (*shape, bool) {
	if longer, known := s.longer[definition.ID]; known {
		return longer, false
	}
	longer := &shape{definitions: append(slices.Clip(s.definitions), definition), index: map[string]int{}}
	for i, each := range longer.definitions {
		longer.index[each.ID] = i
	}
	if s.longer == nil {
		s.longer = map[string]*shape{}
	}
	s.longer[definition.ID] = longer
	return longer, true
}

// Kind returns the kind of the element.
func (e *Element) Kind() Kind { return e.kind }

// ID returns the id, unique among the elements of the kind in the resource manager.
func (e *Element) ID() string { return e.id }

// Parent returns the id of the element that this one belongs to: of a queue or machine
// its resource manager, of a node its machine, of a job its queue, of a process its job.
func (e *Element) Parent() string { return e.parent }

// Revision returns the revision of the model that this version came with.
func (e *Element) Revision() uint64 { return e.revision }

// Name returns the name, and the id of an element that was given none.
func (e *Element) Name() string {
	if name, given := e.given(vocabulary.AttributeName); given && name != "" {
		return name
	}
	return e.id
}

// State returns the state, of an element that was given none the default of its
// kind.
func (e *Element) State() State {
	value, _ := e.Value(e.kind.StateAttribute())
	return State(value.Text())
}

// Value returns the value of an attribute: the one it was given, else the default
// of a predefined attribute of its kind. It reports false for every other id.
func (e *Element) Value(attribute string) (Value, bool) {
	if attribute == vocabulary.AttributeID {
		return Value{String, e.id}, true
	}
	if at, given := e.shape.index[attribute]; given {
		return Value{e.shape.definitions[at].Type, e.values[at]}, true
	}
	for _, definitions := range [][]*Definition{predefinedOf()[e.kind], common()} {
		for _, definition := range definitions {
			if definition.ID == attribute {
				return definition.defaultValue(), true
			}
		}
	}
	return Value{}, false
}

// Attributes yields the attributes that the element was given, with their
// definitions, in the order in which it got them.
func (e *Element) Attributes() iter.Seq2[*Definition, Value] {
	return func(yield func(*Definition, Value) bool) {
		for i, definition := range e.shape.definitions {
			if !yield(definition, Value{definition.Type, e.values[i]}) {
				return
			}
		}
	}
}

// given returns the text of an attribute that the element was given.
func (e *Element) given(attribute string) (string, bool) {
	at, given := e.shape.index[attribute]
	if !given {
		return "", false
	}
	return e.values[at], true
}

// compareIDs orders ids as people expect: numbers in them by their value.
func compareIDs(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if !isDigit(a[i]) || !isDigit(b[j]) {
			if a[i] != b[j] {
				return int(a[i]) - int(b[j])
			}
			i, j = i+1, j+1
			continue
		}
		numberA, numberB := number(a[i:]), number(b[j:])
		i, j = i+len(numberA), j+len(numberB)
		numberA, numberB = strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
		if len(numberA) != len(numberB) {
			return len(numberA) - len(numberB)
		}
		if order := strings.Compare(numberA, numberB); order != 0 {
			return order
		}
	}
	if i < len(a) || j < len(b) {
		return (len(a) - i) - (len(b) - j)
	}
	return strings.Compare(a, b)
}

// number returns the digits that text begins with.
func number(text string) string {
	end := 0
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	return text[:end]
}

func isDigit(char byte) bool { return '0' <= char && char <= '9' }
