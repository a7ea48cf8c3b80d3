package salvage

import (
	"encoding/binary"
	"errors"
	"math"
)

// A Row is a row of a table. Its values are nil, int64, float64, string or []byte, in the order
// of the columns; those that were added to the table later may be missing at the end.
type Row struct {
	Number int64
	Values []any
	// IsStray is set if the row is outside the tree of its table: a deleted row, or an old
	// version of one.
	IsStray bool
}

// The kinds of pages of tables.
const (
	interiorPage = 0x05
	leafPage     = 0x0d
)

var errCell = errors.New("the cell is damaged")

// A node is a page of a table.
type node struct {
	page  []byte
	start int // of its header: the first page begins with the database header
}

func nodeOf(number int, page []byte) node {
	if number == 1 {
		return node{page, 100}
	}
	return node{page, 0}
}

func (n node) kind() byte { return n.page[n.start] }

// cells returns where the cells of the page begin; 0 for one that cannot be found.
func (n node) cells() []int {
	header := 8
	if n.kind() == interiorPage {
		header = 12
	}
	first := n.start + header
	count := int(binary.BigEndian.Uint16(n.page[n.start+3:]))
	count = min(count, (pageSize-first)/2)
	places := make([]int, count)
	for i := range places {
		place := int(binary.BigEndian.Uint16(n.page[first+2*i:]))
		if place >= first+2*count && place < pageSize {
			places[i] = place
		}
	}
	return places
}

// varint reads a number of SQLite at the beginning of a text, and returns what follows.
func varint(text []byte) (value int64, rest []byte, err error) {
	for i, each := range text {
		if i == 8 {
			return value<<8 | int64(each), text[i+1:], nil
		}
		value = value<<7 | int64(each&0x7f)
		if each < 0x80 {
			return value, text[i+1:], nil
		}
	}
	return 0, nil, errCell
}

// row decodes a cell of a leaf.
func (p *pageFile) row(page []byte, place int) (Row, error) {
	if place == 0 {
		return Row{}, errCell
	}
	size, rest, err := varint(page[place:])
	if err != nil {
		return Row{}, err
	}
	number, rest, err := varint(rest)
	if err != nil {
		return Row{}, err
	}
	payload, err := p.payload(size, rest)
	if err != nil {
		return Row{}, err
	}
	values, err := decode(payload)
	return Row{Number: number, Values: values}, err
}

// payload returns the content of a cell, which may continue on other pages.
func (p *pageFile) payload(size int64, local []byte) ([]byte, error) {
	if size < 1 || size > int64(p.count)*pageSize {
		return nil, errCell
	}
	const most, least = pageSize - 35, (pageSize-12)*32/255 - 23
	here := size
	if size > most {
		if here = least + (size-least)%(pageSize-4); here > most {
			here = least
		}
	}
	if here > int64(len(local)) {
		return nil, errCell
	}
	if here == size {
		return local[:size], nil
	}
	if int64(len(local)) < here+4 {
		return nil, errCell
	}
	content := append(make([]byte, 0, size), local[:here]...)
	next := int(binary.BigEndian.Uint32(local[here:]))
	for int64(len(content)) < size {
		page, err := p.page(next)
		if err != nil {
			return nil, errCell
		}
		next = int(binary.BigEndian.Uint32(page))
		content = append(content, page[4:4+min(size-int64(len(content)), pageSize-4)]...)
	}
	if next != 0 {
		return nil, errCell
	}
	return content, nil
}

// decode returns the values of a record.
func decode(record []byte) ([]any, error) {
	size, rest, err := varint(record)
	if err != nil || size < int64(len(record)-len(rest)) || size > int64(len(record)) {
		return nil, errCell
	}
	types, content := record[len(record)-len(rest):size], record[size:]
	var values []any
	for len(types) > 0 {
		var kind int64
		if kind, types, err = varint(types); err != nil {
			return nil, err
		}
		length := lengthOf(kind)
		if length < 0 || length > int64(len(content)) {
			return nil, errCell
		}
		values = append(values, value(kind, content[:length]))
		content = content[length:]
	}
	if len(content) > 0 {
		return nil, errCell
	}
	return values, nil
}

// lengthOf returns the length of a value of a type; -1 if there is no such type.
func lengthOf(kind int64) int64 {
	switch {
	case kind < 0 || kind == 10 || kind == 11:
		return -1
	case kind >= 12:
		return (kind - 12) / 2
	}
	return [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind]
}

// value returns the value of a type.
func value(kind int64, content []byte) any {
	switch {
	case kind == 0:
		return nil
	case kind == 8 || kind == 9:
		return kind - 8
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(content))
	case kind < 7:
		number := int64(int8(content[0]))
		for _, each := range content[1:] {
			number = number<<8 | int64(each)
		}
		return number
	case kind%2 == 0:
		return append([]byte{}, content...)
	}
	return string(content)
}
