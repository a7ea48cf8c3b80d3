package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A Frame is the part of a terminal that a listing is printed to, again and again. It
// takes what is printed until it is drawn.
type Frame struct {
	bytes.Buffer
	File  *os.File
	Size  func(descriptor int) (columns, rows int, err error) // as of [term.GetSize]
	Drawn []string                                            // the lines that stand there

	columns, rows int // of the terminal, when that was drawn
}

// Draw writes the lines that have changed over those that stand there, as far as the
// terminal has room.
func (f *Frame) Draw(text string) error {
	columns, rows, err := f.Size(int(f.File.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		columns, rows = 80, 24
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if room := max(rows-1, 1); len(lines) > room {
		left := len(lines) - room + 1
		lines = append(lines[:room-1:room-1], fmt.Sprintf("… %d lines more", left))
	}
	var out strings.Builder
	if (columns != f.columns || rows != f.rows) && f.Drawn != nil { // what stands there has moved
		out.WriteString("\x1b[H\x1b[2J")
		f.Drawn = nil
	}
	f.columns, f.rows = columns, rows
	if count := len(f.Drawn); count > 0 {
		fmt.Fprintf(&out, "\r\x1b[%dA", count)
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, columns, "…")
		if i >= len(f.Drawn) || f.Drawn[i] != lines[i] {
			out.WriteString(lines[i])
			if ansi.StringWidth(lines[i]) < columns { // else it would take the last character away
				out.WriteString("\x1b[K")
			}
		}
		out.WriteString("\n")
	}
	out.WriteString("\x1b[J")
	f.Drawn = lines
	if _, err := io.WriteString(f.File, out.String()); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
