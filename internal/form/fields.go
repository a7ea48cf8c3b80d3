package form

import (
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// Fields returns what there is to see on a page, line by line. Definitions
// arrange a form in grids whose first column holds the names of fields and whose
// last one a few words on them; these become a part of the fields, so that a
// page reads well on a narrow terminal.
func (f *Form) Fields(page *Page) []Field {
	// Computed texts may have a viewer's value, of any page.
	f.refreshViewers()
	state := f.within(condition{Shown: true, Enabled: true}, page.state)
	if !state.Shown {
		return nil
	}
	b := builder{form: f}
	b.inside(page.Controls, page.columns, state)
	return b.fields
}

// refreshViewers gives the attributes of viewers their present values.
func (f *Form) refreshViewers() {
	for _, viewer := range f.viewers {
		if name := viewer.Name.Name; name != "" && f.isOnlyViewer(name) {
			f.environment.SetVariable(name, f.viewerValue(viewer))
		}
	}
}

// isOnlyViewer reports whether no attribute of the definition has the name of a viewer.
func (f *Form) isOnlyViewer(name string) bool {
	for _, defined := range f.definition.Attributes {
		if defined.Name() == name {
			return false
		}
	}
	return true
}

// A builder makes up the fields of a page.
type builder struct {
	form   *Form
	fields []Field
	depth  int    // of headings above what is built
	stray  string // a label alone on a line, which may belong to the next line
	rows   int    // of several fields, so far
}

// A cell is a control and its state in a row of a grid.
type cell struct {
	control launchtab.Control
	state   condition
}

// inside adds the fields of controls in a grid of that many columns; without columns
// all are in one row.
func (b *builder) inside(controls []launchtab.Control, columns int, around condition) {
	all := make([]cell, 0, len(controls))
	for _, control := range controls {
		all = append(all, cell{control, b.form.within(around, control.Common().State)})
	}
	for _, line := range arrange(b.visible(all, columns), columns) {
		beside := b.line(line)
		if columns > 1 {
			b.row(beside)
		}
	}
	b.flush()
}

// visible returns the controls that are shown, without the labels of those that are
// not: where the form was designed to have a row of labels and inputs, and no
// input is left of it, the labels go, too, unless what comes next takes the
// place of the input.
func (b *builder) visible(all []cell, columns int) []cell {
	rows := arrange(all, columns)
	if columns == 0 {
		rows = afterInputs(all, b.isLabel)
	}
	var visible []cell
	for i, row := range rows {
		inputs, shown := 0, 0
		for _, c := range row {
			if !b.isLabel(c) {
				inputs++
				if c.state.Shown {
					shown++
				}
			}
		}
		replaced := i+1 < len(rows) && !b.isLabel(rows[i+1][0]) && rows[i+1][0].state.Shown
		for _, c := range row {
			if c.state.Shown && (inputs == 0 || shown > 0 || replaced) {
				visible = append(visible, c)
			}
		}
	}
	return visible
}

func (b *builder) isLabel(c cell) bool {
	_, ok := b.form.label(c.control)
	return ok
}

// afterInputs breaks controls of one row into shorter ones, each with
// an input, the label before it and those behind it.
func afterInputs(cells []cell, isLabel func(cell) bool) [][]cell {
	var rows [][]cell
	start := 0 // of the row
	for i, c := range cells {
		if isLabel(c) {
			continue
		}
		// The label right before an input is its own.
		if first := i - 1; first > start && len(rows) > 0 {
			rows[len(rows)-1] = cells[start-len(rows[len(rows)-1]) : first]
			start = first
		}
		rows, start = append(rows, cells[start:i+1]), i+1
	}
	if start < len(cells) {
		rows = append(rows, cells[start:])
	}
	return rows
}

// arrange breaks controls into the rows of a grid with that many columns; 0
// puts all into one row. What is hidden has given up its cells.
func arrange(cells []cell, columns int) [][]cell {
	if columns == 0 {
		return [][]cell{cells}
	}
	var lines [][]cell
	var line []cell
	used := 0
	for _, next := range cells {
		width := next.width()
		if used > 0 && used+width > columns {
			lines, line, used = append(lines, line), nil, 0
		}
		line, used = append(line, next), used+width
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	return lines
}

// width is how many columns of a grid a control takes.
func (c cell) width() int {
	width := c.control.Common().Span
	if browse, ok := c.control.(*launchtab.Browse); ok {
		width += browse.ButtonSpan
	}
	return width
}

// A labelText is a label that waits for the field it belongs to.
type labelText struct{ text, tooltip string }

// A part is a field or a group in a row, by its place among the fields.
type part struct{ at, span int }

// row notes which fields and groups are next to each other.
func (b *builder) row(parts []part) {
	if len(parts) < 2 {
		return
	}
	b.rows++
	for _, each := range parts {
		b.fields[each.at].Row, b.fields[each.at].Span = b.rows, each.span
	}
}

// line adds the fields of one row, and returns what of it can stand beside each other:
// nothing where there is a container without a heading, whose fields are on lines of
// their own. A label belongs to the input after it; what
// is left after the last input, or before the label of the next one, says
// something about the input before.
func (b *builder) line(cells []cell) []part {
	var parts []part
	columns, isDivided := 0, false // since the last part
	var waiting []labelText
	last := -1 // the input that labels after it belong to
	for _, c := range cells {
		columns += c.width()
		if text, ok := b.form.label(c.control); ok {
			if text != "" {
				waiting = append(waiting, labelText{text, b.form.tooltip(c.control.Common().Tooltip.Text)})
			}
			continue
		}
		before := len(b.fields)
		if b.container(c, &waiting, &last) {
			switch {
			case len(b.fields) == before:
			case b.fields[before].Kind == Heading && b.isOneGroup(before):
				parts, columns = append(parts, part{before, columns}), 0
			default:
				isDivided = true
			}
			continue
		}
		field := b.input(c)
		if field.Kind == Button {
			b.hint(last, waiting)
		} else {
			waiting = b.named(&field, waiting, last)
			b.hint(last, waiting)
		}
		waiting = nil
		b.flush()
		b.add(field)
		last = len(b.fields) - 1
		parts, columns = append(parts, part{last, columns}), 0
	}
	if len(parts) > 0 {
		parts[len(parts)-1].span += columns
	}
	switch {
	case last >= 0:
		b.hint(last, waiting)
	case len(waiting) == 1:
		b.flush()
		b.stray = waiting[0].text
	}
	// A row of several labels alone heads the columns of a table; there are no columns here.
	if isDivided {
		return nil
	}
	return parts
}

// isOneGroup reports whether all fields from a heading on stand under it.
func (b *builder) isOneGroup(heading int) bool {
	for _, field := range b.fields[heading+1:] {
		if field.Depth <= b.fields[heading].Depth {
			return false
		}
	}
	return true
}

// container adds the fields of a control that has others inside, or rows.
func (b *builder) container(c cell, waiting *[]labelText, last *int) bool {
	depth := b.depth
	defer func() { b.depth = depth }()
	switch control := c.control.(type) {
	case *launchtab.Composite:
		b.leave(waiting, last)
		if control.Group {
			b.heading(b.form.expand(control.Title.Text))
		}
		b.inside(control.Controls, control.Columns, c.state)
	case *launchtab.TabFolder:
		b.leave(waiting, last)
		for _, page := range control.Controls {
			item, isItem := page.(*launchtab.TabItem)
			if !isItem {
				continue
			}
			if state := b.form.within(c.state, item.State); state.Shown {
				b.heading(b.form.expand(item.Title))
				b.inside(item.Controls, item.Columns, state)
				b.depth = depth
			}
		}
	case *launchtab.Viewer:
		b.leave(waiting, last)
		title := b.form.expand(control.Label.Text)
		if title == "" {
			title = control.Name.Name
		}
		b.heading(title)
		for _, name := range b.form.rows(control) {
			b.add(b.form.row(control, name, c.state))
		}
	default:
		return false
	}
	return true
}

// leave ends what belongs together before a control of another kind.
func (b *builder) leave(waiting *[]labelText, last *int) {
	b.flush()
	if *last >= 0 {
		b.hint(*last, *waiting)
	} else {
		for _, label := range *waiting {
			b.note(label.text)
		}
	}
	*waiting, *last = nil, -1
}

func (b *builder) input(c cell) Field {
	if w, ok := c.control.(*launchtab.Widget); ok && len(w.DynamicText) > 0 {
		return Field{Kind: Computed, control: w, ID: b.form.id(w), Text: b.form.computed(w), Enabled: c.state.Enabled, Tooltip: b.form.tooltip(w.Tooltip.Text)}
	}
	return b.form.field(c.control, c.state)
}

// named gives a field its label and returns the labels that are left. A tooltip
// that says what is next to the field anyway is left out.
func (b *builder) named(field *Field, waiting []labelText, last int) []labelText {
	if len(waiting) > 0 {
		own := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		field.Label = strings.TrimSpace(strings.TrimRight(own.text, ": ") + " " + field.Label)
		if field.Tooltip == "" {
			field.Tooltip = own.tooltip
		}
	} else if b.stray != "" && field.Label == "" {
		field.Label, b.stray = b.stray, ""
	} else if field.Label == "" && last >= 0 && b.fields[last].leads() {
		field.Label = b.fields[last].Label
	}
	field.Label = strings.TrimRight(field.Label, ": ")
	if a := b.form.environment.Lookup(field.Name); a != nil && field.Name != "" {
		if field.Label == "" {
			field.Label = field.Name
		}
		if field.Tooltip == "" {
			field.Tooltip = b.form.tooltip(a.Text(attribute.FieldTooltip))
		}
		if field.Hint = oneLine(a.Text(attribute.FieldDescription)); strings.EqualFold(field.Hint, field.Label) {
			field.Hint = ""
		}
		if oneLine(field.Tooltip) == field.Hint {
			field.Tooltip = ""
		}
	}
	return waiting
}

// leads reports whether a field is a switch whose title is meant for what stands
// beside it, too, such as "Host file:" before a path.
func (f Field) leads() bool {
	w, ok := f.control.(*launchtab.Widget)
	return ok && f.Kind == Switch && strings.HasSuffix(strings.TrimSpace(w.Title.Text), ":")
}

// hint makes labels the words beside an earlier field, or notes if there is no such field.
func (b *builder) hint(at int, labels []labelText) {
	for _, label := range labels {
		if at < 0 {
			b.note(label.text)
			continue
		}
		field := &b.fields[at]
		if field.Hint != label.text {
			field.Hint = label.text
		}
		if field.Tooltip == "" {
			field.Tooltip = label.tooltip
		}
	}
}

// flush makes a stray label that belonged to nothing a note.
func (b *builder) flush() {
	if b.stray != "" {
		stray := b.stray
		b.stray = ""
		b.note(stray)
	}
}

func (b *builder) note(text string) {
	b.add(Field{Kind: Note, Label: text, Enabled: true})
}

// heading begins a group, which ends with the control that it heads.
func (b *builder) heading(text string) {
	if text != "" {
		b.add(Field{Kind: Heading, Label: text, Enabled: true})
		b.depth++
	}
}

func (b *builder) add(field Field) {
	field.Depth = b.depth
	b.fields = append(b.fields, field)
}
