package command

// A RowSet puts those rows of a listing together that have one id: of a fact that
// several tell the last counts. The zero value is ready for use.
type RowSet struct {
	rows   []Row
	places map[string]int // by ids
}

// Add takes a row; the error is nil.
func (s *RowSet) Add(row Row) error {
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
func (s *RowSet) Rows() []Row { return s.rows }
