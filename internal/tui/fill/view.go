package fill

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/tui"
)

const (
	linesAbove = 3 // title, tabs, rule
	linesBelow = 4 // rule, two of help, keys
)

// bodyHeight is how many lines of the page are seen.
func (s *screen) bodyHeight() int { return max(s.height-linesAbove-linesBelow, 1) }

// View implements [tea.Model].
func (s *screen) View() tea.View {
	rule := strings.Repeat("-", s.width)
	body, cursor := s.body()
	for len(body) < s.bodyHeight() {
		body = append(body, "")
	}
	lines := slices.Concat([]string{s.titleLine(), s.tabLine(), rule}, body, []string{rule}, s.help(), []string{tui.KeyLine(s.keys(), s.width)})
	view := tui.Frame(lines, s.width, s.height)
	if cursor != nil && cursor.Y < s.height {
		view.Cursor = cursor
	}
	return view
}

func (s *screen) titleLine() string {
	right := s.Target
	if right == "" {
		right = tui.OneLine(s.Definition)
	}
	left := tui.Fitted(s.Controller.Definition.Name, s.width-tui.Width(right)-1)
	return tui.Styled(tui.StyleTitle, left) + strings.Repeat(" ", max(s.width-tui.Width(left)-tui.Width(right), 1)) + right
}

// tabLine shows the titles of the pages. Where they do not fit, the ones before the page
// that is shown are left out.
func (s *screen) tabLine() string {
	var titles []string
	for _, page := range s.pages() {
		titles = append(titles, tui.Fitted(page.Title, max(s.width/2, 8)))
	}
	titles = append(titles, s.endTitle())
	for first := 0; ; first++ {
		line, end := "", 0 // of the tab that is shown
		if first > 0 {
			line = "< "
		}
		for i := first; i < len(titles); i++ {
			line += tui.Tab(titles[i], i == s.at)
			if i == s.at {
				end = tui.Width(line)
			}
		}
		if end <= s.width-2 || first == s.at {
			return line
		}
	}
}

// body returns the lines of the page, or of the list over it, that are seen.
func (s *screen) body() ([]string, *tea.Cursor) {
	height := s.bodyHeight()
	if s.overlay != nil {
		return s.overlay.View(s.width, height), nil
	}
	var lines []string
	var cursor *tea.Cursor
	first, last := 0, 0 // of the lines of the field with the focus
	for i := 0; i < len(s.fields); {
		count := s.beside(i)
		drawn, column := s.fieldLines(i, count)
		if column >= 0 {
			cursor = tea.NewCursor(column, len(lines))
		}
		if s.focus >= i && s.focus < i+count {
			first, last = len(lines), len(lines)+len(drawn)-1
		}
		lines = append(lines, drawn...)
		i += count
	}
	if len(lines) == 0 {
		lines = []string{"", "  Nothing to fill in."}
	}
	if slices.IndexFunc(s.fields, func(e entry) bool { return e.IsInput() }) == s.focus {
		first = 0 // with what stands above the first field
	}
	s.top = max(min(max(s.top, last-height+1), first, len(lines)-height), last-height+1, 0)
	if cursor != nil {
		cursor.Y += linesAbove - s.top
	}
	return lines[s.top:min(s.top+height, len(lines))], cursor
}

// roomBeside is how wide a field is at least that stands beside another one.
const roomBeside = 50

// beside returns how many fields from one on stand on one line: those that the definition
// puts into one row, where the screen is wide enough.
func (s *screen) beside(at int) int {
	row, count := s.fields[at].Row, 0
	for _, e := range s.fields[at:] {
		if e.Row != row || e.Kind == form.Heading || e.Kind == form.Computed {
			break
		}
		count++
	}
	if row == 0 || count < 2 || s.width/count < roomBeside {
		return 1
	}
	return count
}

// fieldLines returns the lines of some fields beside each other, and the column of the
// cursor in the first of them, or -1.
func (s *screen) fieldLines(at, count int) ([]string, int) {
	if count == 1 {
		return s.fieldLine(s.fields[at], at == s.focus, s.width)
	}
	cursor, width, line := -1, s.width/count, ""
	for i := range count {
		lines, column := s.fieldLine(s.fields[at+i], at+i == s.focus, width)
		if column >= 0 {
			cursor = i*width + column
		}
		line += tui.Filled(tui.Cut(lines[0], width-1), width)
	}
	return []string{line}, cursor
}

// labelWidth is how wide the column of the labels is in a part of the screen.
func (s *screen) labelWidth(width int) int {
	widest := 0
	for _, e := range s.fields {
		if e.Kind != form.Button && (e.IsInput() || !e.Enabled) {
			widest = max(widest, tui.Width(tui.OneLine(e.Label)))
		}
	}
	return min(widest, max(width*2/5, 8))
}

// fieldLine returns the lines of a field, and the column of the cursor in the first of
// them, or -1 if it is elsewhere.
func (s *screen) fieldLine(e entry, focused bool, width int) ([]string, int) {
	label := tui.OneLine(e.Label)
	switch e.Kind {
	case form.Heading:
		return []string{"", tui.Styled(tui.StyleHeading, "  "+label)}, -1
	case form.Note:
		return strings.Split(ansi.Wordwrap("  "+label, width-2, ""), "\n"), -1
	case form.Computed:
		return computedLines(e, width), -1
	case form.Button:
		return []string{named(e, focused, "[ "+label+" ]") + "  " + tui.Styled(tui.StyleFaint, tui.OneLine(e.Hint))}, -1
	}
	line := named(e, focused, tui.Filled(label, max(s.labelWidth(width), 1))) + " "
	value, column := s.value(e, focused, valueWidth(e, width, tui.Width(line)))
	if column >= 0 {
		column += tui.Width(line)
	}
	line += value
	if e.Problem != "" {
		line += "  " + tui.Problem(tui.OneLine(e.Problem))
	} else if e.Hint != "" {
		line += "  " + tui.Styled(tui.StyleFaint, tui.OneLine(e.Hint))
	}
	return []string{tui.Cut(line, width)}, column
}

// named is the name of a field in a style that shows what can be done with it, behind its
// marker and its box.
func named(e entry, focused bool, text string) string {
	line, style := "  ", ""
	if focused {
		line, style = tui.Styled(tui.StyleTitle, "> "), tui.StyleTitle
	}
	if e.Kind == form.Row {
		line += box(e.On) + " "
	}
	if !e.Enabled {
		style = tui.StyleFaint
	}
	return line + tui.Styled(style, text)
}

// computedLines shows a text that follows others, over as many lines as it takes.
func computedLines(e entry, width int) []string {
	text := tui.OneLine(e.Text)
	if text == "" {
		return nil
	}
	if e.Label != "" {
		text = tui.OneLine(e.Label) + ": " + text
	}
	var lines []string
	for _, line := range strings.Split(ansi.Wrap(text, max(width-4, 8), ""), "\n") {
		lines = append(lines, "  | "+tui.Styled(tui.StyleFaint, line))
	}
	return lines
}

func box(on bool) string {
	if on {
		return "[x]"
	}
	return "[ ]"
}

// valueWidth is how wide the value of a field is, so that it fits beside its label and
// leaves room for a few words.
func valueWidth(e entry, width, before int) int {
	wanted := max(width*2/5, 20)
	if e.isNumber() {
		wanted = 14
	}
	return max(min(wanted, width-before-1), 4)
}

// value shows what a field is set to, and where the cursor is in that. What can be typed
// stands in brackets, what is chosen in angles, what is off in parentheses.
func (s *screen) value(e entry, focused bool, width int) (text string, column int) {
	shown := ansi.Truncate(tui.Verbatim(e.shown()), width-2, "…")
	switch {
	case !e.Enabled, e.Kind == form.Row && !e.On:
		if e.isSwitch() {
			shown = map[bool]string{true: "on", false: "off"}[e.switchedOn()]
		}
		return tui.Styled(tui.StyleFaint, "("+shown+")"), -1
	case e.isSwitch():
		return box(e.switchedOn()), -1
	case !e.takesText() && (len(e.Items) > 0 || e.Kind == form.Path):
		return "<" + shown + ">", -1
	case !e.takesText():
		return shown, -1
	}
	style, column := "", -1
	if e.Text == "" && e.Default != "" {
		style, column = tui.StyleFaint, 0
	} else if focused {
		shown, column = s.typing.Window(width - 3) // the cursor may stand behind the last one
	}
	text = "[" + tui.Styled(style, tui.Filled(shown, width-2)) + "]"
	if !focused {
		return text, -1
	}
	return text, column + 1
}

// help returns two lines: what happened, or what there is to say of the field with the
// focus.
func (s *screen) help() []string {
	lines := strings.Split(ansi.Wrap(s.helpText(), max(s.width, 8), ""), "\n")
	if len(lines) > 2 {
		lines[1] = ansi.Truncate(lines[1], max(s.width-1, 1), "") + "…"
	}
	return append(lines, "", "")[:2]
}

func (s *screen) helpText() string {
	e, focused := s.focused()
	switch {
	case s.prompt != nil:
		const how = " has a question: Ctrl-G answers it"
		return tui.Styled(tui.StyleProblem, tui.Fitted(s.prompt.Question.Host, max(s.width-len(how), 8))+how)
	case s.busy != "":
		return fmt.Sprintf("%s ... (Esc leaves)", tui.OneLine(s.busy))
	case s.message != "" && s.isError:
		return tui.Problem(s.message)
	case s.message != "":
		return s.message
	case s.overlay != nil || !focused:
		return ""
	case e.Problem != "":
		return tui.Problem(tui.OneLine(e.Problem))
	}
	text := strings.TrimSpace(tui.OneLine(e.Hint) + "  " + tui.OneLine(e.Tooltip))
	if label := tui.OneLine(e.Label); tui.Width(label) > s.labelWidth(s.width) && e.Kind != form.Button {
		text = label + ": " + text
	}
	return text
}

// keys says what keys do where the user is.
func (s *screen) keys() string {
	if s.overlay != nil {
		return "Up/Down move  type to filter  Enter choose  Esc back"
	}
	here := ""
	if e, ok := s.focused(); ok {
		switch {
		case e.Kind == form.Row && !e.On:
			here = "Space use  "
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
			here = "Ctrl-T omit  "
		}
	}
	return here + "Tab/Up/Down move  Ctrl-N/P tabs  Ctrl-S " + strings.ToLower(s.endTitle()) + "  Esc leave"
}
