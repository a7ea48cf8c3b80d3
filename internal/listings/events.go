package listings

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// Events is how the history of a job is printed.
func Events() Kind[job.Event] {
	return Kind[job.Event]{
		Columns: []Column[job.Event]{
			{Title: "SEEN", Cell: func(e job.Event) string { return terminal.Clock(e.Observed) }},
			{Title: "WHAT", Cell: func(e job.Event) string { return string(e.Kind) }},
			{Title: "STATE", Cell: wordOfEvent},
			{Title: "DETAIL", Cell: func(e job.Event) string { return terminal.OrDash(string(e.Detail)) }},
			{Title: "NATIVE", Cell: func(e job.Event) string { return terminal.OrDash(e.Native) }},
			{Title: "BY", Cell: func(e job.Event) string { return terminal.OrDash(e.Source) }},
			{Title: "AT", Cell: func(e job.Event) string { return place(e.Origin) }},
			{Title: "FROM", Cell: evidence},
		},
		Document: func(e job.Event, _ string) any { return e },
	}
}

// wordOfEvent returns the word for the state of an event, "-" without one.
func wordOfEvent(event job.Event) string {
	if event.Detail == "" {
		return "-"
	}
	return event.Detail.Word()
}

// place returns the output and the line that an event was read from.
func place(origin job.Origin) string {
	if origin.Line == 0 {
		return terminal.OrDash(origin.Stream)
	}
	return fmt.Sprintf("%s:%d", tui.OneLine(origin.Stream), origin.Line)
}

// evidence returns the reason of an event and the line that it was read from, or the output if
// the line is not known.
func evidence(event job.Event) string {
	var parts []string
	for _, part := range []string{event.Reason, cmp.Or(event.Origin.Text, event.Evidence)} {
		if part = tui.OneLine(part); part != "" {
			parts = append(parts, part)
		}
	}
	return terminal.AtMost(strings.Join(parts, " | "), terminal.LongestCell)
}
