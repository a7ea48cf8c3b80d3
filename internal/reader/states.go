package reader

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// A stateTable maps the scheduler's words to states.
type stateTable struct {
	word  *expression
	split string
	rows  []*stateRow
}

type stateRow struct {
	*config.StateRow
	matches *regexp.Regexp // may be nil
	test    *expression

	// ofCanceled says that the test depends on whether rmctl canceled the job. A listing of many jobs
	// does not know that.
	ofCanceled bool
}

// newStateTable compiles a table; it is nil if records have no states.
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

// A state is the state of an element according to a record.
type state struct {
	word string           // of the scheduler
	row  *config.StateRow // nil if no row matches
}

// canceledName is the attribute in conditions that says whether rmctl canceled the job.
const canceledName = "@" + canceledAttribute

// canceledAttribute exists, and is true, of a job that rmctl canceled.
const canceledAttribute = "job.canceled"

// stateOf returns the state of a record from the first row that matches. In a listing, a row that depends
// on who canceled the job proves only that the job exists.
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

// has reports whether a row matches a word.
func (r *stateRow) has(word string) bool {
	if r.matches != nil {
		return r.matches.MatchString(word)
	}
	return len(r.Words) == 0 || slices.Contains(r.Words, word)
}

// yields reports whether another record of the same job takes precedence over this state.
func (s state) yields() bool { return s.row != nil && s.row.Yields }

// detail returns the state of a job, Undetermined if it is unknown.
func (s state) detail() job.Detail {
	if s.row == nil {
		return job.Undetermined
	}
	detail, _ := job.ParseDetail(s.row.Is)
	return detail
}
