// Package trace shows what a tokenizer does, as text or JSON.
package trace

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/tokenizer"
)

// A Writer writes the events of a tokenizer, each as a JSON object or a line, in color on
// a terminal.
type Writer struct {
	to     io.Writer
	json   bool
	colour bool
	width  int   // of the column of positions
	err    error // the first of writing
}

// New returns a writer for the events of a parser.
func New(to io.Writer, parser *config.Parser, json bool) *Writer {
	return &Writer{to: to, json: json, colour: terminal.WantsColour(to), width: widestPosition(parser)}
}

// Err returns the first error of writing.
func (w *Writer) Err() error { return w.err }

// Begin sets the folder of the output for the next events.
func (w *Writer) Begin(folder string) {
	if w.json {
		w.err = terminal.JSON(w.to, struct {
			Event  string `json:"event"`
			Folder string `json:"folder"`
		}{"reading", folder})
		return
	}
	_, w.err = fmt.Fprintln(w.to, w.format(traceLine{kind: "reading", text: tui.OneLine(folder), colour: bold}))
}

// Write writes an event. A failure does not stop the run.
func (w *Writer) Write(event tokenizer.TraceEvent) {
	var err error
	if w.json {
		err = terminal.JSON(w.to, eventOf(event))
	} else if line, shown := lineOf(event); shown {
		_, err = fmt.Fprintln(w.to, w.format(line))
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("writing the trace: %w", err)
	}
}

// A traceLine is an event as text.
type traceLine struct {
	depth  int // of the indentation
	kind   string
	at     config.Position
	text   string
	colour string // of the kind, as a parameter of the terminal's SGR sequence
}

const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// kindWidth is the width of the column of kinds, including indentation.
const kindWidth = 13

func (w *Writer) format(line traceLine) string {
	kind := strings.Repeat("  ", line.depth) + line.kind
	kindPadding := strings.Repeat(" ", max(1, kindWidth-len(kind)))
	at := ""
	if line.at.Line > 0 {
		at = tui.Printable(line.at.String())
	}
	atPadding := ""
	if line.depth > 0 {
		atPadding = strings.Repeat(" ", max(0, w.width-utf8.RuneCountInString(at))+2)
	}
	if w.colour {
		kind, at = terminal.InColour(line.colour, kind), terminal.InColour(faint, at)
	}
	return strings.TrimRight(kind+kindPadding+at+atPadding+tui.Printable(line.text), " ")
}

// lineOf returns an event as text. It omits the error, which follows the trace.
func lineOf(e tokenizer.TraceEvent) (line traceLine, shown bool) {
	line = traceLine{1, e.Kind, e.Position, "", cyan}
	switch e.Kind {
	case "segment":
		line = segmentLine(e)
	case "miss":
		line.text, line.colour = missText(e)
	case "match":
		line.text, line.colour = matchText(e), green
	case "unmatched":
		line.text, line.colour = "no target takes it", faint
	case "move":
		line.depth, line.text = 2, targetName(e.Target)+" is now tried first"
	case "action":
		line.depth, line.kind, line.text = 2, string(e.Action.Kind), actionText(e)
	case "exit":
		line.text, line.colour = "the rest of the stream is ignored", yellow
	case "end":
		line.depth, line.colour = 0, bold
	case "test":
		line = testLine(e)
	case "else":
		line.text = elseText(e)
	case "merge":
		line.text = "another attribute " + traced(e.Name) + " is merged into the first"
	case "discover":
		line.text, line.colour = e.Attribute.Name()+" = "+tracedValue(e.Attribute.Value()), green
	case "drop":
		line.text, line.colour = "drops an attribute without a name: "+tracedValue(e.Attribute.Value()), yellow
	case "warning":
		line.text, line.colour = e.Warning.Error(), yellow
	default:
		return line, false
	}
	return line, true
}

func segmentLine(e tokenizer.TraceEvent) traceLine {
	kind := fmt.Sprintf("segment %d", e.Number)
	if e.Saved {
		kind = fmt.Sprintf("saved %d", e.Number)
	}
	return traceLine{0, kind, config.Position{}, traced(e.Text), bold}
}

func elseText(e tokenizer.TraceEvent) string {
	if e.Acted {
		return targetName(e.Target) + ": no test is true"
	}
	return targetName(e.Target) + ": no match has acted"
}

func missText(e tokenizer.TraceEvent) (text, colour string) {
	text = targetName(e.Target)
	near := e.Explain()
	switch {
	case near.Near:
		return text + fmt.Sprintf(": it would match only bytes %d to %d, %s", near.Start, near.End, traced(e.Text[near.Start:near.End])), yellow
	case near.Leading != "":
		text += fmt.Sprintf(": only the beginning `%s` fits, up to byte %d; ", near.Leading, near.LeadingEnd)
		if near.LeadingEnd < len(e.Text) {
			text += "then comes " + traced(e.Text[near.LeadingEnd:])
		} else {
			text += "then the text ends"
		}
	}
	return text, faint
}

func matchText(e tokenizer.TraceEvent) string {
	text := targetName(e.Target)
	split := e.Match.Expression != nil && e.Match.Expression.Split
	separator := ": "
	for i, capture := range e.Captures {
		if i == 0 && !split {
			continue // the segment, or what is left of it
		}
		value := "not set"
		if capture.Set {
			value = traced(capture.Text)
		}
		text += fmt.Sprintf("%s%d = %s", separator, i, value)
		separator = ", "
	}
	if e.Consumed < len(e.Text) {
		text += fmt.Sprintf("; it leaves %s", traced(e.Text[e.Consumed:]))
	}
	return text
}

func actionText(e tokenizer.TraceEvent) string {
	place := fmt.Sprintf("%s of %s", e.Field, attributeName(e.Attribute))
	switch e.Action.Kind {
	case config.Add:
		parts := make([]string, 0, len(e.Stored))
		for _, stored := range e.Stored {
			parts = append(parts, traced(stored.Text))
		}
		return place + " += " + strings.Join(parts, ", ")
	case config.Put:
		parts := make([]string, 0, len(e.Stored))
		for _, stored := range e.Stored {
			value := "not set"
			if stored.Set {
				value = traced(stored.Text)
			}
			parts = append(parts, fmt.Sprintf("%s: %s", traced(stored.Key), value))
		}
		return place + " += {" + strings.Join(parts, ", ") + "}"
	}
	return place + " = " + tracedValue(e.Value)
}

func testLine(e tokenizer.TraceEvent) traceLine {
	line := traceLine{1 + e.Depth, "test", e.Test.Position, attributeName(e.Attribute) + ": ", faint}
	switch len(e.Operands) {
	case 2:
		line.text += fmt.Sprintf("%s %s %s", tracedValue(e.Operands[0]), e.Test.Operator, tracedValue(e.Operands[1]))
	default:
		line.text += string(e.Test.Operator)
	}
	line.text += fmt.Sprintf(" is %t", e.Outcome)
	if e.Outcome {
		line.colour = green
	}
	return line
}

// targetName names a target as its definition does.
func targetName(target *config.Target) string {
	if !target.Ref.Set {
		return "constructed"
	}
	return target.Ref.Text
}

func attributeName(described *attribute.Attribute) string {
	if name := described.Name(); name != "" {
		return name
	}
	return "one without a name"
}

// longestTraced limits a text in a trace, in bytes.
const longestTraced = 200

func traced[T string | []byte](text T) string {
	if len(text) <= longestTraced {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q… of %d bytes", cutText(text, longestTraced), len(text))
}

// tracedValue formats a value with its type: only texts have quotes.
func tracedValue(value attribute.Value) string {
	switch v := value.(type) {
	case nil:
		return "not set"
	case string:
		return traced(v)
	case []string, map[string]string:
		text := attribute.Text(v)
		if cut := cutText(text, longestTraced); cut != text {
			return cut + "…"
		}
		return text
	default:
		return attribute.Text(v)
	}
}

// cutText truncates a text to a number of bytes, at the end of a character.
func cutText[T string | []byte](text T, longest int) T {
	if len(text) <= longest {
		return text
	}
	end := longest
	for end > longest-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// widestPosition returns the width of the longest position in events of a parser.
func widestPosition(parser *config.Parser) int {
	widest := 0
	measure := func(at config.Position) { widest = max(widest, utf8.RuneCountInString(at.String())) }
	for _, target := range parser.Targets {
		measure(target.Position)
		for _, match := range target.Matches {
			measure(match.Position)
		}
		inspect.EachTest(target.Tests, func(test *config.Test) bool {
			measure(test.Position)
			return true
		})
		for _, action := range inspect.Actions(target) {
			measure(action.Position)
		}
	}
	return widest
}
