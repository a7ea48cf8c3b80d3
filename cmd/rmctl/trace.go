package main

import (
	"fmt"
	"io"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
)

// longestTraced bounds how much of a segment one line of a trace shows, in bytes.
const longestTraced = 200

// traceTo returns a function that tells what a tokenizer does, a line an event,
// or a JSON object with --json.
func (a *app) traceTo(w io.Writer) func(tokenizer.Event) {
	return func(event tokenizer.Event) {
		line := traceLine(event)
		if line == "" {
			return
		}
		if a.json {
			// A trace that cannot be written is of no account to the run.
			_ = printJSON(w, map[string]string{"event": fmt.Sprintf("%T", event)[len("tokenizer."):], "text": line})
			return
		}
		fmt.Fprintln(w, printable(line))
	}
}

func traceLine(event tokenizer.Event) string {
	switch e := event.(type) {
	case tokenizer.SegmentEvent:
		return fmt.Sprintf("segment %d: %s", e.Number, traced(e.Text))
	case tokenizer.MissEvent:
		text := fmt.Sprintf("  %s: no match", e.Match.Position)
		if e.Near {
			text += fmt.Sprintf("; it would match only bytes %d to %d: %s", e.Start, e.End, traced(e.Text[e.Start:e.End]))
		}
		return text
	case tokenizer.MatchEvent:
		text := fmt.Sprintf("  %s: match", e.Match.Position)
		for i, capture := range e.Captures {
			if i > 0 && capture.Set {
				text += fmt.Sprintf(", %d = %s", i, traced(capture.Text))
			}
		}
		return text
	case tokenizer.UnmatchedEvent:
		return "  no target takes it"
	case tokenizer.ActionEvent:
		return fmt.Sprintf("    %s of %q: %s = %q", e.Action.Kind, e.Attribute.Name(), e.Field, attribute.Text(e.Value))
	case tokenizer.TestEvent:
		text := fmt.Sprintf("test %s %s", e.Test.Position, e.Test.Operator)
		for _, operand := range e.Operands {
			text += fmt.Sprintf(" %q", attribute.Text(operand))
		}
		return fmt.Sprintf("%s: %t", text, e.Outcome)
	case tokenizer.MergeEvent:
		return fmt.Sprintf("merged constructed attributes named %q", e.Name)
	case tokenizer.ExitEvent:
		return fmt.Sprintf("%s: the rest is not read", e.Expression.Position)
	case tokenizer.WarningEvent:
		return fmt.Sprintf("warning: %s: %v", e.Position, e.Err)
	default:
		return ""
	}
}

func traced(text []byte) string {
	if len(text) > longestTraced {
		return fmt.Sprintf("%q… (%d bytes)", text[:longestTraced], len(text))
	}
	return fmt.Sprintf("%q", text)
}
