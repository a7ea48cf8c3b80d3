package mutate

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/tui"
)

// Text returns the report: the mutants that fooled the definition, or all deceptive ones.
func (r Report) Text(all bool) string {
	var text strings.Builder
	if r.Mutants > 0 {
		fmt.Fprintf(&text, "mutants of %s: %.2f%% did not fool it (%d mutants of %d cases:", r.Definition, r.Score, r.Mutants, r.Cases)
		for i, verdict := range Verdicts() {
			separator := ","
			if i == 0 {
				separator = ""
			}
			fmt.Fprintf(&text, "%s %d %s", separator, r.Verdicts[verdict], verdict)
		}
		text.WriteString(")\n")
	}
	for _, mutant := range r.Deceptive {
		if mutant.Verdict == Fooled || all {
			fmt.Fprintf(&text, "%-7s %s: %s, %s: %s\n", strings.ToUpper(string(mutant.Verdict)), tui.OneLine(mutant.Original), mutant.Operator, mutant.Place, tui.OneLine(mutant.Wrong))
		}
		if mutant.Verdict == Fooled {
			fmt.Fprintf(&text, "        %s\n", tui.OneLine(mutant.Reproduce))
		}
	}
	for _, err := range r.Errors {
		fmt.Fprintf(&text, "ERROR   %s\n", tui.OneLine(err))
	}
	return text.String()
}
