package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// JSON prints a value as JSON on one line, safe for a terminal.
func JSON(w io.Writer, value any) error {
	return IndentedJSON(w, value, "")
}

// IndentedJSON prints a value as JSON, over several lines if there is an indent.
func IndentedJSON(w io.Writer, value any, indent string) error {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	if err == nil {
		_, err = w.Write(printableJSON(encoded.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

// printableJSON escapes characters that JSON allows but a terminal interprets: 8-bit controls
// and letters that change the direction of text.
func printableJSON(encoded []byte) []byte {
	if len(encoded) > 0 && isASCII(encoded[:len(encoded)-1]) {
		return encoded
	}
	isShown := func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }
	if bytes.IndexFunc(encoded, func(r rune) bool { return !isShown(r) }) < 0 {
		return encoded
	}
	shown := make([]byte, 0, len(encoded)+len(encoded)/8)
	for _, r := range string(encoded) {
		if isShown(r) {
			shown = utf8.AppendRune(shown, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			shown = fmt.Appendf(shown, `\u%04x`, unit)
		}
	}
	return shown
}

// StateInColour colours a job state: green for running and completed jobs, red for failed
// ones, yellow for those that wait for somebody.
func StateInColour(text string) string {
	const red, green, yellow = "31", "32", "33"
	colour := ""
	switch detail := job.Detail(text); {
	case text == job.UserOnHold.Word():
		colour = yellow
	case detail == job.Failed || detail == job.Canceled:
		colour = red
	case detail == job.Running || detail == job.Completed || detail == job.OutputReady:
		colour = green
	case detail.OnHold() || detail.Primary() == job.Suspended:
		colour = yellow
	default:
		return text
	}
	return InColour(colour, text)
}

// A Sink collects output for a terminal until it is drawn.
type Sink struct {
	bytes.Buffer
	File *os.File // the terminal, whose colours count
}

// WantsColour reports whether a stream is a terminal with colour (no-color.org).
func WantsColour(w io.Writer) bool {
	if sink, isSink := w.(*Sink); isSink {
		w = sink.File
	}
	return Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Clock is a time for people.
func Clock(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}

// Age returns the time since at, in the largest unit that fits.
func Age(at, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	passed := max(now.Sub(at), 0)
	switch {
	case passed < time.Minute:
		return fmt.Sprintf("%ds", int(passed.Seconds()))
	case passed < time.Hour:
		return fmt.Sprintf("%dm", int(passed.Minutes()))
	case passed < 48*time.Hour:
		return fmt.Sprintf("%dh", int(passed.Hours()))
	default:
		return fmt.Sprintf("%dd", int(passed.Hours()/24))
	}
}

// LongestCell bounds the text of a cell of a table: a column is as wide as its widest cell.
const LongestCell = 120

// PartOf names the part and the ensemble of a job; empty for a job of no ensemble.
func PartOf(ensemble, part string) string {
	if ensemble == "" {
		return ""
	}
	return "part " + part + " of ensemble " + ensemble
}

// OrDash returns a text for a cell of a table, "-" for an empty one.
func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return AtMost(tui.OneLine(text), LongestCell)
}

// AtMost returns a text, cut to a number of characters.
func AtMost(text string, longest int) string {
	if utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest]) + "…"
}

// InColour gives a text a colour, a parameter of the terminal's SGR sequence.
func InColour(colour, text string) string {
	if colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
