package schemas

// Bounds of a document. Real definitions have some thousand elements at most
// twenty levels deep; what is beyond these figures was not written by a site
// that describes its batch system.
const (
	maxBytes        = 16 << 20
	maxDepth        = 200
	maxElements     = 200_000
	maxAttributes   = 200 // of one element, namespace declarations included
	maxDeclarations = 200 // of namespaces, in force at one place
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

// A DocumentError says why a document could not be read, and where.
type DocumentError struct {
	Line, Column int
	Code         string // stable: xml-syntax, xml-encoding, xml-doctype, xml-limit
	Reason       string
	Help         string // what to do, may be empty
}

func (e *DocumentError) Error() string { return e.Reason }

// Read reads a document into a tree with positions, which are places in the text that
// it returns: that of the document in UTF-8, without a byte order mark. Where it cannot
// be decoded the text is the source.
//
// Documents may be in UTF-16 with a byte order mark, in the single-byte encoding that
// they declare, or in UTF-8. Document type declarations, and with them every entity but
// the five of XML itself, are refused, and so is what exceeds the bounds of this package.
// Errors are *DocumentError.
//
// The tree keeps the text alive: names, values and texts that stand there as they are
// read are parts of it.
func Read(source []byte) (root *Element, text string, err error) {
	text, encoding, err := decoded(source)
	if err != nil {
		return nil, string(source), err
	}
	if isBlank(text) {
		return nil, text, &DocumentError{Line: 1, Column: 1, Code: "xml-syntax", Reason: "the file is empty"}
	}
	if err := checkCharacters(text); err != nil {
		return nil, text, err
	}
	reader := &documentReader{encoding: encoding, source: text, document: &text, places: lineCounter{text: text, line: 1}}
	root, err = reader.read()
	return root, text, err
}
