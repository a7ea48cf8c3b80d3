package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/tui"
)

// padded is a text from elsewhere on one line, cut or filled to a width.
func padded(text string, width int) string { return tui.Filled(tui.Fitted(text, width), width) }

// paddedLeft is padded for numbers, which end in one column.
func paddedLeft(text string, width int) string {
	text = tui.Fitted(text, width)
	return strings.Repeat(" ", max(width-tui.Width(text), 0)) + text
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
