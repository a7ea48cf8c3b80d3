package reader

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// A stateTable finds the state that stands for a scheduler's word.
type stateTable struct {
	word  *expression
	split string
	rows  []*stateRow
}

type stateRow struct {
	*config.StateRow
	matches *regexp.Regexp // nil for none
	test    *expression

	// ofCanceled says that the test asks whether rmctl canceled the job, which a listing of
	// many jobs does not know.
	ofCanceled bool
}

// newStateTable compiles a table; it is nil where records have no states.
func newStateTable(definition *config.States) (*stateTable, error) {
	if definition == nil {
		return nil, nil
	}
	table := &stateTable{word: newExpression(definition.Of), split: definition.Split}
	for _, defined := range definition.Rows {
		row := &stateRow{StateRow: defined, test: newExpression(defined.Test), ofCanceled: strings.Contains(defined.Test.Text, canceledName)}
		var err error
		if row.matches, err = compileWhole(defined.Matches); err != nil {
			return nil, err
		}
		table.rows = append(table.rows, row)
	}
	return table, nil
}

// A state is what a record says about the state of its element.
type state struct {
	word string           // of the scheduler
	row  *config.StateRow // nil if no row has the word
}

// canceledName is how conditions refer to whether rmctl canceled the job.
const canceledName = "@" + canceledAttribute

// canceledAttribute exists, and is true, of a job that rmctl canceled.
const canceledAttribute = "job.canceled"

// stateOf returns the state of a record: that of the first row that fits. Of a listing a row
// says nothing more than that the job is there where that depends on who canceled it.
func (t *stateTable) stateOf(on *evaluation, isOfListing bool) (state, error) {
	if t == nil {
		return state{}, nil
	}
	word, err := t.word.text(on)
	if err != nil {
		return state{}, err
	}
	words := []string{word}
	if t.split != "" {
		words = strings.Split(word, t.split)
	}
	asks := false
	for _, row := range t.rows {
		if !slices.ContainsFunc(words, row.has) {
			continue
		}
		asks = asks || isOfListing && row.ofCanceled
		holds, err := row.test.isTrue(on)
		if err != nil {
			return state{}, err
		}
		switch {
		case !holds:
		case asks:
			asking := *row.StateRow
			asking.Ask = true
			return state{word, &asking}, nil
		default:
			return state{word, row.StateRow}, nil
		}
	}
	return state{word: word}, nil
}

// has reports whether a row is about a word.
func (r *stateRow) has(word string) bool {
	if r.matches != nil {
		return r.matches.MatchString(word)
	}
	return len(r.Words) == 0 || slices.Contains(r.Words, word)
}

// yields reports whether another record of the same job counts in place of one in this state.
func (s state) yields() bool { return s.row != nil && s.row.Yields }

// detail returns the state of a job; Undetermined for one that is not understood.
func (s state) detail() job.Detail {
	if s.row == nil {
		return job.Undetermined
	}
	detail, _ := job.ParseDetail(s.row.Is)
	return detail
}
