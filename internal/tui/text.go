package tui

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Printable makes text safe for a terminal: what schedulers and jobs print may
// hold control sequences. Line breaks and tabs stay.
func Printable(text string) string {
	clean := true
	for _, r := range text {
		if r == utf8.RuneError || r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var safe strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&safe, `\x%02x`, text[0])
		case r == '\r' && strings.HasPrefix(text, "\r\n"):
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			safe.WriteRune(r)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
		text = text[size:]
	}
	return safe.String()
}

// OneLine is [Printable] on one line, with single blanks.
func OneLine(text string) string {
	return strings.Join(strings.Fields(Printable(text)), " ")
}

// safe is a text from elsewhere on one line, fit to be drawn.
func safe(text string) string { return withoutMarks(OneLine(text)) }

// mostMarks is how many characters without a width of their own are shown after
// one another: more would only keep the terminal busy.
const mostMarks = 2

// fitted is a text on one line that takes a width at most; where it is cut it ends
// in an ellipsis. Only as much of a long text is looked at as may be seen.
func fitted(text string, width int) string {
	if width <= 0 {
		return ""
	}
	const bytesPerColumn = 8
	if longest := width*bytesPerColumn + 64; len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return cut(safe(text), width)
}

// cut cuts a safe text, which may hold styles, to a width.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if isPlain(text) {
		if len(text) <= width {
			return text
		}
		return text[:width-1] + "…"
	}
	return ansi.Truncate(text, width, "…")
}

// filled is a safe text cut or filled to a width.
func filled(text string, width int) string {
	text = cut(text, max(width, 1))
	return text + strings.Repeat(" ", max(width-widthOf(text), 0))
}

// isPlain reports whether each byte of a text takes one column.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// widthOf is how many columns a text without control sequences takes.
func widthOf(text string) int {
	if isPlain(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}

// withoutMarks leaves out characters without a width of their own where many
// follow one another.
func withoutMarks(text string) string {
	if isPlain(text) {
		return text
	}
	count := 0
	return strings.Map(func(r rune) rune {
		if !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Me, r) {
			count = 0
			return r
		}
		if count++; count > mostMarks {
			return -1
		}
		return r
	}, text)
}

// padded is fitted, filled up to the width.
func padded(text string, width int) string { return filled(fitted(text, width), width) }

// paddedLeft is padded for numbers, which end in one column.
func paddedLeft(text string, width int) string {
	text = fitted(text, width)
	return strings.Repeat(" ", max(width-widthOf(text), 0)) + text
}

// span is how long something took, or how long ago it was, in the two largest units
// that fit: a width of six columns holds it.
func span(length time.Duration) string {
	length = max(length, 0)
	switch {
	case length < time.Minute:
		return fmt.Sprintf("%ds", int(length.Seconds()))
	case length < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(length.Minutes()), int(length.Seconds())%60)
	case length < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(length.Hours()), int(length.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%02dh", int(length.Hours()/24), int(length.Hours())%24)
	}
}

// plainWidth is how many columns a text takes that may hold styles.
func plainWidth(text string) int { return ansi.StringWidth(text) }
