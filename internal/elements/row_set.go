package elements

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/sorting"
)

// A RowSet merges rows of a listing with the same id. If several rows have a fact, the last one wins. The
// zero value is ready to use.
type RowSet struct {
	rows   []command.Row
	places map[string]int // by ids
}

// Add adds a row. It always returns nil; the result makes it usable as a callback for listings.
func (s *RowSet) Add(row command.Row) error {
	if at, isListed := s.places[row.ID]; isListed {
		s.rows[at].Facts = s.rows[at].Facts.With(row.Facts)
		return nil
	}
	if s.places == nil {
		s.places = map[string]int{}
	}
	s.places[row.ID] = len(s.rows)
	s.rows = append(s.rows, row)
	return nil
}

// Rows returns a row for each id, in the order in which the ids came first.
func (s *RowSet) Rows() []command.Row { return s.rows }

// byName returns rows sorted by name, with numbers in names in numeric order.
func byName(rows []command.Row) []command.Row {
	sorted := slices.Clone(rows)
	sorting.Stable(sorted, func(a, b command.Row) int {
		return cmp.Or(sorting.CompareNumbered(a.ID, b.ID), strings.Compare(a.ID, b.ID))
	})
	return sorted
}
