package tui

import (
	"fmt"
	"strings"
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

// Safe is a text from elsewhere on one line, fit to be drawn.
func Safe(text string) string { return WithoutMarks(OneLine(text)) }

// mostMarks is how many characters without a width of their own are shown after
// one another: more would only keep the terminal busy.
const mostMarks = 2

// Fitted is a text on one line that takes a width at most; where it is cut it ends
// in an ellipsis. Only as much of a long text is looked at as may be seen.
func Fitted(text string, width int) string {
	if width <= 0 {
		return ""
	}
	const bytesPerColumn = 8
	if longest := width*bytesPerColumn + 64; len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return Cut(Safe(text), width)
}

// Cut cuts a safe text, which may hold styles, to a width.
func Cut(text string, width int) string {
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

// Filled is a safe text cut or filled to a width.
func Filled(text string, width int) string {
	text = Cut(text, max(width, 1))
	return text + strings.Repeat(" ", max(width-Width(text), 0))
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

// Width is how many columns a text takes, which may hold styles.
func Width(text string) int {
	if isPlain(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}

// WithoutMarks leaves out characters without a width of their own where many
// follow one another.
func WithoutMarks(text string) string {
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

// Wrapped is a safe text over as many lines as it takes, up to a bound.
func Wrapped(text string, width int) []string {
	const most = 50
	if Width(text) <= width {
		return []string{text}
	}
	width = max(width, 8)
	if longest := most * width; len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return strings.Split(ansi.Wrap(text, width, ""), "\n")
}
