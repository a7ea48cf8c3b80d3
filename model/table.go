package model

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
)

// pageElements bounds the elements of a page: large enough that a million elements need only a few
// thousand pages, small enough that copying a page to change one element is cheap.
const pageElements = 256

// A table is a sorted list of elements in pages. A copy of a table, taken with
// [table.frozen], never changes: the writer copies a page before the first change
// after that. Its zero value needs an order.
type table struct {
	order      func(a, b *Element) int
	pages      []*page // not empty
	length     int
	generation uint64 // pages of an older one belong to frozen copies, too
	shared     bool   // the list of pages belongs to a frozen copy, too
}

type page struct {
	elements   []*Element
	generation uint64
}

func byID(a, b *Element) int { return compareIDs(a.id, b.id) }

func byParent(a, b *Element) int {
	return cmp.Or(strings.Compare(a.parent, b.parent), compareIDs(a.id, b.id))
}

func byNode(a, b *Element) int {
	return cmp.Or(strings.Compare(a.node(), b.node()), compareIDs(a.id, b.id))
}

// node returns the id of the node that a process runs on.
func (e *Element) node() string {
	node, _ := e.given(vocabulary.AttributeProcessNodeID)
	return node
}

// frozen returns a copy that does not change while the table does.
func (t *table) frozen() table {
	t.generation++
	t.shared = true
	return table{order: t.order, pages: t.pages, length: t.length}
}

// find returns the position of probe, or where to insert it.
func (t *table) find(probe *Element) (pageAt, at int, found bool) {
	if last := len(t.pages) - 1; last >= 0 { // schedulers mostly list in the order of ids
		elements := t.pages[last].elements
		if t.order(elements[len(elements)-1], probe) < 0 {
			return len(t.pages), 0, false
		}
	}
	pageAt = sort.Search(len(t.pages), func(i int) bool {
		elements := t.pages[i].elements
		return t.order(elements[len(elements)-1], probe) >= 0
	})
	if pageAt == len(t.pages) {
		return pageAt, 0, false
	}
	at, found = slices.BinarySearchFunc(t.pages[pageAt].elements, probe, t.order)
	return pageAt, at, found
}

func (t *table) get(probe *Element) (*Element, bool) {
	pageAt, at, found := t.find(probe)
	if !found {
		return nil, false
	}
	return t.pages[pageAt].elements[at], true
}

// own copies the list of pages and one page if frozen copies share them.
func (t *table) own(pageAt int) *page {
	t.ownList()
	if mine := t.pages[pageAt]; mine.generation == t.generation {
		return mine
	}
	mine := &page{slices.Clone(t.pages[pageAt].elements), t.generation}
	t.pages[pageAt] = mine
	return mine
}

func (t *table) ownList() {
	if t.shared {
		t.pages = slices.Clone(t.pages)
		t.shared = false
	}
}

// store adds the element or replaces an equal one.
func (t *table) store(element *Element) {
	pageAt, at, found := t.find(element)
	if found {
		t.own(pageAt).elements[at] = element
		return
	}
	t.length++
	last := len(t.pages) - 1
	if pageAt > last && (last < 0 || len(t.pages[last].elements) >= pageElements) {
		t.ownList()
		t.pages = append(t.pages, &page{[]*Element{element}, t.generation})
		return
	}
	if pageAt > last {
		pageAt, at = last, len(t.pages[last].elements)
	}
	mine := t.own(pageAt)
	mine.elements = slices.Insert(mine.elements, at, element)
	if half := len(mine.elements) / 2; len(mine.elements) > pageElements {
		t.pages = slices.Insert(t.pages, pageAt+1, &page{slices.Clone(mine.elements[half:]), t.generation})
		mine.elements = slices.Clone(mine.elements[:half])
	}
}

// remove removes the element equal to probe.
func (t *table) remove(probe *Element) {
	pageAt, at, found := t.find(probe)
	if !found {
		return
	}
	t.length--
	mine := t.own(pageAt)
	mine.elements = slices.Delete(mine.elements, at, at+1)
	switch next := pageAt + 1; {
	case len(mine.elements) == 0:
		t.pages = slices.Delete(t.pages, pageAt, next)
	case next < len(t.pages) && len(mine.elements)+len(t.pages[next].elements) <= pageElements/2:
		mine.elements = append(mine.elements, t.pages[next].elements...)
		t.pages = slices.Delete(t.pages, next, next+1)
	}
}

// from yields the elements from probe on.
func (t *table) from(probe *Element) iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		pageAt, at, _ := t.find(probe)
		for ; pageAt < len(t.pages); pageAt, at = pageAt+1, 0 {
			for _, element := range t.pages[pageAt].elements[at:] {
				if !yield(element) {
					return
				}
			}
		}
	}
}
