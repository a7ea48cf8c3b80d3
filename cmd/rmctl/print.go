package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/state"
)

// printable makes text safe for a terminal, with its line breaks and tabs.
func printable(text string) string { return tui.Printable(text) }

// oneLine is printable on one line.
func oneLine(text string) string { return tui.OneLine(text) }

// printJSON prints one object on a line, which a terminal shows as it is.
func printJSON(w io.Writer, value any) error {
	return encodeJSON(w, value, "")
}

// encodeJSON prints a value as JSON, over several lines if there is an indent.
func encodeJSON(w io.Writer, value any, indent string) error {
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

// printableJSON writes what JSON allows in its texts and a terminal acts upon,
// controls of eight bits and letters that turn the line, as escapes: the meaning
// is the same.
func printableJSON(encoded []byte) []byte {
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

// printJobs prints jobs: with --json an object a line, else a table of what row
// makes of each at one point in time, and nothing at all if there are none.
func (a *app) printJobs(jobs []job.Job, header []string, row func(job job.Job, now time.Time) []string) error {
	if a.json {
		for _, job := range jobs {
			if err := printJSON(a.stdout, job.Document()); err != nil {
				return err
			}
		}
		return nil
	}
	if len(jobs) == 0 {
		return nil
	}
	now := time.Now()
	rows := make([][]string, 0, len(jobs))
	for _, job := range jobs {
		rows = append(rows, row(job, now))
	}
	return printTable(a.stdout, header, rows)
}

// sayNone tells a user at a terminal why nothing is listed. Where something else reads
// what is printed, no line says it.
func (a *app) sayNone(why string) {
	if !a.json && isTerminal(a.stdout) {
		a.say("%s", why)
	}
}

// printTable prints rows in aligned columns; the last column is not padded.
// On a terminal, cells that are states are coloured.
func printTable(w io.Writer, header []string, rows [][]string) error {
	widths := make([]int, len(header))
	all := append([][]string{header}, rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	colour := wantsColour(w)
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			padding := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if colour {
				cell = coloured(cell)
			}
			line.WriteString(cell + padding)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
}

// coloured colours a text that is a job's state: green while it runs or has
// succeeded, red when it failed, yellow while it waits for somebody.
func coloured(text string) string {
	const red, green, yellow = "31", "32", "33"
	colour := ""
	switch detail := state.Detail(text); {
	case detail == state.Failed || detail == state.Canceled:
		colour = red
	case detail == state.Running || detail == state.Completed || detail == state.OutputReady:
		colour = green
	case detail.OnHold() || detail.Primary() == state.PrimarySuspended:
		colour = yellow
	default:
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// wantsColour reports whether a stream is a terminal whose user has nothing
// against colour (no-color.org).
func wantsColour(w io.Writer) bool {
	if f, isFrame := w.(*frame); isFrame {
		w = f.file
	}
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// clock is a time for people.
func clock(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}

// age tells how long ago something was, in the largest unit that fits.
func age(at, now time.Time) string {
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

// longestCell bounds what stands in one cell of a table: each row is as wide as
// the widest of its column.
const longestCell = 120

// orDash is what a cell of a table shows of a text.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return atMost(oneLine(text), longestCell)
}

// atMost returns as many characters of a text as there is room for.
func atMost(text string, longest int) string {
	if utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest]) + "…"
}

// remark is what a person should know of a job beside its state.
func remark(j job.Job) string {
	var all remarks
	all.addEnd(j)
	if j.Detail.Primary() == state.PrimaryUndetermined && j.Native != "" {
		all.add("the scheduler says %q", j.Native)
	}
	if j.Missing && j.ID != "" && !(j.Interactive && j.Stale) { // why such a job is stale says it, too
		all.add("no longer known to the scheduler")
	}
	if j.Irregular != "" {
		all.add("%s", j.Irregular)
	}
	all.addSubmission(j)
	if j.Successor != "" {
		all.add("its id was given to another job; how it ended is not known")
	}
	if j.Stale && j.ID != "" {
		all.add("stale: %s", j.StaleReason)
	}
	if j.Error != "" {
		all.add("%s", j.Error)
	}
	return atMost(oneLine(strings.Join(all, "; ")), longestCell)
}

// remarks are remarks on a job, each once.
type remarks []string

func (r *remarks) add(format string, arguments ...any) {
	if remark := fmt.Sprintf(format, arguments...); !slices.Contains(*r, remark) {
		*r = append(*r, remark)
	}
}

// addEnd adds how a job ended, and the reason for its state.
func (r *remarks) addEnd(j job.Job) {
	if j.ExitCode != nil && j.Detail.Ended() {
		r.add("exit code %d", *j.ExitCode)
	}
	if j.Signal != nil && *j.Signal != 0 {
		r.add("signal %d", *j.Signal)
	}
	if j.Reason != "" {
		r.add("%s", j.Reason)
	}
}

// addSubmission adds what is not settled about the submission of a job.
func (r *remarks) addSubmission(j job.Job) {
	switch {
	case j.ID == "" && j.Stale:
		r.add("submission %s: %s", j.Tag, j.StaleReason)
	case j.Phase == job.PhaseIntended:
		r.add("being submitted, or cut off while it was: submission %s", j.Tag)
	case j.Phase == job.PhaseUnknown:
		r.add("it is not known whether it was submitted")
	}
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](entries map[string]V) []string {
	return slices.Sorted(maps.Keys(entries))
}
