package tui

import (
	"slices"
	"strings"
)

// What styles are for, as parameters of SGR. What colours say is said by words or signs,
// too: without colours nothing is missing.
const (
	StyleTitle    = "1"
	StyleHeading  = "1;36"
	StyleSelected = "7"
	StyleFaint    = "2"
	StyleProblem  = "1;31"
	StyleQuestion = "1;33"

	styleTab = "7"
)

// Styled is a text in a style.
func Styled(style, text string) string {
	if text == "" || style == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Tab is the title of a page; the one that is shown stands in brackets.
func Tab(title string, isShown bool) string {
	if isShown {
		return Styled(styleTab, "["+title+"]")
	}
	return " " + title + " "
}

// Problem is a line that says what went wrong.
func Problem(text string) string { return Styled(StyleProblem, "! "+text) }

// KeyLine is the line that says what keys do. Keys stand two blanks apart, the first ones
// matter most. Where there is no room for all some are left out, but never those that
// leave and help, which come last.
func KeyLine(keys string, width int) string {
	if Width(keys) <= width {
		return keys
	}
	const gap = "  "
	shown := strings.Split(keys, gap)
	last := len(shown) - 1
	if last > 0 && strings.HasPrefix(shown[last-1], "?") {
		last--
	}
	for first := last; first > 0; first-- {
		if line := strings.Join(slices.Concat(shown[:first], shown[last:]), gap); Width(line) <= width {
			return line
		}
	}
	return strings.Join(shown[last:], gap)
}
