package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/tui"
)

const (
	longestLabel = 60      // characters of a set of ranks
	longestText  = 4 << 10 // bytes of a text on one line
	usualWidth   = 80      // columns, without a terminal
)

// label writes ranks for people. A long set is cut.
func label(ranks debug.Ranks) string {
	text := ranks.String()
	if len(text) <= longestLabel {
		return text
	}
	cut := text[:strings.LastIndexByte(text[:longestLabel], ',')]
	return fmt.Sprintf("%s,… (%d ranks)", cut, ranks.Count())
}

// plain makes a text of a program safe for one line of a terminal.
func plain(text string) string {
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}
	text = strings.ReplaceAll(tui.Printable(strings.TrimRight(text, "\n")), "\n", `\n`)
	return tui.WithoutMarks(strings.ReplaceAll(text, "\t", " "))
}

// plainLines makes a text of a program safe for a terminal, its line breaks kept.
func plainLines(text string) string {
	return tui.WithoutMarks(tui.Printable(strings.TrimRight(text, "\n")))
}

// A labelled text is what some ranks have in common. It may have several lines.
type labelled struct {
	ranks debug.Ranks
	text  string
}

// merged joins equal texts, those of the lowest rank first.
func merged(all []labelled) []labelled {
	at := map[string]int{}
	var joined []labelled
	for _, each := range all {
		if i, known := at[each.text]; known {
			joined[i].ranks = joined[i].ranks.Union(each.ranks)
			continue
		}
		at[each.text] = len(joined)
		joined = append(joined, each)
	}
	slices.SortStableFunc(joined, func(a, b labelled) int { return cmp.Compare(a.ranks[0].First, b.ranks[0].First) })
	return joined
}

// written returns texts on one line if they are short, otherwise each on lines of its own.
func written(all []labelled, width int) string {
	all = merged(all)
	var parts []string
	isShort, length := true, 0
	for _, each := range all {
		if strings.Contains(each.text, "\n") {
			isShort = false
			parts = append(parts, label(each.ranks)+":\n  "+strings.ReplaceAll(each.text, "\n", "\n  "))
			continue
		}
		part := strings.TrimSpace(label(each.ranks) + ": " + each.text)
		parts = append(parts, part)
		length += tui.Width(part) + len(" | ")
	}
	if isShort && length-len(" | ") <= width {
		return strings.Join(parts, " | ")
	}
	return strings.Join(parts, "\n")
}

// usualProblems are the texts of problems without one.
var usualProblems = map[debug.Problem]string{
	debug.Failed: "the debugger refused", debug.Unsupported: "this debugger does not support it", debug.IsRunning: "running",
	debug.NotRunning: "no process", debug.Silent: "no answer",
}

// problemOf returns why ranks did not answer, empty if they did.
func problemOf(answer debug.Answer) string {
	if answer.Problem == "" {
		return ""
	}
	return plain(cmp.Or(answer.Text, usualProblems[answer.Problem], string(answer.Problem)))
}

// textsOf returns a text for each part.
func textsOf(parts []debug.Part, text func(debug.Answer) string) []labelled {
	var all []labelled
	for _, part := range parts {
		each := labelled{part.Ranks, problemOf(part.Answer)}
		if each.text == "" {
			each.text = text(part.Answer)
		}
		all = append(all, each)
	}
	return all
}

// problemsOf returns the parts that have no answer.
func problemsOf(parts []debug.Part) []labelled {
	return textsOf(slices.DeleteFunc(slices.Clone(parts), func(p debug.Part) bool { return p.Problem == "" }), nil)
}

// areAllProblems reports whether no rank answered.
func areAllProblems(parts []debug.Part) bool {
	return !slices.ContainsFunc(parts, func(p debug.Part) bool { return p.Problem == "" })
}

// both returns the ranks in both sets.
func both(a, b debug.Ranks) debug.Ranks { return a.Without(a.Without(b)) }
