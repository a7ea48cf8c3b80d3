package breaks

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/tui"
)

// Text returns the changes that no case noticed: those without a reason, or all.
func (r Report) Text(all bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "changes of %s: %d tried on %d cases, %d not noticed, %d of them without a reason\n",
		r.Definition, r.Changes, r.Cases, len(r.Survivors), r.Unexplained())
	for _, each := range r.Survivors {
		if each.Reason == "" {
			fmt.Fprintf(&text, "SURVIVES %s: %s\n", each.Position, tui.OneLine(each.Change))
		} else if all {
			fmt.Fprintf(&text, "survives %s: %s: %s\n", each.Position, tui.OneLine(each.Change), tui.OneLine(each.Reason))
		}
	}
	for _, what := range r.Stale {
		fmt.Fprintf(&text, "STALE    the reason for %q in %s: a case notices it, or there is no such change\n", what, reasonsFile)
	}
	return text.String()
}
