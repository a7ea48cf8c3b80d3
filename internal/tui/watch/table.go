package watch

import (
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/model"
)

// A table is a list of elements as the user has it on the screen: where the cursor
// is, and which rows are marked. What it shows is the newest answer to its query.
type table struct {
	query    query
	answer   answer
	isAsking bool // whether an answer is being made

	at, top int  // the row of the cursor, and the first one that is seen
	moved   bool // whether the user has moved the cursor: until then it is in the first row
	marked  map[ref]bool
	fitted  []shownColumn // all columns, with widths that grow with what is seen
	width   int           // of the screen that these were made for
}

func newTable(kind model.Kind) *table {
	return &table{query: query{kind: kind, reverse: kind == model.Job}, marked: map[ref]bool{}}
}

// selected returns the row of the cursor.
func (t *table) selected() (row, bool) {
	if t.at < 0 || t.at >= len(t.answer.rows) {
		return row{}, false
	}
	return t.answer.rows[t.at], true
}

// show replaces the rows. A cursor that the user has moved stays on its element, and in
// its place where that is gone; the rows around it stay where they are on the screen.
func (t *table) show(a answer) {
	before, hadOne := t.selected()
	t.answer = a
	if !hadOne || !t.moved {
		t.at, t.top = 0, 0
		return
	}
	at := a.at
	if before.ref() != a.query.selected { // the cursor has moved since the query
		at = t.place(before.ref())
	}
	if at >= 0 {
		t.top += at - t.at
		t.at = at
	}
	t.move(0)
}

// toFirstRow goes to the first row, and stays there until the cursor is moved.
func (t *table) toFirstRow() { t.at, t.top, t.moved = 0, 0, false }

// place returns where an element is among the rows; -1 if it is not.
func (t *table) place(of ref) int {
	for i, r := range t.answer.rows {
		if r.element.ID() == of.id && r.ref() == of {
			return i
		}
	}
	return -1
}

// move moves the cursor by some rows, as far as there are any.
func (t *table) move(by int) {
	t.moved = t.moved || by != 0
	t.at = max(min(t.at+by, len(t.answer.rows)-1), 0)
}

// scroll brings the cursor into sight.
func (t *table) scroll(height int) {
	t.top = max(min(t.top, t.at, len(t.answer.rows)-height), t.at-height+1, 0)
}

// visible returns the rows that are seen.
func (t *table) visible(height int) []row {
	return t.answer.rows[min(t.top, len(t.answer.rows)):min(t.top+height, len(t.answer.rows))]
}

// chosen returns the rows that are marked, else the one of the cursor. Marks of
// elements that are not shown do not count.
func (t *table) chosen() []row {
	var rows []row
	if len(t.marked) > 0 {
		for _, r := range t.answer.rows {
			if t.marked[r.ref()] {
				rows = append(rows, r)
			}
		}
	}
	if selected, ok := t.selected(); ok && len(rows) == 0 {
		rows = []row{selected}
	}
	return rows
}

// mark marks the row of the cursor, or takes its mark away, and goes on to the next.
func (t *table) mark() {
	selected, ok := t.selected()
	if !ok {
		return
	}
	if of := selected.ref(); t.marked[of] {
		delete(t.marked, of)
	} else {
		t.marked[of] = true
	}
	t.move(1)
}

// A shownColumn is a column as wide as what is seen of it.
type shownColumn struct {
	column
	place  int // in columnsOf
	width  int
	wanted int  // the widest text that was seen in it
	filled bool // whether anything was seen in it
}

func (c shownColumn) full() int { return c.width }

// narrowest returns the width below which the column is not cut.
func (c shownColumn) narrowest() int { return min(max(c.least, c.firm), c.width) }

// columns returns the columns of the table, without the one of the targets
// where only one could be seen.
func (t *table) columns() []shownColumn {
	var columns []shownColumn
	for i, c := range columnsOf()[t.query.kind] {
		if c.title != "TARGET" || i == 0 || t.answer.managers >= 2 {
			columns = append(columns, shownColumn{column: c, place: i})
		}
	}
	return columns
}

// fit finds widths for the columns. A column is as wide as what is seen of it, or
// was seen since the terminal changed its width: columns that move back and forth
// would have all of the screen drawn again.
func (t *table) fit(width, height int, now time.Time) {
	if columns := t.columns(); t.width != width || len(t.fitted) != len(columns) {
		t.fitted, t.width = columns, width
	}
	rows := t.visible(height)
	for i := range t.fitted {
		c := &t.fitted[i]
		c.wanted = max(c.wanted, len(c.title)+1, c.least) // with room for the sign of the order
		for _, r := range rows {
			if c.wanted < widestCell || !c.filled {
				text := tui.Fitted(c.text(r, now), widestCell)
				c.wanted = max(c.wanted, tui.Width(text))
				c.filled = c.filled || text != "" && text != "-"
			}
		}
		c.width = min(c.wanted, max(c.most, len(c.title)+1))
	}
}

// widestCell is the width at which texts are cut even if the screen has room for more.
const widestCell = 200

// gap is what stands between two columns, and markWidth what stands before the
// first one.
const (
	gap       = 2
	markWidth = 2
)

// shown returns the columns that a screen of a width has. Where there is not room for
// all, those go first in which nothing was seen, then those of the highest rank as long
// as not even their least has room; of the others the widest are cut. Room that is left
// goes to the columns with longer texts.
func (t *table) shown(width int) []shownColumn {
	room := width - markWidth + gap
	columns := reduced(slices.Clone(t.fitted), room, shownColumn.full, func(c shownColumn) bool { return !c.filled })
	columns = reduced(columns, room, shownColumn.narrowest, func(shownColumn) bool { return true })
	for over := total(columns, shownColumn.full) - room; over > 0; over-- {
		widest := 0
		for i, c := range columns {
			if c.width-c.narrowest() > columns[widest].width-columns[widest].narrowest() {
				widest = i
			}
		}
		columns[widest].width--
	}
	widen(columns, room-total(columns, shownColumn.full))
	return columns
}

// widen gives room to columns with longer texts, the narrowest first, so that one long
// text leaves room for the others.
func widen(columns []shownColumn, room int) {
	for ; room > 0; room-- {
		narrowest := -1
		for i, c := range columns {
			if c.width < c.wanted && (narrowest < 0 || c.width < columns[narrowest].width) {
				narrowest = i
			}
		}
		if narrowest < 0 {
			return
		}
		columns[narrowest].width++
	}
}

// reduced leaves out dispensable columns, those of the highest rank first, until the
// others have room.
func reduced(columns []shownColumn, room int, width func(shownColumn) int, isDispensable func(shownColumn) bool) []shownColumn {
	for total(columns, width) > room {
		last := -1
		for i, c := range columns {
			if c.rank > 0 && isDispensable(c) && (last < 0 || c.rank > columns[last].rank) {
				last = i
			}
		}
		if last < 0 {
			break
		}
		columns = slices.Delete(columns, last, last+1)
	}
	return columns
}

// total is how much room columns take, with the gap behind each.
func total(columns []shownColumn, width func(shownColumn) int) (sum int) {
	for _, c := range columns {
		sum += width(c) + gap
	}
	return sum
}

// lines draws the header and the rows.
func (t *table) lines(width, height int, now time.Time) (header string, lines []string) {
	columns := t.shown(width)
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = c.title
		if c.place == t.query.column && c.title != "" {
			texts[i] += map[bool]string{false: "^", true: "v"}[t.query.reverse]
		}
	}
	header = tui.Styled(tui.StyleTitle, tui.Cut(tableLine("  ", columns, texts, ""), width))
	for i, r := range t.visible(height) {
		isSelected := t.top+i == t.at
		mark := "  "
		switch {
		case t.marked[r.ref()] && isSelected:
			mark = ">*"
		case t.marked[r.ref()]:
			mark = " *"
		case isSelected:
			mark = "> "
		}
		for i, c := range columns {
			texts[i] = c.text(r, now)
		}
		if isSelected {
			line := tableLine(mark, columns, texts, "")
			lines = append(lines, tui.Styled(tui.StyleSelected, tui.Filled(line, width)))
		} else {
			lines = append(lines, tableLine(mark, columns, texts, stateStyle(r.element)))
		}
	}
	return header, lines
}

// tableLine draws one line of a table, with a style for its state.
func tableLine(mark string, columns []shownColumn, texts []string, stateStyle string) string {
	var line strings.Builder
	line.WriteString(mark)
	last := len(columns) - 1
	for i, c := range columns {
		text := texts[i]
		switch {
		case c.right:
			text = paddedLeft(text, c.width)
		case i == last:
			text = tui.Fitted(text, c.width)
		default:
			text = padded(text, c.width)
		}
		if c.state {
			text = tui.Styled(stateStyle, text)
		}
		line.WriteString(text)
		if i < last {
			line.WriteString(strings.Repeat(" ", gap))
		}
	}
	return line.String()
}
