// Package listings prints jobs, nodes and queues: as tables, or as JSON.
package listings

import (
	"bufio"
	"fmt"
	"io"

	"github.com/rmctl/rmctl/internal/terminal"
)

// An Output is where and how listings are printed.
type Output struct {
	Writer io.Writer
	IsJSON bool
	Seen   string                                // the time of a listing for JSON, or empty
	Say    func(format string, arguments ...any) // prints a message beside the listing
}

// sayNone prints why a listing is empty, on a terminal only: scripts expect no lines.
func (o Output) sayNone(why string) {
	if !o.IsJSON && terminal.Is(o.Writer) {
		o.Say("%s", why)
	}
}

// A Column is a fact of each thing in a table.
type Column[T any] struct {
	Title string
	Cell  func(T) string
}

// A Kind is how things of one kind are printed.
type Kind[T any] struct {
	Columns  []Column[T]
	Document func(T) any // for JSON
}

// PrintAll prints things: in JSON one on each line, otherwise a table. If there are no things,
// it prints nothing.
func (k Kind[T]) PrintAll(output Output, things []T) error {
	p := k.Printer(output)
	p.table.Hold(len(things)) // all of them set the widths of the columns
	for _, thing := range things {
		if err := p.Print(thing); err != nil {
			return err
		}
	}
	return p.Flush()
}

// A Printer prints things as PrintAll does, while others are still to come.
type Printer[T any] struct {
	kind      Kind[T]
	isJSON    bool
	documents *bufio.Writer
	table     *terminal.LongTable
}

// Printer returns a printer without rows.
func (k Kind[T]) Printer(output Output) *Printer[T] {
	titles := make([]string, len(k.Columns))
	for i, column := range k.Columns {
		titles[i] = column.Title
	}
	return &Printer[T]{k, output.IsJSON, bufio.NewWriterSize(output.Writer, terminal.OutputBuffer), terminal.NewTable(output.Writer, titles)}
}

// Print prints a thing, or keeps it for Flush.
func (p *Printer[T]) Print(thing T) error {
	if p.isJSON {
		return terminal.JSON(p.documents, p.kind.Document(thing))
	}
	row := make([]string, len(p.kind.Columns))
	for i, column := range p.kind.Columns {
		row[i] = column.Cell(thing)
	}
	return p.table.Add(row)
}

// Flush prints what is not printed yet.
func (p *Printer[T]) Flush() error {
	if err := p.documents.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return p.table.Flush()
}
