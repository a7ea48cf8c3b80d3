package coverage

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/tui"
)

// Text returns the coverage as text; least is the required percentage. All also lists each
// kind and what was never exercised.
func (r Report) Text(least float64, all bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "coverage of %s: %.1f%% (%d of %d)", r.Definition, r.Percent, r.Covered, r.Total)
	if r.Percent < least {
		fmt.Fprintf(&text, ", less than %v%%", least)
	}
	text.WriteByte('\n')
	if !all {
		return text.String()
	}
	for _, count := range r.Kinds {
		if count.Total > 0 {
			fmt.Fprintf(&text, "  %-10s  %4d of %4d  %5.1f%%\n", count.Kind, count.Covered, count.Total, count.Percent)
		}
	}
	for _, thing := range r.Missed {
		fmt.Fprintf(&text, "  never: %s:%d:%d: %s\n", thing.File, thing.Line, thing.Column, tui.OneLine(thing.What))
	}
	return text.String()
}
