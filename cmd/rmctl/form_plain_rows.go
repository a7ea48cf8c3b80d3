package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/form"
)

// manyRows is from how many rows on a table is asked for as a whole.
const manyRows = 12

// row asks whether an attribute of a table is to be used, and then for its value.
func (q *questioner) row(e entry, page *form.Page) error {
	use := e.On
	if rows := q.rowsBeside(e, page); len(rows) < manyRows {
		var err error
		if use, err = q.yes(fmt.Sprintf("Use %s%s?", oneLine(e.Label), parenthesised(e.Hint)), e.On); err != nil {
			return err
		}
		q.form.Check(e.Field, use)
		e.Hint = ""
	} else if !q.chosen[e.Viewer()] {
		q.chosen[e.Viewer()] = true
		if err := q.chooseRows(rows); err != nil {
			return err
		}
		for _, row := range q.rowsBeside(e, page) {
			if row.same(e) {
				e = row
			}
		}
		use = e.On
	}
	if !use || e.Fixed {
		return nil
	}
	return q.value(e)
}

// rowsBeside returns the rows of the table that one is of.
func (q *questioner) rowsBeside(e entry, page *form.Page) []entry {
	return slices.DeleteFunc(q.entries(page), func(other entry) bool { return other.Kind != form.Row || other.Viewer() != e.Viewer() })
}

// chooseRows asks which rows of a long table are to be used.
func (q *questioner) chooseRows(rows []entry) error {
	var used []string
	for _, row := range rows {
		q.say("  %s%s\n", oneLine(row.Label), parenthesised(row.Hint))
		if row.On {
			used = append(used, row.Label)
		}
	}
	for {
		answer, err := q.answer(fmt.Sprintf("Which of them, separated by blanks? [%s]:", oneLine(strings.Join(used, " "))))
		if err != nil || answer == "" {
			return err
		}
		wanted := strings.Fields(strings.TrimPrefix(answer, "-"))
		unknown := slices.IndexFunc(wanted, func(name string) bool {
			return !slices.ContainsFunc(rows, func(row entry) bool { return row.Label == name })
		})
		if unknown >= 0 {
			q.say("! there is no %q\n", wanted[unknown])
			continue
		}
		for _, row := range rows {
			q.form.Check(row.Field, slices.Contains(wanted, row.Label))
		}
		return nil
	}
}
