package agentdecode

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// Print decodes the messages of a trace or of frames and prints them as text or as JSON lines. It returns
// the number of messages that it could not decode.
func Print(w io.Writer, r io.Reader, asJSON bool) (broken int, err error) {
	for decoded, err := range messages(r) {
		if err != nil {
			return broken, err
		}
		if decoded.Error != "" {
			broken++
		}
		if asJSON {
			err = terminal.JSON(w, decoded)
		} else {
			_, err = io.WriteString(w, decoded.String())
		}
		if err != nil {
			return broken, err
		}
	}
	return broken, nil
}

// longestText bounds texts that are displayed. JSON has the whole text.
const longestText = 200

// String returns the message in lines for a terminal.
func (m message) String() string {
	lines := []string{m.headline()}
	add := func(line string) { lines = append(lines, "        "+line) }
	for _, each := range m.Groups {
		add(text(each.IDs) + m.countOf(each) + attributesText(each.Attributes))
	}
	for _, each := range m.Definitions {
		add(each.String())
	}
	if len(m.Arguments) > 0 {
		shown := make([]string, len(m.Arguments))
		for i, argument := range m.Arguments {
			shown[i] = text(argument)
		}
		add("arguments: " + strings.Join(shown, " "))
	}
	if m.Error != "" {
		add("error: " + tui.Safe(m.Error))
	}
	return strings.Join(lines, "\n") + "\n"
}

// headline returns the first line: where the message is, who sent it and what it is.
func (m message) headline() string {
	line := fmt.Sprintf("%5d %-6s ", m.Line+m.Frame, m.From)
	switch {
	case m.Closed:
		return line + "connection closed"
	case m.Name == "" && m.Transaction == nil:
		return strings.TrimRight(line+"-", " ")
	}
	line += fmt.Sprintf("%-18s #%d", terminal.OrDash(m.Name), *m.Transaction)
	if m.Answers != "" {
		line += " answers " + m.Answers
	}
	if m.Parent != "" {
		line += " below " + text(m.Parent)
	}
	return line + attributesText(m.Attributes)
}

// countOf returns the number of elements in words, empty for one.
func (m message) countOf(each group) string {
	if each.Count == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d)", each.Count)
}

func attributesText(attributes []attribute) string {
	var shown strings.Builder
	for _, each := range attributes {
		shown.WriteString(" " + text(each.ID) + "=" + text(each.Value))
	}
	return shown.String()
}

// String returns a definition on one line.
func (d definition) String() string {
	line := text(d.ID) + " " + text(d.Type) + " " + quoted(d.Name) + " default " + text(d.Default)
	if d.Minimum != "" || d.Maximum != "" {
		line += " from " + text(d.Minimum) + " to " + text(d.Maximum)
	}
	for i, value := range d.Values {
		separator := ", "
		if i == 0 {
			separator = " of "
		}
		line += separator + text(value)
	}
	if d.DateStyle+d.TimeStyle+d.Locale != "" {
		line += " style " + text(d.DateStyle) + " " + text(d.TimeStyle) + " " + text(d.Locale)
	}
	if !d.Display {
		line += " hidden"
	}
	return line
}

// text returns a truncated text from the peer for a terminal, quoted unless it is one visible word.
func text(value string) string {
	shown := terminal.AtMost(value, longestText)
	if shown == "" || strings.ContainsFunc(shown, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return quoted(value)
	}
	return tui.Safe(shown)
}

// quoted returns a truncated text from the peer in quotes.
func quoted(value string) string {
	return tui.Safe(strconv.Quote(terminal.AtMost(value, longestText)))
}
