package schemas

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of a document. Real definitions have some thousand elements at most
// twenty levels deep; what is beyond these figures was not written by a site
// that describes its batch system.
const (
	MaxBytes      = 16 << 20
	MaxDepth      = 200
	MaxElements   = 200_000
	MaxAttributes = 200 // of one element, namespace declarations included
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
	inkLine, inkColumn int             // of the first character data that is not blank; 0 for none
}

// An Attribute is one attribute of an [Element], its value normalised as XML
// demands: literal tabs and line breaks have become spaces.
type Attribute struct {
	Space, Name, Value string
	Line, Column       int // of the name
	ValueColumn        int // of the first character of the value, on ValueLine
	ValueLine          int
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
func Read(source []byte) (*Element, error) {
	if len(source) > MaxBytes {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-limit",
			Reason: fmt.Sprintf("the file has %d bytes; a definition has at most %d", len(source), MaxBytes)}
	}
	if bytes.HasPrefix(source, []byte("\xff\xfe")) || bytes.HasPrefix(source, []byte("\xfe\xff")) {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-encoding",
			Reason: "the file is encoded as UTF-16", Help: "save it as UTF-8"}
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	if len(bytes.TrimSpace(source)) == 0 {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-syntax", Reason: "the file is empty"}
	}
	if err := checkCharacters(source); err != nil {
		return nil, err
	}
	reader := &documentReader{source: source, decoder: xml.NewDecoder(bytes.NewReader(source))}
	reader.decoder.CharsetReader = reader.asUTF8
	return reader.read()
}

// positionAfter returns where one is after text that begins at a position.
func positionAfter(text []byte, line, column int) (int, int) {
	if breaks := bytes.Count(text, []byte("\n")); breaks > 0 {
		return line + breaks, len(text) - bytes.LastIndexByte(text, '\n')
	}
	return line, column + len(text)
}

// A documentReader works on raw tokens: the decoder's own name spaces accept
// prefixes that nothing declares, and hide where a wrong end tag stands.
type documentReader struct {
	source  []byte
	decoder *xml.Decoder
	root    *Element
	open    []openElement
	count   int
}

type openElement struct {
	*Element
	tag  xml.Name // as written, the prefix in Space
	text []byte
}

// asUTF8 lets a file pass that declares another encoding but holds ASCII only,
// which is the same in all those that extend ASCII.
func (r *documentReader) asUTF8(charset string, input io.Reader) (io.Reader, error) {
	name := strings.ToLower(charset)
	extendsASCII := name == "us-ascii" || name == "ascii" || name == "utf8" ||
		strings.HasPrefix(name, "iso-8859-") || strings.HasPrefix(name, "windows-125")
	if !extendsASCII || bytes.ContainsFunc(r.source, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return nil, fmt.Errorf("the encoding %q is not supported", charset)
	}
	return input, nil
}

func (r *documentReader) read() (*Element, error) {
	for {
		line, column := r.decoder.InputPos()
		offset := r.decoder.InputOffset()
		token, err := r.decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			raw := r.source[offset:r.decoder.InputOffset()]
			err = r.take(token, raw, line, column)
		} else {
			err = r.syntaxError(err)
		}
		if err != nil {
			return nil, err
		}
	}
	if depth := len(r.open); depth > 0 {
		unclosed := r.open[depth-1]
		return nil, syntaxErrorAt(unclosed.Line, unclosed.Column, "%q is never closed", written(unclosed.tag))
	}
	if r.root == nil {
		return nil, syntaxErrorAt(1, 1, "the file holds no element")
	}
	return r.root, nil
}

func (r *documentReader) take(token xml.Token, raw []byte, line, column int) error {
	switch t := token.(type) {
	case xml.StartElement:
		return r.start(t, raw, line, column)
	case xml.EndElement:
		return r.end(t, line, column)
	case xml.CharData:
		return r.text(t, raw, line, column)
	case xml.ProcInst:
		return checkInstruction(t.Target, raw, line, column)
	case xml.Directive:
		return &DocumentError{Line: line, Column: column, Code: "xml-doctype",
			Reason: "document type declarations are refused, since they can define entities",
			Help:   "remove the <!DOCTYPE …> and write the text of each entity where it is used"}
	}
	return nil
}

func (r *documentReader) start(tag xml.StartElement, raw []byte, line, column int) error {
	if err := r.checkBounds(tag, line, column); err != nil {
		return err
	}
	if len(r.open) == 0 && r.root != nil {
		return syntaxErrorAt(line, column, "a document has one root element; this is a second one")
	}
	element := &Element{Line: line, Column: column}
	if len(r.open) > 0 {
		element.Parent = r.open[len(r.open)-1].Element
		element.Parent.Children = append(element.Parent.Children, element)
		element.scope = element.Parent.scope
	} else {
		r.root = element
	}
	positions := scanAttributes(raw, line, column)
	if len(positions) != len(tag.Attr) {
		return syntaxErrorAt(line, column, "the attributes of %q are malformed", written(tag.Name))
	}
	if err := element.addAttributes(tag.Attr, positions); err != nil {
		return err
	}
	space, known := element.scope.lookup(tag.Name.Space)
	if !known || !isLocalName(tag.Name.Local) {
		return badName(line, column, tag.Name)
	}
	element.Space, element.Name = space, tag.Name.Local
	r.open = append(r.open, openElement{Element: element, tag: tag.Name})
	return nil
}

func (r *documentReader) checkBounds(tag xml.StartElement, line, column int) error {
	r.count++
	exceeded := ""
	switch {
	case r.count > MaxElements:
		exceeded = fmt.Sprintf("more than %d elements", MaxElements)
	case len(r.open) >= MaxDepth:
		exceeded = fmt.Sprintf("elements are nested more than %d deep", MaxDepth)
	case len(tag.Attr) > MaxAttributes:
		exceeded = fmt.Sprintf("an element has more than %d attributes", MaxAttributes)
	default:
		return nil
	}
	return &DocumentError{Line: line, Column: column, Code: "xml-limit", Reason: exceeded}
}

func (r *documentReader) end(tag xml.EndElement, line, column int) error {
	if len(r.open) == 0 {
		return syntaxErrorAt(line, column, "the end tag of %q closes nothing", written(tag.Name))
	}
	innermost := r.open[len(r.open)-1]
	if innermost.tag != tag.Name {
		return syntaxErrorAt(line, column, "%q, which begins on line %d, is closed by the end tag of %q",
			written(innermost.tag), innermost.Line, written(tag.Name))
	}
	innermost.Text = string(innermost.text)
	r.open = r.open[:len(r.open)-1]
	return nil
}

func (r *documentReader) text(data xml.CharData, raw []byte, line, column int) error {
	blank := len(bytes.Trim(data, blanks)) == 0
	inkOffset := len(raw) - len(bytes.TrimLeft(raw, blanks))
	inkLine, inkColumn := positionAfter(raw[:inkOffset], line, column)
	if len(r.open) == 0 {
		if inkOffset < len(raw) {
			return syntaxErrorAt(inkLine, inkColumn, "text stands outside the root element")
		}
		return nil
	}
	if bytes.ContainsRune(data, utf8.RuneError) && refersToSurrogate(raw) {
		return syntaxErrorAt(line, column, "a reference in this text is to no character")
	}
	element := &r.open[len(r.open)-1]
	if len(element.text) == 0 {
		element.TextLine, element.TextColumn = line, column
		if bytes.HasPrefix(raw, []byte("<![CDATA[")) {
			element.TextColumn += len("<![CDATA[")
		}
	}
	if !blank && element.inkLine == 0 {
		element.inkLine, element.inkColumn = inkLine, inkColumn
	}
	element.text = append(element.text, data...)
	return nil
}

func (r *documentReader) syntaxError(err error) error {
	line, column := r.decoder.InputPos()
	var syntax *xml.SyntaxError
	if !errors.As(err, &syntax) {
		reason := strings.TrimPrefix(err.Error(), "xml: ")
		if strings.Contains(reason, "version") {
			return syntaxErrorAt(line, column, "%s", reason)
		}
		return &DocumentError{Line: line, Column: column, Code: "xml-encoding", Reason: reason,
			Help: "save the file as UTF-8 and say so in its first line"}
	}
	help := ""
	if strings.Contains(syntax.Msg, "invalid character entity") {
		help = "only &lt; &gt; &amp; &quot; &apos; and numeric references are known; write &amp; for a literal &"
	}
	return &DocumentError{Line: line, Column: column, Code: "xml-syntax", Reason: syntax.Msg, Help: help}
}

func syntaxErrorAt(line, column int, format string, arguments ...any) error {
	return &DocumentError{Line: line, Column: column, Code: "xml-syntax", Reason: fmt.Sprintf(format, arguments...)}
}

// written returns a raw name as the document has it.
func written(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	return name.Space + ":" + name.Local
}
