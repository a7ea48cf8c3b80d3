package tree

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/schemas"
)

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

// Optional is a text that may be absent; an absent text is not an empty one.
type Optional struct {
	Text string
	Set  bool
}

// A Document is one of the texts that a definition is made of: its own or that
// of a base.
type Document struct {
	File        string
	Text        []byte // in UTF-8, as far as its encoding could be read
	linesBefore int    // of the documents read earlier
}

// Documents numbers the lines of all texts of a definition as if they stood
// below one another. A tree merged from several of them thus needs no more than
// a line in each of its elements to know where that came from.
type Documents []Document

// Position returns where a line and column of that numbering are.
func (d Documents) Position(line, column int) Position {
	i := len(d) - 1
	for i > 0 && line <= d[i].linesBefore {
		i--
	}
	return Position{File: d[i].File, Line: line - d[i].linesBefore, Column: column}
}

// LineName returns the name of a line of that numbering in messages.
func (d Documents) LineName(line int) string {
	at := d.Position(line, 0)
	if at.File == d[0].File {
		return fmt.Sprintf("line %d", at.Line)
	}
	return fmt.Sprintf("line %d of %s", at.Line, at.File)
}

// Index returns the index of the first text of a file.
func (d Documents) Index(file string) int {
	return slices.IndexFunc(d, func(one Document) bool { return one.File == file })
}

// A Source is the texts of a definition while it is read and checked.
type Source struct {
	Documents
	placed placedText
}

// A placedText is a text of a definition whose bytes were placed.
type placedText struct {
	element   *schemas.Element
	attribute string // empty for the element's own text
	places    placesOfText
}

// placesOfText finds where bytes of a text stand.
type placesOfText = func(index int) (line, column int)

// Add adds a text and reads it into a tree with positions in the common numbering.
func (s *Source) Add(file string, source []byte) (*schemas.Element, error) {
	root, text, err := schemas.Read(source)
	next := Document{File: file, Text: []byte(text)}
	if n := len(s.Documents); n > 0 {
		last := s.Documents[n-1]
		next.linesBefore = last.linesBefore + bytes.Count(last.Text, []byte("\n")) + 1
	}
	s.Documents = append(s.Documents, next)
	if err == nil && next.linesBefore > 0 {
		root.ShiftLines(next.linesBefore)
	}
	return root, err
}

// Element returns an element of the tree with access to its places.
func (s *Source) Element(e *schemas.Element) Element { return Element{e, s} }
