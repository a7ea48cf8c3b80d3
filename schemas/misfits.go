package schemas

import (
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// misfits explains why the children of an element are not what they may be.
type misfits struct {
	*validation
	parent      *xmltree.Element
	declaration *elementDeclaration
	children    []*xmltree.Element
	symbols     []string
	repairs     []repair

	// The children as they should be, in order: their symbols, and their indices, of
	// the next one where an element is missing.
	kept     []string
	keptFrom []int
}

// repaired reports what must change about the children and goes on into those
// that are fine, or would be under another name.
func (v *validation) repaired(m *misfits) {
	m.setStrayExtensionsAside()
	content := m.declaration.content
	m.repairs = content.repair(m.symbols, m.looksLike)
	for _, r := range m.repairs {
		if r.operation == surplus {
			continue
		}
		m.keptFrom = append(m.keptFrom, r.child)
		if element := content.states[r.place].element; element != nil {
			m.kept = append(m.kept, element.symbol)
		} else {
			m.kept = append(m.kept, m.symbols[r.child])
		}
	}
	counts := map[string]int{}
	for i, r := range m.repairs {
		if v.full() {
			return
		}
		switch r.operation {
		case matched:
			v.placed(m.children[r.child], m.symbols[r.child], m.declaration, r.place, counts)
		case renamed:
			m.misspelled(m.children[r.child], m.symbols[r.child], m.declaration.content.states[r.place].element)
		case replaced:
			m.replaced(r)
		case surplus:
			m.surplus(r)
		case missing:
			m.missing(r, m.repairs[i+1:])
		}
	}
}

// setStrayExtensionsAside reports the extensions that have no place in the
// parent: the wildcard would take them, and what is out of order because of them
// would be reported instead.
func (m *misfits) setStrayExtensionsAside() {
	children, symbols := m.children, m.symbols
	m.children, m.symbols = nil, nil
	for i, child := range children {
		declaration := m.set.elements[symbols[i]]
		isExtension := child.Space == xmltree.ExtensionNamespace
		switch {
		case isExtension && declaration == nil:
			m.unknownExtension(child, symbols[i], m.declaration)
		case isExtension && !slices.Contains(declaration.within, m.declaration.symbol):
			m.misfit(child, symbols[i], m.declaration, "")
			m.element(child, declaration)
		default:
			m.children = append(m.children, child)
			m.symbols = append(m.symbols, symbols[i])
		}
	}
}

// knows reports whether a child of this name may stand somewhere in the model.
func (a *automaton) knows(symbol string) bool {
	for _, s := range a.states[1:] {
		if s.element != nil && s.element.symbol == symbol || s.wildcard != nil && s.wildcard.matches(symbol) {
			return true
		}
	}
	return false
}

// looksLike reports whether an element was most likely meant to be another one.
// One that belongs elsewhere in the format must resemble the other more.
func (m *misfits) looksLike(symbol, meant string) bool {
	distance, similar := wording.Distance(symbol, meant)
	return similar && (distance <= 1 || m.set.parents[symbol] == nil)
}

// misspelled reports an element that was most likely meant to be another one,
// and checks it as that.
func (m *misfits) misspelled(child *xmltree.Element, symbol string, meant *elementDeclaration) {
	if m.set.parents[symbol] == nil {
		m.report(child.Position(), unknownElement, meant.symbol, "%s is not an element of the format", wording.Quote(symbol))
	} else {
		m.report(child.Position(), misplacedElement, meant.symbol, "%s is not allowed in %s",
			wording.Quote(symbol), wording.Quote(m.declaration.symbol))
	}
	m.element(child, meant)
}

func (m *misfits) replaced(r repair) {
	m.misfit(m.children[r.child], m.symbols[r.child], m.declaration,
		"expected here: "+oneOf(m.declaration.content.expected(r.before)))
}

func (m *misfits) missing(r repair, later []repair) {
	content := m.declaration.content
	following := -1
	for _, next := range later {
		if next.operation != surplus {
			following = next.place
			break
		}
	}
	var alternatives []string
	for _, place := range content.states[r.before].follow {
		s := &content.states[place]
		fits := following >= 0 && slices.Contains(s.follow, following) || following < 0 && s.accepting
		if s.element != nil && fits {
			alternatives = append(alternatives, s.element.symbol)
		}
	}
	where := ""
	if following >= 0 && r.child < len(m.children) {
		where = fmt.Sprintf(" before %s on %s", wording.Quote(m.symbols[r.child]), m.line(m.children[r.child]))
	}
	m.report(m.parent.Position(), missingElement, "", "%s requires %s%s",
		wording.Quote(m.declaration.symbol), oneOf(alternatives), where)
}

// surplus reports a child that must go, and why.
func (m *misfits) surplus(r repair) {
	child, symbol := m.children[r.child], m.symbols[r.child]
	content := m.declaration.content
	if !content.knows(symbol) {
		meant := content.declaration(wording.Nearest(symbol, names(content.declarations())))
		if meant != nil && m.looksLike(symbol, meant.symbol) {
			m.misspelled(child, symbol, meant)
			return
		}
		expectation := "nothing can follow"
		if expected := content.expected(r.before); len(expected) > 0 {
			expectation = "expected here: " + oneOf(expected)
		}
		if len(content.states) == 1 {
			expectation = wording.Quote(m.declaration.symbol) + " contains no elements"
		}
		m.misfit(child, symbol, m.declaration, expectation)
		return
	}
	declaration := content.declaration(symbol)
	if declaration == nil {
		declaration = m.set.elements[symbol]
	}
	code, reason := m.whySurplus(r.child)
	m.report(child.Position(), code, "", "%s %s", wording.Quote(symbol), reason)
	m.element(child, declaration)
}

// longestExplained bounds how many children are searched for a better place.
const longestExplained = 2000

// whySurplus says why a child that the model has a place for is not in it.
func (m *misfits) whySurplus(child int) (code, reason string) {
	symbol := m.symbols[child]
	if len(m.kept) > longestExplained {
		return misplacedElement, "is not allowed here"
	}
	if place, ok := m.whereFits(child, m.kept); ok {
		if place < m.keptBefore(child) {
			return misplacedElement, "must come before " + wording.Quote(m.kept[place])
		}
		return misplacedElement, "must come after " + wording.Quote(m.kept[place-1])
	}
	present, first := 0, (*xmltree.Element)(nil)
	for i, from := range m.keptFrom {
		if m.kept[i] == symbol && from < len(m.children) {
			if present++; present == 1 {
				first = m.children[from]
			}
		}
	}
	if present > 0 {
		return repeatedElement, fmt.Sprintf("is allowed here only %s; the first is on %s", times(present), m.line(first))
	}
	for i, other := range m.kept {
		if slices.Contains(m.kept[:i], other) {
			continue
		}
		without := slices.DeleteFunc(slices.Clone(m.kept), func(kept string) bool { return kept == other })
		if _, ok := m.whereFits(child, without); ok {
			return misplacedElement, "cannot occur together with " + wording.Quote(other)
		}
	}
	return misplacedElement, "is not allowed here"
}

// keptBefore counts the kept children in front of a child.
func (m *misfits) keptBefore(child int) int {
	count, _ := slices.BinarySearch(m.keptFrom, child)
	return count
}

// whereFits returns the index in a sequence at which a child would be in
// order; of several the one nearest to where it stands.
func (m *misfits) whereFits(child int, sequence []string) (place int, ok bool) {
	content := m.declaration.content
	states := make([]int, 1, len(sequence)+1)
	for _, symbol := range sequence {
		next, ok := content.next(states[len(states)-1], symbol)
		if !ok {
			break
		}
		states = append(states, next)
	}
	complete := len(states) == len(sequence)+1 && content.states[states[len(sequence)]].accepting
	here := m.keptBefore(child)
	for candidate, before := range states {
		if ok && distance(candidate, here) >= distance(place, here) {
			continue
		}
		state, fits := content.next(before, m.symbols[child])
		at := candidate
		for fits && at < len(sequence) && !(at+1 < len(states) && at > candidate && state == states[at]) {
			state, fits = content.next(state, sequence[at])
			at++
		}
		if !fits {
			continue
		}
		if at < len(sequence) {
			fits = complete // from here on the sequence goes on as without the child
		} else {
			fits = content.states[state].accepting
		}
		if fits {
			place, ok = candidate, true
		}
	}
	return place, ok
}

func names(declarations []*elementDeclaration) []string {
	symbols := make([]string, len(declarations))
	for i, declaration := range declarations {
		symbols[i] = declaration.symbol
	}
	return symbols
}

func distance(a, b int) int { return max(a-b, b-a) }

func times(number int) string {
	switch number {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", number)
}

// misfit reports an element in a parent that has no place for it: one that is
// unknown, or belongs somewhere else. detail says what is expected instead.
func (v *validation) misfit(child *xmltree.Element, symbol string, parent *elementDeclaration, detail string) {
	if detail != "" {
		detail = "; " + detail
	}
	owners := v.set.parents[symbol]
	if len(owners) == 0 && v.set.elements[symbol] == nil {
		v.report(child.Position(), unknownElement, "", "%s is not an element of the format%s", wording.Quote(symbol), detail)
		return
	}
	if len(owners) > 0 && !slices.Contains(owners, parent.symbol) {
		detail = "; it belongs in " + oneOf(owners)
	}
	v.report(child.Position(), misplacedElement, "", "%s is not allowed in %s%s",
		wording.Quote(symbol), wording.Quote(parent.symbol), detail)
}
