package schemas

import (
	"fmt"
	"strings"
)

// Bounds of a document. Real definitions have some thousand elements at most
// twenty levels deep; what is beyond these figures was not written by a site
// that describes its batch system.
const (
	MaxBytes        = 16 << 20
	MaxDepth        = 200
	MaxElements     = 200_000
	MaxAttributes   = 200 // of one element, namespace declarations included
	MaxDeclarations = 200 // of namespaces, in force at one place
)

// An Element is one element of a document with where its start tag begins.
type Element struct {
	Space, Name  string
	Attributes   []Attribute
	Children     []*Element
	Text         string // the character data directly inside, comments left out
	Line, Column int    // of the '<', both from 1, the column in bytes
	TextLine     int    // where the first character data begins
	TextColumn   int
	Parent       *Element

	scope              *namespaceScope // the prefixes known inside
	document           *string         // the text of the whole document
	textOffset         int             // in document, of the first character data
	inkLine, inkColumn int             // of the first character data that is not blank; 0 for none
}

// An Attribute is one attribute of an [Element], its value normalised as XML
// demands: literal tabs and line breaks have become spaces.
type Attribute struct {
	Space, Name, Value string
	Line, Column       int // of the name
	ValueColumn        int // of the first character of the value, on ValueLine
	ValueLine          int

	valueOffset int // in the document
}

// A DocumentError tells why a document could not be read, and where.
type DocumentError struct {
	Line, Column int
	Code         string // stable: xml-syntax, xml-encoding, xml-doctype, xml-limit
	Reason       string
	Help         string // what to do, may be empty
}

func (e *DocumentError) Error() string { return e.Reason }

// Read reads a document into a tree with positions. Document type
// declarations, and with them every entity but the five of XML itself, are
// refused, and so is what exceeds the bounds of this package. Encodings other
// than UTF-8 are refused, unless the file holds ASCII alone; a byte order mark
// is skipped. Errors are *DocumentError.
//
// The tree keeps a copy of the source alive: names, values and texts that stand
// there as they are read are parts of it.
func Read(source []byte) (*Element, error) {
	if len(source) > MaxBytes {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-limit",
			Reason: fmt.Sprintf("the file has %d bytes; a definition has at most %d", len(source), MaxBytes)}
	}
	text := string(source)
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-encoding",
			Reason: "the file is encoded as UTF-16", Help: "save it as UTF-8"}
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if isBlank(text) {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-syntax", Reason: "the file is empty"}
	}
	if err := checkCharacters(text); err != nil {
		return nil, err
	}
	reader := &documentReader{source: text, document: &text, places: lineCounter{text: text, line: 1}}
	return reader.read()
}
