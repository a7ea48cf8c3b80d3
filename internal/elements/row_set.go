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
		return cmp.Or(compareNumbered(a.ID, b.ID), strings.Compare(a.ID, b.ID))
	})
	return sorted
}

// compareNumbered compares names in which numbers count as such: node2 comes
// before node10.
func compareNumbered(a, b string) int {
	for a != "" && b != "" {
		textA, digitsA, restA := cutNumber(a)
		textB, digitsB, restB := cutNumber(b)
		if textA != textB || digitsA == "" || digitsB == "" {
			return strings.Compare(a, b)
		}
		if order := len(digitsA) - len(digitsB); order != 0 {
			return order
		}
		if order := strings.Compare(digitsA, digitsB); order != 0 {
			return order
		}
		a, b = restA, restB
	}
	return len(a) - len(b)
}

// cutNumber cuts a text into what stands before its first number, the digits of
// that without leading zeros, and the rest. There are no digits where there is no number.
func cutNumber(text string) (before, digits, rest string) {
	begin := strings.IndexAny(text, "0123456789")
	if begin < 0 {
		return text, "", ""
	}
	end := begin
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	digits = strings.TrimLeft(text[begin:end], "0")
	if digits == "" {
		digits = "0"
	}
	return text[:begin], digits, text[end:]
}
