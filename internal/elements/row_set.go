package elements

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/sorting"
)

// A RowSet puts those rows of a listing together that have one id: of a fact that
// several have the last counts. The zero value is ready for use.
type RowSet struct {
	rows   []command.Row
	places map[string]int // by ids
}

// Add adds a row. The error is nil; it is there for listings, which end where it is not.
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

// byName returns rows in the order of their names, in which numbers count as such.
func byName(rows []command.Row) []command.Row {
	sorted := slices.Clone(rows)
	sorting.Stable(sorted, func(a, b command.Row) int {
		return cmp.Or(sorting.CompareNumbered(a.ID, b.ID), strings.Compare(a.ID, b.ID))
	})
	return sorted
}
