package casereport

import (
	"fmt"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/internal/tui"
)

// words are the first words of results.
var words = map[cases.Verdict]string{cases.Passed: "ok", cases.Differing: "FAIL", cases.Updated: "updated", cases.Broken: "ERROR"}

// Text returns a result as text; empty for a case that passed, unless all is set.
func Text(result cases.Result, all bool) string {
	if result.Verdict == cases.Passed && !all {
		return ""
	}
	text := fmt.Sprintf("%-7s %s\n", words[result.Verdict], tui.OneLine(result.Folder))
	if result.Err != nil {
		text += "        " + tui.Printable(result.Err.Error()) + "\n"
	}
	if result.Verdict == cases.Differing || all {
		for _, difference := range result.Differences {
			text += "        " + tui.OneLine(difference.Where) + "\n"
			expected, got := difference.Texts()
			text += "          expected " + expected + "\n          got      " + got + "\n"
		}
	}
	return text
}

// CountsText returns the line with the number of cases for each verdict.
func CountsText(counts map[cases.Verdict]int) string {
	all := 0
	for _, count := range counts {
		all += count
	}
	noun := "cases"
	if all == 1 {
		noun = "case"
	}
	text := fmt.Sprintf("%d %s: %d passed, %d failed", all, noun, counts[cases.Passed], counts[cases.Differing])
	for _, rare := range []cases.Verdict{cases.Updated, cases.Broken} {
		if counts[rare] > 0 {
			text += fmt.Sprintf(", %d %s", counts[rare], rare)
		}
	}
	return text + "\n"
}
