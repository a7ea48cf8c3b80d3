package watch

import (
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/model"
)

// A table is a list of elements as the user has it on the screen: where the cursor
// is, and which rows are marked. What it shows is the newest answer to its query.
type table struct {
	wanted   query
	answer   answer
	isAsking bool // whether an answer is being made

	at, top int  // the row of the cursor, and the first one that is seen
	moved   bool // whether the user has moved the cursor: until then it is in the first row
	marked  map[ref]bool
	widths  []int  // of the columns, which grow with what is seen
	filled  []bool // whether anything was seen in them
	fitted  int    // the width that they were made for
}

func newTable(kind model.Kind) *table {
	return &table{wanted: query{kind: kind, reverse: kind == model.Job}, marked: map[ref]bool{}}
}

// selected returns the row of the cursor.
func (t *table) selected() (row, bool) {
	if t.at < 0 || t.at >= len(t.answer.rows) {
		return row{}, false
	}
	return t.answer.rows[t.at], true
}

// take replaces the rows. A cursor that the user has moved stays on its element, and in
// its place where that is gone; the rows around it stay where they are on the screen.
func (t *table) take(a answer) {
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

// begin goes to the first row, and stays there until the cursor is moved.
func (t *table) begin() { t.at, t.top, t.moved = 0, 0, false }

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

// columns returns the columns of the table, without the one of the resource managers
// where only one could be seen. The places are those in columnsOf.
func (t *table) columns() (columns []column, places []int) {
	for i, c := range columnsOf(t.wanted.kind) {
		if c.title == "MANAGER" && i > 0 && t.answer.managers < 2 {
			continue
		}
		columns, places = append(columns, c), append(places, i)
	}
	return columns, places
}

// fit finds widths for the columns. A column is as wide as what is seen of it, or
// was seen since the terminal changed its width: columns that move back and forth
// would have all of the screen drawn again. Width 0 leaves a column out.
func (t *table) fit(width, height int, now time.Time) {
	columns, _ := t.columns()
	if t.fitted != width || len(t.widths) != len(columns) {
		t.widths, t.filled, t.fitted = make([]int, len(columns)), make([]bool, len(columns)), width
	}
	rows := t.visible(height)
	for i, c := range columns {
		wanted := max(t.widths[i], len(c.title)+1, c.least) // with room for the sign of the order
		for _, r := range rows {
			if wanted < c.most || !t.filled[i] {
				text := tui.Fitted(c.cell(r, now), c.most)
				wanted = max(wanted, tui.Width(text))
				t.filled[i] = t.filled[i] || text != "" && text != "-"
			}
		}
		t.widths[i] = min(wanted, max(c.most, len(c.title)+1))
	}
}

// gap is what stands between two columns, and markWidth what stands before the
// first one.
const (
	gap       = 2
	markWidth = 2
)

// shownWidths returns the widths of the columns on a screen of a width. Where there is
// not room for all, those go first in which nothing was seen, then those of the
// highest rank as long as not even their least has room; of the others the widest are
// cut.
func (t *table) shownWidths(width int) []int {
	columns, _ := t.columns()
	shown := columnWidths{columns, make([]int, len(columns))}
	copy(shown.widths, t.widths)
	room := width - markWidth + gap
	for sumOf(shown.widths) > room && shown.drop(func(i int) bool { return !t.filled[i] }) {
	}
	for shown.sumOfLeast() > room && shown.drop(func(int) bool { return true }) {
	}
	for over := sumOf(shown.widths) - room; over > 0; over-- {
		shown.widths[shown.widest()]--
	}
	return shown.widths
}

// columnWidths are the widths of columns, 0 for those that are left out.
type columnWidths struct {
	columns []column
	widths  []int
}

// least returns the width below which a column is not cut.
func (w columnWidths) least(i int) int {
	return min(max(w.columns[i].least, w.columns[i].firm), w.widths[i])
}

// sumOfLeast is how much room the columns take at least, with the gap behind each.
func (w columnWidths) sumOfLeast() (sum int) {
	for i := range w.columns {
		if w.widths[i] > 0 {
			sum += w.least(i) + gap
		}
	}
	return sum
}

// drop leaves out the dispensable column of the highest rank. It reports whether there
// was one.
func (w columnWidths) drop(isDispensable func(i int) bool) bool {
	last := -1
	for i, c := range w.columns {
		if w.widths[i] > 0 && c.rank > 0 && isDispensable(i) && (last < 0 || c.rank > w.columns[last].rank) {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	w.widths[last] = 0
	return true
}

// widest returns the column that exceeds its least width by the most.
func (w columnWidths) widest() int {
	widest := 0
	for i := range w.columns {
		if w.widths[i]-w.least(i) > w.widths[widest]-w.least(widest) {
			widest = i
		}
	}
	return widest
}

// sumOf is how much room columns take, with the gap behind each.
func sumOf(widths []int) (sum int) {
	for _, width := range widths {
		if width > 0 {
			sum += width + gap
		}
	}
	return sum
}

// lines draws the header and the rows.
func (t *table) lines(width, height int, now time.Time) (header string, lines []string) {
	columns, places := t.columns()
	widths := t.shownWidths(width)
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
		if places[i] == t.wanted.column && c.title != "" {
			titles[i] += map[bool]string{false: "^", true: "v"}[t.wanted.reverse]
		}
	}
	header = tui.Styled(tui.StyleTitle, tui.Cut(t.line("  ", columns, widths, func(i int) string { return titles[i] }, nil), width))
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
		var styles func(i int) string
		if !isSelected {
			style := stateStyle(r.element)
			styles = func(i int) string {
				if columns[i].state {
					return style
				}
				return ""
			}
		}
		line := t.line(mark, columns, widths, func(i int) string { return columns[i].cell(r, now) }, styles)
		if isSelected {
			line = tui.Styled(tui.StyleSelected, tui.Filled(line, width))
		}
		lines = append(lines, line)
	}
	return header, lines
}

// line draws one line of the table.
func (t *table) line(mark string, columns []column, widths []int, cell, style func(int) string) string {
	var line strings.Builder
	line.WriteString(mark)
	last := len(widths) - 1
	for last > 0 && widths[last] == 0 {
		last--
	}
	for i, c := range columns {
		if widths[i] == 0 {
			continue
		}
		text := cell(i)
		switch {
		case c.right:
			text = paddedLeft(text, widths[i])
		case i == last:
			text = tui.Fitted(text, widths[i])
		default:
			text = padded(text, widths[i])
		}
		if style != nil {
			text = tui.Styled(style(i), text)
		}
		line.WriteString(text)
		if i < last {
			line.WriteString(strings.Repeat(" ", gap))
		}
	}
	return line.String()
}
