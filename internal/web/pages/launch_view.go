package pages

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/web/launch"
)

// A launchItem is a part of the form as the page draws it: a field, or a group
// or table of fields.
type launchItem struct {
	form.Field
	Widget  string // which template draws it: group, table, or one of the widgets of widgetOf
	DOM     string // the id of its element; empty for what has none
	Input   string // the name of its input
	Options []launchOption
	Help    string // a few words below the field
	Title   string // more about it, under the pointer
	Part    string // the class of an item beside others, in a row of twelve parts; empty for one with a row to itself

	Items   []launchItem // of a group, or the rows of a table
	Columns []string     // of a table, beside those that every table has
	Cells   []string     // of a row, one for each of these columns
}

// A launchOption is one item of a choice.
type launchOption struct {
	Text   string
	Shown  string // differs from the text where that is empty
	Chosen bool
}

// launchItems arranges the fields of a page in groups and tables.
func launchItems(f *form.Form, fields []form.Field) []launchItem {
	items, _ := launchGroup(f, fields, 0)
	return items
}

// What a row of the page has room for.
const (
	partsOfRow = 12
	mostBeside = 4
)

// setBeside says of the items of one container which stand beside each other, and how
// much of their row each takes.
func setBeside(items []launchItem) {
	for len(items) > 0 {
		row := items[:1]
		for len(row) < len(items) && row[0].Row != 0 && items[len(row)].Row == row[0].Row {
			row = items[:len(row)+1]
		}
		items = items[len(row):]
		if len(row) < 2 || len(row) > mostBeside {
			continue
		}
		columns := 0
		for _, each := range row {
			columns += each.Span
		}
		left := partsOfRow
		for i := range row {
			others := len(row) - 1 - i // which need a part each
			parts := min(max(1, (partsOfRow*row[i].Span+columns/2)/columns), left-others)
			if others == 0 {
				parts = left
			}
			left -= parts
			row[i].Part = fmt.Sprintf(" launch-part launch-part-%d", parts)
			if i == 0 {
				row[i].Part += " launch-first"
			}
		}
	}
}

// launchGroup arranges the fields that stand under depth headings, and returns
// the others after them.
func launchGroup(f *form.Form, fields []form.Field, depth int) (items []launchItem, rest []form.Field) {
	for len(fields) > 0 && fields[0].Depth >= depth {
		field := fields[0]
		switch field.Kind {
		case form.Heading:
			group := launchItem{Field: field, Widget: "group"}
			group.Items, fields = launchGroup(f, fields[1:], field.Depth+1)
			if len(group.Items) == 1 && group.Items[0].Widget == "table" {
				group.Items[0].Label, group.Items[0].Row, group.Items[0].Span = field.Label, field.Row, field.Span
				group = group.Items[0]
			}
			items = append(items, group)
		case form.Row:
			count := slices.IndexFunc(fields, func(other form.Field) bool { return other.Viewer() != field.Viewer() })
			if count < 0 {
				count = len(fields)
			}
			items = append(items, launchTable(f, fields[:count]))
			fields = fields[count:]
		default:
			items = append(items, launchField(field))
			fields = fields[1:]
		}
	}
	setBeside(items)
	return items, fields
}

// launchTable makes a table of the rows of one viewer.
func launchTable(f *form.Form, rows []form.Field) launchItem {
	table := launchItem{Field: form.Field{Depth: rows[0].Depth}, Widget: "table", DOM: "t-" + domOf(strings.TrimSuffix(rows[0].ID, rows[0].Name))}
	for _, column := range rows[0].Viewer().Columns {
		if slices.Contains([]string{"Type", "Status", "Default"}, column) {
			table.Columns = append(table.Columns, column)
		}
	}
	for _, row := range rows {
		item := launchField(row)
		a := f.Environment().Lookup(row.Name)
		for _, column := range table.Columns {
			item.Cells = append(item.Cells, a.Text(columnFields[column]))
		}
		table.Items = append(table.Items, item)
	}
	return table
}

var columnFields = map[string]attribute.Field{
	"Type": attribute.FieldType, "Status": attribute.FieldStatus, "Default": attribute.FieldDefault,
}

// domOf returns an id of an element for an ID of a field: references to ids are
// lists with blanks between them.
func domOf(id string) string { return url.PathEscape(id) }

// launchField draws one field.
func launchField(field form.Field) launchItem {
	item := launchItem{Field: field, Widget: widgetOf(field)}
	if field.ID != "" {
		item.DOM, item.Input = "f-"+domOf(field.ID), launch.ValueInput+field.ID
	}
	item.Help = field.Hint
	if bounds := boundsOf(field); field.Kind == form.Number && !strings.Contains(field.Hint, bounds) {
		item.Help = strings.TrimPrefix(field.Hint+" · "+bounds, " · ")
	}
	if field.Kind != form.Row { // whose tooltip holds its columns
		item.Title = field.Tooltip
	}
	if item.Help == "" {
		item.Help, item.Title = item.Title, ""
	}
	if isChoice(item.Widget) {
		item.Options = optionsOf(field, item.Widget)
	}
	return item
}

func isChoice(widget string) bool {
	return widget == "select" || widget == "radio" || widget == "combo"
}

// widgetOf returns which template draws a field.
func widgetOf(field form.Field) string {
	isSwitch := field.Kind == form.Switch || field.Kind == form.Row && field.Editor == form.SwitchEditor
	switch {
	case field.Kind == form.Note, field.Kind == form.Computed, field.Kind == form.Button:
		return string(field.Kind)
	case isSwitch:
		return "switch"
	case field.Group() != nil:
		return "radio"
	case len(field.Items) > 0 && !field.Open:
		return "select"
	case field.Kind == form.Lines, strings.ContainsAny(field.Text, "\r\n"): // which an input of one line would lose
		return "lines"
	case len(field.Items) > 0:
		return "combo"
	case field.Kind == form.Path, field.Kind == form.Number:
		return string(field.Kind)
	}
	return "text"
}

// optionsOf returns the items of a choice and its value, which need not be one of
// them.
func optionsOf(field form.Field, widget string) []launchOption {
	var options []launchOption
	add := func(text string) {
		shown := text
		if strings.TrimSpace(text) == "" {
			shown = "(nothing)"
		}
		options = append(options, launchOption{Text: text, Shown: shown, Chosen: text == field.Text})
	}
	if widget != "combo" && !slices.Contains(field.Items, field.Text) {
		add(field.Text)
	}
	for _, item := range field.Items {
		if widget != "combo" || item != "" {
			add(item)
		}
	}
	return options
}

// boundsOf describes the bounds of a number, if it has any.
func boundsOf(field form.Field) string {
	hasLeast, hasMost := field.Least != 0 && field.Least != math.MinInt32, field.Most != math.MaxInt32
	switch {
	case hasMost && field.Least != math.MinInt32:
		return fmt.Sprintf("%d to %d", field.Least, field.Most)
	case hasMost:
		return fmt.Sprintf("%d at most", field.Most)
	case hasLeast:
		return fmt.Sprintf("%d at least", field.Least)
	}
	return ""
}

// IsOff reports whether nothing can be done with the field now. The value of a
// row that is not checked is of no use.
func (i launchItem) IsOff() bool { return !i.Enabled || i.Kind == form.Row && !i.On }

// IsOn reports whether a switch is on; whether a row is checked is in On.
func (i launchItem) IsOn() bool { return i.Text == "true" }

// Described returns the ids of the elements that describe the field's input.
func (i launchItem) Described() string {
	var ids []string
	if i.Problem != "" {
		ids = append(ids, i.DOM+"-problem")
	}
	if i.Help != "" {
		ids = append(ids, i.DOM+"-help")
	}
	return strings.Join(ids, " ")
}

// Check is the name of the box that checks a row.
func (i launchItem) Check() string { return launch.CheckInput + i.ID }

// Browse is what the button beside a path does.
func (i launchItem) Browse() string { return launch.AsText([]string{"browse", i.ID}) }

// Press is what the button of the definition does.
func (i launchItem) Press() string { return launch.AsText([]string{"press", i.ID}) }
