package watch

import (
	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/tui"
)

// wheelLines is by how many lines one step of the wheel moves.
const wheelLines = 3

// wheel moves in what is shown. While something is asked or typed it does nothing.
func (d *display) wheel(m tea.MouseWheelMsg) {
	arrow, by := tea.KeyDown, wheelLines
	switch {
	case m.Button == tea.MouseWheelUp:
		arrow, by = tea.KeyUp, -wheelLines
	case m.Button != tea.MouseWheelDown:
		return
	}
	switch {
	case d.isAnswering():
	case d.isCovered():
		for range wheelLines {
			d.key(tea.KeyPressMsg{Code: arrow})
		}
	default:
		d.step(by)
	}
}

// isCovered reports whether something lies over the list.
func (d *display) isCovered() bool { return d.menu != nil || d.pager != nil || d.detail != nil }

// isAnswering reports whether what is typed is an answer, or a search.
func (d *display) isAnswering() bool {
	return d.prompt != nil || d.withdrawn != nil || d.question != nil || d.typing
}

// click goes to the list whose tab it hits, or to the row or node; one that the cursor is on
// already is opened.
func (d *display) click(m tea.MouseClickMsg) {
	if m.Button != tea.MouseLeft || d.isAnswering() || d.isCovered() {
		return
	}
	if m.Y < linesAbove {
		for i, at := 0, 0; i < lists; i++ {
			if at += tui.Width(d.listTab(i)); m.X < at {
				d.turn(i)
				return
			}
		}
		return
	}
	at, ok := d.rowAt(m.X, m.Y-linesAbove)
	if !ok {
		return
	}
	if t := d.table(); t.at == at {
		d.open()
	} else {
		t.move(at - t.at)
	}
}

// rowAt returns the row, or the node, that is drawn at a place of the body.
func (d *display) rowAt(x, y int) (at int, ok bool) {
	rows := d.table().answer.rows
	if !d.showsMap() {
		y-- // the header
		at = d.table().top + y
		return at, y >= 0 && y < d.listHeight() && at < len(rows)
	}
	line := d.nodes.top + y
	if y >= d.listHeight() || line >= len(d.nodes.lines) {
		return 0, false
	}
	column := (x - d.nodes.label(d.width)) / mapCell
	at = d.nodes.lines[line].first + column
	return at, x >= d.nodes.label(d.width) && column < d.nodes.lines[line].count && at < len(rows)
}
