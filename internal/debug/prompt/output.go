package prompt

import (
	"fmt"
	"io"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/terminal"
)

// A printer prints text, or JSON with an object a line. DESIGN.md documents the objects.
type printer struct {
	out    io.Writer
	isJSON bool
	width  func() int
	err    error // the first one; nothing is printed after it
}

// A reply is the result of a command.
type reply struct {
	Command     string       `json:"command"`
	Ranks       string       `json:"ranks,omitempty"`
	Parts       []part       `json:"parts,omitempty"`
	Classes     []class      `json:"classes,omitempty"`
	Breakpoints []breakpoint `json:"breakpoints,omitempty"`
	File        string       `json:"file,omitempty"`
	First       int          `json:"first,omitempty"` // line
	Lines       []string     `json:"lines,omitempty"`
	Help        string       `json:"help,omitempty"`
	Error       string       `json:"error,omitempty"`

	text string // for people
}

// A part is a [debug.Part] with its ranks as text.
type part struct {
	Ranks string `json:"ranks"`
	debug.Answer
}

func partsOf(parts []debug.Part) []part {
	all := make([]part, len(parts))
	for i, each := range parts {
		all[i] = part{each.Ranks.String(), each.Answer}
	}
	return all
}

// A class is a [debug.Class] with its ranks as text.
type class struct {
	Ranks string `json:"ranks"`
	debug.Rank
	Description string `json:"description"`
}

func classesOf(classes []debug.Class) []class {
	all := make([]class, len(classes))
	for i, each := range classes {
		all[i] = class{each.Ranks.String(), each.Rank, each.String()}
	}
	return all
}

// A breakpoint is a [debug.Breakpoint] with where it is.
type breakpoint struct {
	debug.Breakpoint
	Places []place `json:"places,omitempty"`
}

// A place is a [debug.Placement] of some ranks.
type place struct {
	Ranks    string `json:"ranks"`
	Verified bool   `json:"verified"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text,omitempty"`
}

// text prints a text, whose end of line is added.
func (o *printer) text(text string) {
	if text == "" || o.err != nil {
		return
	}
	if _, err := io.WriteString(o.out, text+"\n"); err != nil {
		o.err = fmt.Errorf("printing: %w", err)
	}
}

func (o *printer) json(value any) {
	if o.err == nil {
		o.err = terminal.JSON(o.out, value)
	}
}

// reply prints the end of a command.
func (o *printer) reply(r reply) {
	switch {
	case o.isJSON:
		o.json(r)
	case r.Error != "":
		o.text("error: " + plainLines(r.Error))
	default:
		o.text(r.text)
	}
}

// classes prints the states of ranks.
func (o *printer) classes(classes []debug.Class) {
	if o.isJSON {
		o.json(struct {
			Classes []class `json:"classes"`
		}{classesOf(classes)})
		return
	}
	o.text(describeClasses(classes))
}

func describeClasses(classes []debug.Class) string {
	var lines []string
	for _, each := range classes {
		line := label(each.Ranks) + ": " + plain(each.String())
		if each.Reason == debug.ReasonWatch && each.Text != "" {
			line += ": " + plain(each.Text)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// output prints lines of programs and debuggers.
func (o *printer) output(lines []debug.Line) {
	var text strings.Builder
	for _, line := range lines {
		if o.isJSON {
			type output struct {
				Ranks  string `json:"ranks"`
				Stream string `json:"stream"`
				Text   string `json:"text"`
			}
			o.json(struct {
				Output output `json:"output"`
			}{output{line.Ranks.String(), line.Stream, line.Text}})
			continue
		}
		source := label(line.Ranks)
		if line.Stream == debug.StreamDebugger {
			source += " " + line.Stream
		}
		fmt.Fprintf(&text, "[%s] %s\n", source, plainLines(line.Text))
	}
	o.text(strings.TrimSuffix(text.String(), "\n"))
}

// message prints a line about the job.
func (o *printer) message(text string) {
	if o.isJSON {
		o.json(struct {
			Message string `json:"message"`
		}{text})
		return
	}
	o.text(plainLines(text))
}
