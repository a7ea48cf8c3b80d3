package fill

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/tui"
)

// value asks for a value until it is accepted.
func (q *questioner) value(e entry) error {
	for i, item := range e.offered() {
		q.say("  %d  %s\n", i+1, tui.OneLine(item))
	}
	shown := e.shown()
	if e.isSwitch() {
		shown = yesOrNo(e.switchedOn())
	}
	return q.until(fmt.Sprintf("%s [%s]:", described(e), tui.OneLine(shown)), func(answer string) error {
		if answer == "-" && e.own == nil && e.Default != "" {
			q.form.Clear(e.Field) // an empty text would leave its default
			return nil
		}
		text, err := e.answered(answer)
		if err == nil {
			err = q.set(e, text, q.stat(q.ctx))
		}
		if err != nil {
			q.form.Forget(e.Field)
		}
		return err
	})
}

// described is the label of an entry with its hint.
func described(e entry) string {
	if e.Hint == "" {
		return tui.OneLine(e.Label)
	}
	return tui.OneLine(e.Label) + " (" + tui.OneLine(e.Hint) + ")"
}

func reason(err error) string {
	var invalid *attribute.InvalidError
	if errors.As(err, &invalid) {
		return invalid.Reason
	}
	return err.Error()
}

// answered returns what an answer sets an entry to.
func (e entry) answered(answer string) (string, error) {
	switch {
	case answer == "-":
		return "", nil
	case e.isSwitch():
		switch strings.ToLower(answer) {
		case "y", "yes", "true", "on":
			return "true", nil
		case "n", "no", "false", "off":
			return "false", nil
		}
		return "", errYesOrNo
	}
	offered := e.offered()
	if at := slices.IndexFunc(offered, func(item string) bool { return strings.TrimSpace(item) == answer }); at >= 0 {
		return offered[at], nil
	}
	if number, err := strconv.Atoi(answer); err == nil && number >= 1 && number <= len(offered) {
		return offered[number-1], nil
	}
	return answer, nil
}

// offered returns the items that are not empty.
func (e entry) offered() []string {
	return slices.DeleteFunc(slices.Clone(e.Items), func(item string) bool { return item == "" })
}

// manyRows is the number of rows from which on one question chooses them all.
const manyRows = 12

// row asks whether to use an attribute of a table, and then for its value.
func (q *questioner) row(e entry, page *form.Page) error {
	rows := slices.DeleteFunc(q.entries(page), func(other entry) bool { return other.Kind != form.Row || other.Viewer() != e.Viewer() })
	if len(rows) < manyRows {
		use, err := q.yes(fmt.Sprintf("Use %s?", described(e)), e.On)
		if err != nil {
			return err
		}
		q.form.Check(e.Field, use)
		e.On, e.Hint = use, ""
	} else if !q.chosen[e.Viewer()] {
		q.chosen[e.Viewer()] = true
		if err := q.chooseRows(rows); err != nil {
			return err
		}
		e, _ = q.current(page, e)
	}
	if !e.On || e.Fixed {
		return nil
	}
	return q.value(e)
}

// chooseRows asks which rows of a long table to use.
func (q *questioner) chooseRows(rows []entry) error {
	var used []string
	for _, row := range rows {
		q.say("  %s\n", described(row))
		if row.On {
			used = append(used, row.Label)
		}
	}
	return q.until(fmt.Sprintf("Choose some, separated by blanks [%s]:", tui.OneLine(strings.Join(used, " "))), func(answer string) error {
		wanted := strings.Fields(strings.TrimPrefix(answer, "-"))
		for _, name := range wanted {
			if !slices.ContainsFunc(rows, func(row entry) bool { return row.Label == name }) {
				return fmt.Errorf("unknown choice %q", name)
			}
		}
		for _, row := range rows {
			q.form.Check(row.Field, slices.Contains(wanted, row.Label))
		}
		return nil
	})
}
