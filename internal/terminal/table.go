package terminal

import (
	"bufio"
	"fmt"
	"io"

	"github.com/charmbracelet/x/ansi"
)

const (
	// firstRows are as many rows as set the widths of columns before the first is printed.
	firstRows = 256
	// OutputBuffer is the size of a buffer that saves a call of the system for each line.
	OutputBuffer = 64 << 10
)

// Table prints rows in aligned columns; the last column is not padded.
// On a terminal, cells that are states are StateInColour.
func Table(w io.Writer, header []string, rows [][]string) error {
	table := NewTable(w, header)
	table.Hold(len(rows))
	for _, row := range rows {
		if err := table.Add(row); err != nil {
			return err
		}
	}
	table.isBegun = true // prints the header of a table without rows
	return table.Flush()
}

// A LongTable is a [Table] that prints rows while others are still to come. The first rows set
// the widths of its columns; wider cells that come later widen them from there on.
type LongTable struct {
	output  *bufio.Writer
	colour  bool
	widths  []int
	held    [][]string // the header and rows that are not printed yet
	most    int        // rows that are held
	isBegun bool
	line    []byte
}

// NewTable returns a table that prints nothing before it has a row.
func NewTable(w io.Writer, header []string) *LongTable {
	return &LongTable{output: bufio.NewWriterSize(w, OutputBuffer), colour: WantsColour(w), widths: make([]int, len(header)), held: [][]string{header}, most: firstRows}
}

// Hold makes the first rows, that many at least, set the widths of the columns.
func (t *LongTable) Hold(rows int) { t.most = max(t.most, rows) }

// Add adds a row, which the table may keep.
func (t *LongTable) Add(row []string) error {
	t.isBegun = true
	if t.held == nil {
		t.widen(row)
		return t.print(row)
	}
	t.held = append(t.held, row)
	if len(t.held) <= t.most {
		return nil
	}
	return t.Flush()
}

// Flush prints what was added so far.
func (t *LongTable) Flush() error {
	if !t.isBegun {
		return nil
	}
	for _, row := range t.held {
		t.widen(row)
	}
	for _, row := range t.held {
		if err := t.print(row); err != nil {
			return err
		}
	}
	t.held = nil
	if err := t.output.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

func (t *LongTable) widen(row []string) {
	for i, cell := range row {
		t.widths[i] = max(t.widths[i], widthOf(cell))
	}
}

func (t *LongTable) print(row []string) error {
	t.line = t.line[:0]
	for i, cell := range row {
		if i > 0 {
			t.line = append(t.line, "  "...)
		}
		padding := t.widths[i] - widthOf(cell)
		if t.colour {
			cell = StateInColour(cell)
		}
		t.line = append(t.line, cell...)
		for range padding {
			t.line = append(t.line, ' ')
		}
	}
	end := len(t.line)
	for end > 0 && t.line[end-1] == ' ' {
		end--
	}
	if _, err := t.output.Write(append(t.line[:end], '\n')); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// widthOf returns how many columns of a terminal a text takes.
func widthOf(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}

// isASCII reports whether a text has only printable characters of ASCII, as most have.
func isASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
