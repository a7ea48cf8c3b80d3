package schemas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/wording"
)

// An automaton recognises the children that a content model allows: Glushkov's
// construction. Its states are 0, the beginning, and one for each place of the
// model that a child can take; XSD demands that a child's name settles which.
type automaton struct {
	states []automatonState
}

type automatonState struct {
	element   *elementDeclaration // what took the place; nil in state 0 and of wildcards
	wildcard  *wildcard
	follow    []int // the places that come next, ascending
	accepting bool  // whether the children may end here
	bySymbol  map[string]int
}

// maxStates bounds the automaton of one type.
const maxStates = 1000

// finish ends the construction: the automaton recognises one fragment of it.
func (a *automaton) finish(whole fragment) error {
	if len(a.states) > maxStates {
		return fmt.Errorf("more than %d places", maxStates)
	}
	a.states[0].follow = whole.first
	a.states[0].accepting = whole.nullable
	for _, last := range whole.last {
		a.states[last].accepting = true
	}
	for i := range a.states {
		if err := a.index(&a.states[i]); err != nil {
			return err
		}
	}
	return nil
}

// index prepares a state for lookups and makes sure that no child fits two places.
func (a *automaton) index(s *automatonState) error {
	slices.Sort(s.follow)
	s.follow = slices.Compact(s.follow)
	s.bySymbol = make(map[string]int, len(s.follow))
	wildcards := 0
	for _, next := range s.follow {
		place := &a.states[next]
		if place.wildcard != nil {
			wildcards++
			continue
		}
		if _, taken := s.bySymbol[place.element.symbol]; taken {
			return fmt.Errorf("%q fits two places", place.element.symbol)
		}
		s.bySymbol[place.element.symbol] = next
	}
	for _, next := range s.follow {
		w := a.states[next].wildcard
		if wildcards > 1 || w != nil && w.any && len(s.follow) > 1 {
			return fmt.Errorf("a wildcard overlaps with its neighbours")
		}
	}
	return nil
}

// A fragment is a part of the automaton under construction.
type fragment struct {
	first, last []int
	nullable    bool
}

func (a *automaton) addPlace(state automatonState) fragment {
	place := len(a.states)
	a.states = append(a.states, state)
	return fragment{first: []int{place}, last: []int{place}}
}

// unbounded stands for any number of repetitions.
const unbounded = -1

// repeat adds a fragment so often. Optional repetitions are nested, so that each is
// reached only through the one before it.
func (a *automaton) repeat(add func() fragment, least, most int) fragment {
	if most == 0 {
		return fragment{nullable: true}
	}
	head := add()
	switch {
	case most == unbounded && least <= 1:
		a.connect(head.last, head.first)
	case most == unbounded:
		head = a.concatenate(head, a.repeat(add, least-1, most))
	default:
		head = a.concatenate(head, a.repeat(add, max(least-1, 0), most-1))
	}
	head.nullable = head.nullable || least == 0
	return head
}

func (a *automaton) concatenate(left, right fragment) fragment {
	a.connect(left.last, right.first)
	whole := fragment{first: slices.Clone(left.first), last: slices.Clone(right.last), nullable: left.nullable && right.nullable}
	if left.nullable {
		whole.first = append(whole.first, right.first...)
	}
	if right.nullable {
		whole.last = append(whole.last, left.last...)
	}
	return whole
}

func (a *automaton) connect(from, to []int) {
	for _, place := range from {
		a.states[place].follow = append(a.states[place].follow, to...)
	}
}

// next returns the place that a child takes after a state.
func (a *automaton) next(state int, symbol string) (place int, ok bool) {
	s := &a.states[state]
	if place, ok := s.bySymbol[symbol]; ok {
		return place, true
	}
	for _, place := range s.follow {
		if w := a.states[place].wildcard; w != nil && w.matches(symbol) {
			return place, true
		}
	}
	return 0, false
}

// accept returns the place of every child if the children are in order.
func (a *automaton) accept(symbols []string) (places []int, ok bool) {
	places = make([]int, len(symbols))
	state := 0
	for i, symbol := range symbols {
		if state, ok = a.next(state, symbol); !ok {
			return nil, false
		}
		places[i] = state
	}
	return places, a.states[state].accepting
}

// declarations returns the elements of the model, each once, in its order.
func (a *automaton) declarations() []*elementDeclaration {
	var found []*elementDeclaration
	for _, s := range a.states {
		if s.element != nil && !slices.ContainsFunc(found, func(d *elementDeclaration) bool { return d.symbol == s.element.symbol }) {
			found = append(found, s.element)
		}
	}
	return found
}

func (a *automaton) declaration(symbol string) *elementDeclaration {
	for _, s := range a.states {
		if s.element != nil && s.element.symbol == symbol {
			return s.element
		}
	}
	return nil
}

// expected names what may come after a state, for messages.
func (a *automaton) expected(state int) []string {
	var names []string
	for _, place := range a.states[state].follow {
		if e := a.states[place].element; e != nil {
			names = append(names, e.symbol)
		}
	}
	return names
}

// oneOf joins names for a message, so many that it stays readable.
func oneOf(names []string) string {
	const shown = 8
	quoted := make([]string, 0, len(names))
	for _, name := range names[:min(len(names), shown)] {
		quoted = append(quoted, wording.Quote(name))
	}
	switch {
	case len(names) > shown:
		return "one of " + strings.Join(quoted, ", ") + ", …"
	case len(names) > 1:
		return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
	}
	return strings.Join(quoted, "")
}
