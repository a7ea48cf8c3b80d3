package main

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
)

// What styles are for; without colours the signs beside them tell the same.
const (
	styleTitle   = "1"
	styleTab     = "7"
	styleHeading = "1;36"
	styleFocus   = "1"
	styleFaint   = "2"
	styleProblem = "1;31"
)

func styled(style, text string) string {
	if text == "" {
		return ""
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

const (
	linesAbove = 3 // title, tabs, rule
	linesBelow = 4 // rule, two of help, keys
)

// bodyHeight is how many lines of the page are seen.
func (s *formScreen) bodyHeight() int { return max(s.height-linesAbove-linesBelow, 1) }

// View implements [tea.Model].
func (s *formScreen) View() tea.View {
	lines := []string{s.titleLine(), s.tabLine(), strings.Repeat("-", s.width)}
	body, cursor := s.body()
	lines = append(lines, body...)
	lines = append(lines, strings.Repeat("-", s.width))
	lines = append(lines, s.help()...)
	lines = append(lines, s.keys())
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, s.width, "")
	}
	view := tea.NewView(strings.Join(lines[:min(len(lines), s.height)], "\n"))
	view.AltScreen = true
	if cursor != nil && cursor.Y < s.height {
		view.Cursor = cursor
	}
	return view
}

func (s *formScreen) titleLine() string {
	right := s.target
	if right == "" {
		right = oneLine(s.definition)
	}
	left := ansi.Truncate(s.title, max(s.width-ansi.StringWidth(right)-1, 0), "…")
	gap := max(s.width-ansi.StringWidth(left)-ansi.StringWidth(right), 1)
	return styled(styleTitle, left) + strings.Repeat(" ", gap) + right
}

// tabLine shows the titles of the pages, of which the one shown stands in
// brackets; where they do not fit, the ones before it are left out.
func (s *formScreen) tabLine() string {
	var titles []string
	for _, page := range s.pages() {
		titles = append(titles, ansi.Truncate(oneLine(page.Title), max(s.width/2, 8), "…"))
	}
	titles = append(titles, s.endTitle())
	for first := 0; ; first++ {
		var plain, line strings.Builder
		if first > 0 {
			plain.WriteString("< ")
			line.WriteString("< ")
		}
		for i := first; i < len(titles); i++ {
			text := " " + titles[i] + " "
			if i == s.at {
				text = "[" + titles[i] + "]"
				line.WriteString(styled(styleTab, text))
			} else {
				line.WriteString(text)
			}
			plain.WriteString(text)
			if i == s.at && (ansi.StringWidth(plain.String()) > s.width-2) && first < s.at {
				line.Reset()
				break
			}
		}
		if line.Len() > 0 {
			return line.String()
		}
	}
}

// body returns the lines of the page, or of the list over it, that are seen.
func (s *formScreen) body() ([]string, *tea.Cursor) {
	height := s.bodyHeight()
	var lines []string
	var cursor *tea.Cursor
	first, last := 0, 0 // of the lines of the field with the focus
	if s.overlay != nil {
		lines, last = s.overlay.view()
		first = last
	} else {
		for i := 0; i < len(s.fields); {
			count := s.beside(i)
			line, column := s.fieldLines(i, count)
			if column >= 0 {
				cursor = tea.NewCursor(column, len(lines))
			}
			hasFocus := s.focus >= i && s.focus < i+count
			if hasFocus {
				first = len(lines)
			}
			lines = append(lines, line...)
			if hasFocus {
				last = len(lines) - 1
			}
			i += count
		}
	}
	if len(lines) == 0 {
		lines = []string{"", "  There is nothing to fill in here."}
	}
	s.scroll(first, last, len(lines), height)
	if cursor != nil {
		cursor.Y += linesAbove - s.top
	}
	seen := append([]string(nil), lines[s.top:min(s.top+height, len(lines))]...)
	for len(seen) < height {
		seen = append(seen, "")
	}
	return seen, cursor
}

// roomBeside is how wide a field is at least that stands beside another one.
const roomBeside = 50

// beside returns how many fields from one on stand on one line: those that the definition
// puts into one row, where the screen is wide enough.
func (s *formScreen) beside(at int) int {
	row, count := s.fields[at].Row, 0
	for count < len(s.fields)-at && s.fields[at+count].Row == row && s.fields[at+count].Kind != form.Heading && s.fields[at+count].Kind != form.Computed {
		count++
	}
	if row == 0 || count < 2 || s.width/count < roomBeside {
		return 1
	}
	return count
}

// fieldLines returns the lines of some fields beside each other, and the column of the cursor
// in the first of them, or -1.
func (s *formScreen) fieldLines(at, count int) ([]string, int) {
	if count == 1 {
		lines, column := s.fieldLine(s.fields[at], at == s.focus)
		if at != s.focus {
			column = -1
		}
		return lines, column
	}
	narrow := *s
	narrow.width = s.width / count
	cursor := -1
	line := ""
	for i := range count {
		lines, column := narrow.fieldLine(s.fields[at+i], at+i == s.focus)
		if at+i == s.focus && column >= 0 {
			cursor = i*narrow.width + column
		}
		line += pad(ansi.Truncate(lines[0], narrow.width-1, "…"), narrow.width)
	}
	return []string{line}, cursor
}

// scroll brings the field with the focus into sight, with what stands above the
// first one.
func (s *formScreen) scroll(first, last, count, height int) {
	if s.overlay == nil && s.isFirstInput() {
		first = 0
	}
	if last >= s.top+height {
		s.top = last - height + 1
	}
	s.top = max(min(s.top, first, count-height), 0)
	if last >= s.top+height {
		s.top = last - height + 1
	}
}

func (s *formScreen) isFirstInput() bool {
	for i, e := range s.fields {
		if e.IsInput() {
			return i == s.focus
		}
	}
	return true
}

func (l *choiceList) view() (lines []string, at int) {
	lines = []string{styled(styleHeading, visible(l.title))}
	if l.filter != "" {
		lines[0] += "  holding " + visible(l.filter)
	}
	for i, index := range l.shown() {
		line := "  " + l.lines[index]
		if i == l.at {
			line, at = styled(styleFocus, "> "+l.lines[index]), len(lines)
		}
		lines = append(lines, line)
	}
	if len(lines) == 1 {
		lines = append(lines, "  (nothing)")
	}
	return lines, at
}

// labelWidth is how wide the column of the labels is.
func (s *formScreen) labelWidth() int {
	widest := 0
	for _, e := range s.fields {
		if e.Kind != form.Button && (e.IsInput() || !e.Enabled) {
			widest = max(widest, ansi.StringWidth(oneLine(e.Label)))
		}
	}
	return min(widest, max(s.width*2/5, 8))
}

// fieldLine returns the lines of a field, and the column of the cursor in the
// first of them if it is typed into.
func (s *formScreen) fieldLine(e entry, focused bool) ([]string, int) {
	label := oneLine(e.Label)
	switch e.Kind {
	case form.Heading:
		return []string{"", styled(styleHeading, "  "+label)}, -1
	case form.Note:
		return strings.Split(ansi.Wordwrap("  "+label, s.width-2, ""), "\n"), -1
	case form.Computed:
		return s.computedLines(e), -1
	case form.Button:
		return []string{marker(focused) + emphasised(e, focused, "[ "+label+" ]") + "  " + styled(styleFaint, oneLine(e.Hint))}, -1
	}
	width := s.labelWidth()
	label = ansi.Truncate(label, width, "…")
	line := marker(focused)
	if e.Kind == form.Row {
		line += box(e.On) + " "
	}
	line += emphasised(e, focused, label) + strings.Repeat(" ", width-ansi.StringWidth(label)+1)
	value, column := s.value(e, focused, s.valueWidth(e, ansi.StringWidth(line)))
	if column >= 0 {
		column += ansi.StringWidth(line)
	}
	line += value
	if e.Problem != "" {
		line += "  " + styled(styleProblem, "! "+oneLine(e.Problem))
	} else if e.Hint != "" {
		line += "  " + styled(styleFaint, oneLine(e.Hint))
	}
	return []string{ansi.Truncate(line, s.width, "…")}, column
}

// valueWidth is how wide the value of a field is, so that it fits beside its
// label and leaves room for a few words.
func (s *formScreen) valueWidth(e entry, before int) int {
	wanted := max(s.width*2/5, 20)
	if e.Kind == form.Number || e.Kind == form.Row && e.Editor == attribute.NumberEditor {
		wanted = 14
	}
	return max(min(wanted, s.width-before-1), 4)
}

// computedLines shows a text that follows others, over as many lines as it takes.
func (s *formScreen) computedLines(e entry) []string {
	text := oneLine(e.Text)
	if text == "" {
		return nil
	}
	if e.Label != "" {
		text = oneLine(e.Label) + ": " + text
	}
	var lines []string
	for _, line := range strings.Split(ansi.Wrap(text, max(s.width-4, 8), ""), "\n") {
		lines = append(lines, "  | "+styled(styleFaint, line))
	}
	return lines
}

func marker(focused bool) string {
	if focused {
		return styled(styleFocus, "> ")
	}
	return "  "
}

func box(on bool) string {
	if on {
		return "[x]"
	}
	return "[ ]"
}

// emphasised styles a text by what can be done with its field.
func emphasised(e entry, focused bool, text string) string {
	switch {
	case !e.Enabled:
		return styled(styleFaint, text)
	case focused:
		return styled(styleFocus, text)
	}
	return text
}

// value shows what a field is set to, and where the cursor is in that. What can
// be typed stands in brackets, what is chosen in angles, what is off in parentheses.
func (s *formScreen) value(e entry, focused bool, width int) (text string, column int) {
	shown := ansi.Truncate(visible(orDefault(e)), width-2, "…")
	isDefault := e.Text == "" && e.Default != ""
	switch {
	case !e.Enabled, e.Kind == form.Row && !e.On:
		if e.isSwitch() {
			shown = map[bool]string{true: "on", false: "off"}[e.switchedOn()]
		}
		return styled(styleFaint, "("+shown+")"), -1
	case e.isSwitch():
		return box(e.switchedOn()), -1
	case isDefault && takesText(e):
		text, column = "["+styled(styleFaint, pad(shown, width-2))+"]", -1
		if focused && s.overlay == nil {
			column = 1
		}
		return text, column
	case focused && s.overlay == nil && takesText(e):
		shown, column = s.typing.window(width - 3) // the cursor may stand behind the last one
		return "[" + pad(shown, width-2) + "]", column + 1
	case takesText(e):
		return "[" + pad(shown, width-2) + "]", -1
	case len(e.Items) > 0, e.Kind == form.Path:
		return "<" + shown + ">", -1
	}
	return shown, -1
}

// orDefault returns what the job gets of a field.
func orDefault(e entry) string {
	if e.Text == "" {
		return e.Default
	}
	return e.Text
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// help returns two lines: what happened, or what there is to say of the field
// with the focus.
func (s *formScreen) help() []string {
	text := ""
	e, focused := s.focused()
	switch {
	case len(s.questions) > 0:
		text = s.questionLine()
	case s.busy != "":
		text = fmt.Sprintf("%s ... (Esc leaves)", oneLine(s.busy))
	case s.message != "" && s.isError:
		text = styled(styleProblem, "! "+s.message)
	case s.message != "":
		text = s.message
	case s.overlay != nil || !focused:
	case e.Problem != "":
		text = styled(styleProblem, "! "+oneLine(e.Problem))
	default:
		text = strings.TrimSpace(oneLine(e.Hint) + "  " + oneLine(e.Tooltip))
		if label := oneLine(e.Label); ansi.StringWidth(label) > s.labelWidth() && e.Kind != form.Button {
			text = label + ": " + text
		}
	}
	lines := strings.Split(ansi.Wrap(text, max(s.width, 8), ""), "\n")
	if len(lines) > 2 {
		lines[1] = ansi.Truncate(lines[1], max(s.width-1, 1), "") + "…"
	}
	return append(lines, "", "")[:2]
}

// keys tells what keys do where the user is.
func (s *formScreen) keys() string {
	if s.overlay != nil {
		return "Up/Down move  type to narrow down  Enter choose  Esc back"
	}
	here := ""
	if e, ok := s.focused(); ok {
		switch {
		case e.Kind == form.Row && !e.On:
			here = "Space use it  "
		case e.isSwitch():
			here = "Space switch  "
		case e.Kind == form.Path:
			here = "Enter browse  "
		case e.Kind == form.Button:
			here = "Enter press  "
		case len(e.Items) > 0:
			here = "Enter choose  "
		case e.Kind == form.Number:
			here = "+/- count  "
		case e.Kind == form.Lines:
			here = "Ctrl-J new line  "
		case e.Kind == form.Row:
			here = "Ctrl-T leave it out  "
		}
	}
	end := "Ctrl-S " + strings.ToLower(s.endTitle())
	return here + "Tab/Up/Down move  Ctrl-N/P tabs  " + end + "  Esc leave"
}
