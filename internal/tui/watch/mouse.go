package watch

import (
	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/tui"
)

// wheelLines is by how many lines one step of the wheel moves.
const wheelLines = 3

// wheel moves in what is shown. While something is asked or typed it does nothing.
func (d *display) wheel(m tea.MouseWheelMsg) {
	by, name := wheelLines, "down"
	switch m.Button {
	case tea.MouseWheelUp:
		by, name = -wheelLines, "up"
	case tea.MouseWheelDown:
	default:
		return
	}
	switch {
	case d.isAnswering():
	case d.menu != nil || d.pager != nil || d.detail != nil:
		for range wheelLines {
			d.key(keyNamed(name))
		}
	default:
		d.step(by)
	}
}

// keyNamed returns the arrow key that goes up or down.
func keyNamed(name string) tea.KeyPressMsg {
	if name == "up" {
		return tea.KeyPressMsg{Code: tea.KeyUp}
	}
	return tea.KeyPressMsg{Code: tea.KeyDown}
}

// isAnswering reports whether what is typed is an answer, or a search.
func (d *display) isAnswering() bool {
	return d.prompt != nil || d.withdrawn != nil || d.question != nil || d.typing
}

// click goes to the list whose tab it hits, or to the row or node; one that the cursor is on
// already is opened.
func (d *display) click(m tea.MouseClickMsg) {
	if m.Button != tea.MouseLeft || d.isAnswering() || d.menu != nil || d.pager != nil || d.detail != nil {
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
