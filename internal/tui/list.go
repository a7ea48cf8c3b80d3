package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A List is what lies over a view to choose one line from.
type List struct {
	Title   string
	Lines   []string // from elsewhere, too: they are made safe when they are drawn
	At      int      // the line of the cursor, among those that are shown
	Narrows bool     // whether what is typed leaves only the lines that hold it

	filter string
}

// shown returns the indices of the lines that hold what was typed.
func (l *List) shown() []int {
	var indices []int
	for i, line := range l.Lines {
		if strings.Contains(strings.ToLower(line), strings.ToLower(l.filter)) {
			indices = append(indices, i)
		}
	}
	return indices
}

// Key moves in a list, by pages of some lines. It returns the index of the line
// that Enter chose, otherwise -1.
func (l *List) Key(key tea.KeyPressMsg, page int) (chosen int) {
	shown := l.shown()
	name := key.String()
	switch {
	case name == "enter" && len(shown) > 0:
		return shown[l.At]
	case l.Narrows && name == "backspace":
		runes := []rune(l.filter)
		l.filter, l.At = string(runes[:max(len(runes)-1, 0)]), 0
	case l.Narrows && key.Text != "":
		l.filter, l.At = l.filter+key.Text, 0
	case name == "tab" || name == "ctrl+n":
		l.At++
	case name == "shift+tab" || name == "ctrl+p":
		l.At--
	default:
		by, _ := Step(name, page)
		l.At += by
	}
	l.At = max(min(l.At, len(l.shown())-1), 0)
	return -1
}

// far is farther than any list is long.
const far = 1 << 30

// Step returns by how many lines a key moves, where a page has some.
func Step(name string, page int) (lines int, moves bool) {
	switch name {
	case "up", "k":
		return -1, true
	case "down", "j":
		return 1, true
	case "pgup", "ctrl+b":
		return -page, true
	case "pgdown", "ctrl+f", "space":
		return page, true
	case "home", "g":
		return -far, true
	case "end", "G":
		return far, true
	}
	return 0, false
}

// View draws the title and the lines around the cursor, at most height lines.
func (l *List) View(width, height int) []string {
	title := Styled(StyleHeading, Cut(Verbatim(l.Title), width))
	if l.filter != "" {
		title += "  holding " + Verbatim(l.filter)
	}
	lines := []string{title}
	shown := l.shown()
	for i := max(l.At-(height-2), 0); i < len(shown) && len(lines) < height; i++ {
		line := Cut(WithoutMarks(Verbatim(l.Lines[shown[i]])), width-2)
		if i == l.At {
			line = Styled(StyleSelected, Filled("> "+line, width))
		} else {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	if len(shown) == 0 {
		lines = append(lines, "  (none)")
	}
	return lines
}
