package xmltree

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of a document. Real definitions have some thousand elements and at most twenty levels.
const (
	maxBytes        = 16 << 20
	maxDepth        = 200
	maxElements     = 200_000
	maxAttributes   = 200 // of one element, namespace declarations included
	maxDeclarations = 200 // of namespaces, in force at one place
)

// A Document is one of the files of a definition: its own or a base. Looking up positions changes it, so
// it is not safe for concurrent use.
type Document struct {
	File string
	Text string   // in UTF-8 without a byte order mark; the source if it cannot be decoded
	Root *Element // nil for a text that cannot be read

	lines []int      // offsets of the lines, found when the first position is needed
	walk  sourceWalk // over the latest text
}

// A Position is a place in a definition. Lines and columns count from 1,
// columns in bytes; the zero Position is nowhere.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// An Element is one element of a document, with its position.
type Element struct {
	Space, Name string
	Attributes  []Attribute
	Children    []*Element
	Text        string // the character data directly inside, without comments
	Parent      *Element

	document    *Document
	scope       *namespaceScope // the prefixes known inside
	offset, end int             // of the '<', and after the element
	textOffset  int             // of the first character data; 0 without one
	inkOffset   int             // of the first that is not blank; 0 without one
}

// An Attribute is one attribute of an [Element], its value normalised as XML
// demands: literal tabs and line breaks have become spaces.
type Attribute struct {
	Space, Name, Value string

	document    *Document
	offset      int // of the name
	valueOffset int // of the first character of the value
}

// A DocumentError says why a document could not be read, and where.
type DocumentError struct {
	Position
	Code   string // stable: xml-syntax, xml-encoding, xml-doctype, xml-limit
	Reason string
	Help   string // what to do, may be empty
}

func (e *DocumentError) Error() string { return e.Reason }

// Read reads a document into a tree. It returns a document even if the text is invalid.
//
// Documents may be in UTF-16 with a byte order mark, in the single-byte encoding that they declare, or in
// UTF-8. It refuses document type declarations, and so all entities but the five predefined ones, and
// documents beyond the limits of this package. Errors are *DocumentError.
//
// The tree keeps the text alive: names, values and texts that need no conversion are slices of it.
func Read(file string, source []byte) (*Document, error) {
	d := &Document{File: file, Text: string(source)}
	encoding, err := d.decode()
	if err == nil {
		err = d.checkCharacters()
	}
	if err != nil {
		return d, err
	}
	reader := &documentReader{document: d, source: d.Text, encoding: encoding}
	d.Root, err = reader.read()
	return d, err
}

// position returns the place of an offset.
func (d *Document) position(offset int) Position {
	if d.lines == nil {
		d.lines = []int{0}
		rest, more := d.Text, true
		for _, rest, more = strings.Cut(rest, "\n"); more; _, rest, more = strings.Cut(rest, "\n") {
			d.lines = append(d.lines, len(d.Text)-len(rest))
		}
	}
	line, _ := slices.BinarySearch(d.lines, offset+1)
	return Position{File: d.File, Line: line, Column: offset - d.lines[line-1] + 1}
}

// failure returns an error at an offset.
func (d *Document) failure(offset int, code, format string, arguments ...any) *DocumentError {
	return &DocumentError{Position: d.position(offset), Code: code, Reason: fmt.Sprintf(format, arguments...)}
}

// withHelp adds what to do.
func (e *DocumentError) withHelp(help string) *DocumentError {
	e.Help = help
	return e
}
