package monitor

import (
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/timezone"
)

// dateOf returns a scheduler's text of a time as the model takes it; see
// [timezone.ParseTime].
func dateOf(text string, location *time.Location) (string, bool) {
	moment, isTime := timezone.ParseTime(text, location)
	if !isTime {
		return "", false
	}
	return moment.Format(time.RFC3339Nano), true
}

// cut returns the beginning of a text that is longer than a number of bytes, with
// whole characters and a mark where it was cut.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "") + "…"
}
