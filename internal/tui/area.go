package tui

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// An area is where a text stands on a terminal that is drawn again and again, below what
// was printed before.
type area struct {
	terminal io.Writer
	size     func() (columns, rows int)
	drawn    []string // as they stand there

	columns, rows int // of the terminal, when that was drawn
}

// InPlace returns what draws a text on a terminal, each time over the text before. The
// first one begins where the cursor is.
func InPlace(terminal *os.File) (draw func(text string) error) {
	return (&area{terminal: terminal, size: func() (int, int) { return sizeOf(terminal) }}).draw
}

// sizeOf is the size of a terminal, or a usual one.
func sizeOf(terminal *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(terminal.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// draw writes the lines that have changed over those that stand there, as far as the
// terminal has room.
func (a *area) draw(text string) error {
	columns, rows := a.size()
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if room := max(rows-1, 1); len(lines) > room {
		left := len(lines) - room + 1
		lines = append(lines[:room-1:room-1], fmt.Sprintf("… %d more lines", left))
	}
	var out strings.Builder
	if (columns != a.columns || rows != a.rows) && a.drawn != nil { // what stands there has moved
		out.WriteString("\x1b[H\x1b[2J")
		a.drawn = nil
	}
	a.columns, a.rows = columns, rows
	if count := len(a.drawn); count > 0 {
		fmt.Fprintf(&out, "\r\x1b[%dA", count)
	}
	for i, line := range lines {
		lines[i] = Cut(line, columns)
		if i >= len(a.drawn) || a.drawn[i] != lines[i] {
			out.WriteString(lines[i])
			if Width(lines[i]) < columns { // otherwise it would take the last character away
				out.WriteString("\x1b[K")
			}
		}
		out.WriteString("\n")
	}
	out.WriteString("\x1b[J")
	a.drawn = lines
	if _, err := io.WriteString(a.terminal, out.String()); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
