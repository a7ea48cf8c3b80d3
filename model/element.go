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

// A shape is the list of attributes of an element. Elements with the same attributes in the same order
// share it, so each stores only its values.
type shape struct {
	definitions []*Definition
	index       map[string]int    // place of each id in definitions
	longer      map[string]*shape // with one more attribute; used only by the writer
}

// with returns the shape with one more attribute and reports whether it is new.
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

// Parent returns the id of the parent: the resource manager of a queue or machine, the machine of a node,
// the queue of a job, or the job of a process.
func (e *Element) Parent() string { return e.parent }

// Revision returns the revision of the model that this version came with.
func (e *Element) Revision() uint64 { return e.revision }

// Name returns the name, or the id of an element without a name.
func (e *Element) Name() string {
	if name, given := e.given(vocabulary.AttributeName); given && name != "" {
		return name
	}
	return e.id
}

// State returns the state, or the default of the kind for an element without one.
func (e *Element) State() State {
	value, _ := e.Value(e.kind.StateAttribute())
	return State(value.Text())
}

// Value returns the value of an attribute, or the default of a predefined attribute of the kind. It
// reports false for other ids.
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

// Attributes yields the attributes of the element with their definitions, in the order in which they were
// set.
func (e *Element) Attributes() iter.Seq2[*Definition, Value] {
	return func(yield func(*Definition, Value) bool) {
		for i, definition := range e.shape.definitions {
			if !yield(definition, Value{definition.Type, e.values[i]}) {
				return
			}
		}
	}
}

// given returns the text of an attribute that was set.
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

// number returns the leading digits of text.
func number(text string) string {
	end := 0
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	return text[:end]
}

func isDigit(char byte) bool { return '0' <= char && char <= '9' }
