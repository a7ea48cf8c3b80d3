package watch

import (
	"fmt"
	"sort"
	"strings"

	"github.com/rmctl/rmctl/internal/tui"
)

// mapLabel is how much room the name of a line's first node has, mapCell how much
// a node takes.
const (
	mapLabel = 14
	mapCell  = 1
)

// A mapLine is one line of the map: so many nodes from one on, or a heading.
type mapLine struct {
	first, count int
	heading      string // instead of nodes: their machine
}

// A nodeMap shows nodes by one sign each. Each machine begins on a new line.
type nodeMap struct {
	lines []mapLine
	width int
	first *row // the first row of the answer that it was made of
	count int
	top   int
}

// arrange divides nodes into lines, unless that was done already.
func (m *nodeMap) arrange(rows []row, width int) {
	perLine := max((width-m.label(width))/mapCell, 1)
	if m.width == width && m.count == len(rows) && (len(rows) == 0 || m.first == &rows[0]) {
		return
	}
	m.lines, m.width, m.count, m.first = m.lines[:0], width, len(rows), nil
	if len(rows) > 0 {
		m.first = &rows[0]
	}
	last := len(rows) - 1
	isDivided := last >= 0 && !sameMachine(rows[0], rows[last])
	for first := 0; first <= last; {
		end := first + sort.Search(len(rows)-first, func(i int) bool { return !sameMachine(rows[first], rows[first+i]) })
		if isDivided {
			heading := rows[first].manager.Element().Name()
			if machine := rows[first].element.Parent(); machine != heading {
				heading += ", " + machine
			}
			m.lines = append(m.lines, mapLine{first: first, heading: fmt.Sprintf("%s: %d", heading, end-first)})
		}
		for ; first < end; first += perLine {
			m.lines = append(m.lines, mapLine{first: first, count: min(perLine, end-first)})
		}
		first = end
	}
}

func sameMachine(a, b row) bool {
	return a.manager == b.manager && a.element.Parent() == b.element.Parent()
}

// label is how wide the names before the lines are; narrow terminals have none.
func (m *nodeMap) label(width int) int {
	if width < 3*mapLabel {
		return 0
	}
	return mapLabel
}

// lineOf returns the line that a node is on.
func (m *nodeMap) lineOf(node int) int {
	return sort.Search(len(m.lines), func(i int) bool {
		line := m.lines[i]
		return line.first > node || line.count > 0 && line.first+line.count > node
	})
}

// down returns the node so many lines below one, or above it, as far as there is
// one: the last one of a line that is shorter.
func (m *nodeMap) down(node, by int) int {
	if len(m.lines) == 0 {
		return node
	}
	line := m.lineOf(node)
	column := node - m.lines[line].first
	step := 1
	if by < 0 {
		step, by = -1, -by
	}
	to := line
	for next := line + step; by > 0 && next >= 0 && next < len(m.lines); next += step {
		if m.lines[next].count > 0 {
			to, by = next, by-1
		}
	}
	if to == line {
		return node
	}
	return m.lines[to].first + min(column, m.lines[to].count-1)
}

// scroll brings the line of a node into sight, with the heading above it.
func (m *nodeMap) scroll(node, height int) {
	line := m.lineOf(node)
	first := line
	if line > 0 && line < len(m.lines) && m.lines[line-1].count == 0 {
		first--
	}
	m.top = max(min(m.top, first, len(m.lines)-height), line-height+1, 0)
}

// view draws the lines that are seen.
func (m *nodeMap) view(t *table, width, height int) []string {
	rows := t.answer.rows
	var lines []string
	for _, line := range m.lines[min(m.top, len(m.lines)):min(m.top+height, len(m.lines))] {
		if line.count == 0 {
			lines = append(lines, tui.Styled(tui.StyleHeading, tui.Fitted(line.heading, width)))
			continue
		}
		var text strings.Builder
		if label := m.label(width); label > 0 {
			text.WriteString(tui.Styled(tui.StyleFaint, padded(rows[line.first].element.Name(), label-1)) + " ")
		}
		style := ""
		var run strings.Builder // of signs in one style: so the line has few changes of it
		flush := func() {
			text.WriteString(tui.Styled(style, run.String()))
			run.Reset()
		}
		for i := line.first; i < line.first+line.count && i < len(rows); i++ {
			look := signLooks[signOf(rows[i].element)]
			next := look.style
			switch {
			case i == t.at:
				next = tui.StyleSelected
			case t.marked[rows[i].ref()]:
				next += ";4"
			}
			if next != style {
				flush()
				style = next
			}
			run.WriteString(look.letter)
		}
		flush()
		lines = append(lines, text.String())
	}
	return lines
}

// legend explains the signs that are used, with the number of nodes that have each.
func legend(count map[sign]int, width int) string {
	var parts []string
	for s := range signs {
		if count[s] > 0 {
			look := signLooks[s]
			parts = append(parts, tui.Styled(look.style, look.letter)+fmt.Sprintf(" %d %s", count[s], look.means))
		}
	}
	return tui.Cut(strings.Join(parts, "  "), width)
}
