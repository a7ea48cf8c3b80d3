package model

import "iter"

// A Change is an element in two versions.
type Change struct {
	Before *Element // nil for a new element
	After  *Element // nil for a removed element
}

// Attributes returns the ids of the attributes that differ, including those that only
// one version has: all of a new element, none of a removed one.
func (c Change) Attributes() []string {
	if c.After == nil {
		return nil
	}
	var ids []string
	for i, definition := range c.After.shape.definitions {
		if c.Before != nil {
			if before, given := c.Before.given(definition.ID); given && before == c.After.values[i] {
				continue
			}
		}
		ids = append(ids, definition.ID)
	}
	if c.Before == nil {
		return ids
	}
	for _, definition := range c.Before.shape.definitions {
		if _, given := c.After.given(definition.ID); !given {
			ids = append(ids, definition.ID)
		}
	}
	return ids
}

// Changes yields the differences between the elements of a kind in an earlier snapshot and in this one,
// in the order of their ids. Without an earlier manager all elements are new. Pages shared by both
// snapshots are skipped.
func (m *Manager) Changes(kind Kind, earlier *Manager) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		var before cursor
		if earlier != nil {
			before.pages = earlier.elements(kind).pages
		}
		after := cursor{pages: m.elements(kind).pages}
		for before.skipShared(&after); !before.atEnd() || !after.atEnd(); before.skipShared(&after) {
			change := Change{before.element(), after.element()}
			switch order := compareChange(change); {
			case order < 0:
				change.After = nil
				before.next()
			case order > 0:
				change.Before = nil
				after.next()
			default:
				before.next()
				after.next()
			}
			if change.Before != change.After && !yield(change) {
				return
			}
		}
	}
}

// compareChange orders the next elements of two tables. An exhausted table comes last.
func compareChange(c Change) int {
	switch {
	case c.After == nil:
		return -1
	case c.Before == nil:
		return 1
	default:
		return byID(c.Before, c.After)
	}
}

// A cursor walks over the elements of a table.
type cursor struct {
	pages []*page // from the current one on
	at    int     // in the current page
}

func (c *cursor) atEnd() bool { return len(c.pages) == 0 }

// element returns the current element, nil at the end.
func (c *cursor) element() *Element {
	if c.atEnd() {
		return nil
	}
	return c.pages[0].elements[c.at]
}

func (c *cursor) next() {
	c.at++
	if c.at == len(c.pages[0].elements) {
		c.pages, c.at = c.pages[1:], 0
	}
}

// skipShared moves both cursors past the pages that both tables share.
func (c *cursor) skipShared(other *cursor) {
	for c.at == 0 && other.at == 0 && !c.atEnd() && !other.atEnd() && c.pages[0] == other.pages[0] {
		c.pages, other.pages = c.pages[1:], other.pages[1:]
	}
}
