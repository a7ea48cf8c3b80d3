// Package listings prints jobs, nodes, queues and targets: as tables, JSON, or with a template.
package listings

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// A Column is a fact of each thing in a table.
type Column[T any] struct {
	Title  string
	Cell   func(T) string
	Key    func(T) string // the sort key of rows; nil for the cell
	IsWide bool           // whether only wide tables have it
}

// A Kind is how things of one kind are printed.
type Kind[T any] struct {
	Columns  []Column[T]
	ID       func(thing T, withTarget bool) string
	Document func(thing T, seen string) any // for JSON and YAML; seen is the time of the listing, or empty
	Fields   []string                       // the members of documents
	Extra    map[string]func(T) string      // fields of templates that documents do not have
}

// PrintAll prints things. For an empty list, it prints why, on a terminal only: scripts expect
// no lines.
func (k Kind[T]) PrintAll(output Output, things []T, none string) error {
	if len(things) == 0 && none != "" && output.form == formTable && terminal.Is(output.Writer) {
		output.Say("%s", none)
	}
	p, err := k.Printer(output)
	if err != nil {
		return err
	}
	p.table.Hold(len(things)) // they all set the widths of the columns
	for _, thing := range things {
		if p.IsFull() {
			break
		}
		if err := p.Print(thing); err != nil {
			return err
		}
	}
	return p.Flush()
}

// A Printer prints things as PrintAll does, while others are still to come.
type Printer[T any] struct {
	kind    Kind[T]
	output  Output
	columns []Column[T] // of the table
	order   []order[T]
	made    *template

	text    *bufio.Writer
	table   *terminal.LongTable
	printed int
	kept    []*entry // until all can be sorted
}

// An entry is a printed item: the cells of its row, or text.
type entry struct {
	cells, keys []string
	text        []byte
}

// Printer returns a printer, or an error if the output asks for what the kind does not have.
func (k Kind[T]) Printer(output Output) (*Printer[T], error) {
	p := &Printer[T]{kind: k, output: output, text: bufio.NewWriterSize(output.Writer, terminal.OutputBuffer)}
	var err error
	if p.columns, err = k.chosen(output); err != nil {
		return nil, err
	}
	if p.order, err = k.order(output.sort); err != nil {
		return nil, err
	}
	if p.made, err = k.template(output.template); err != nil {
		return nil, err
	}
	titles := make([]string, len(p.columns))
	for i, column := range p.columns {
		titles[i] = column.Title
	}
	p.table = terminal.NewTable(output.Writer, titles)
	return p, nil
}

// Check returns an error if the output asks for what the kind does not have.
func (k Kind[T]) Check(output Output) error {
	_, err := k.Printer(output)
	return err
}

// IsFull reports whether further things would not be printed.
func (p *Printer[T]) IsFull() bool {
	return p.output.limit > 0 && len(p.order) == 0 && p.printed >= p.output.limit
}

// Print prints a thing, or keeps it for Flush.
func (p *Printer[T]) Print(thing T) error {
	p.printed++
	switch {
	case len(p.order) > 0:
		kept, err := p.entryOf(thing)
		p.kept = append(p.kept, kept)
		return err
	case p.output.form == formTable:
		return p.table.Add(p.row(thing))
	}
	return p.write(p.text, thing)
}

func (p *Printer[T]) row(thing T) []string {
	row := make([]string, len(p.columns))
	for i, column := range p.columns {
		row[i] = column.Cell(thing)
	}
	return row
}

// entryOf renders a thing that is to be sorted: callers may change it afterwards.
func (p *Printer[T]) entryOf(thing T) (*entry, error) {
	e := &entry{}
	for _, by := range p.order {
		e.keys = append(e.keys, by.key(thing))
	}
	if p.output.form == formTable {
		e.cells = p.row(thing)
		return e, nil
	}
	var text bytes.Buffer
	err := p.write(&text, thing)
	e.text = text.Bytes()
	return e, err
}

// write prints an item that is not a table row.
func (p *Printer[T]) write(w io.Writer, thing T) error {
	var line string
	switch p.output.form {
	case formJSON:
		return terminal.JSON(w, p.kind.Document(thing, p.output.Seen))
	case formYAML:
		return writeYAML(w, p.kind.Document(thing, p.output.Seen))
	case formTemplate:
		var err error
		if line, err = p.filled(thing); err != nil {
			return err
		}
	default:
		line = tui.OneLine(p.kind.ID(thing, p.output.Target == ""))
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// Flush prints the buffered rows.
func (p *Printer[T]) Flush() error {
	sorting.Stable(p.kept, func(a, b *entry) int { return compare(a.keys, b.keys, p.order) })
	for i, e := range p.kept {
		if p.output.limit > 0 && i == p.output.limit {
			break
		}
		if err := p.emit(e); err != nil {
			return err
		}
	}
	if p.output.form == formYAML && p.printed == 0 {
		fmt.Fprintln(p.text, "[]")
	}
	if err := p.text.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return p.table.Flush()
}

func (p *Printer[T]) emit(e *entry) error {
	if e.cells != nil {
		return p.table.Add(e.cells)
	}
	_, err := p.text.Write(e.text)
	return err
}

// An order is a column that rows are sorted by.
type order[T any] struct {
	key        func(T) string
	descending bool
}

// compare compares the keys of two rows. Unknown values come last.
func compare[T any](a, b []string, by []order[T]) int {
	for i, order := range by {
		unknownA, unknownB := a[i] == "" || a[i] == "-", b[i] == "" || b[i] == "-"
		switch {
		case unknownA && unknownB:
			continue
		case unknownA:
			return 1
		case unknownB:
			return -1
		}
		compared := cmp.Or(sorting.CompareNumbered(a[i], b[i]), cmp.Compare(a[i], b[i]))
		if order.descending {
			compared = -compared
		}
		if compared != 0 {
			return compared
		}
	}
	return 0
}
