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
	MaxBytes    = 16 << 20
	MaxDepth    = 200
	MaxElements = 200_000
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
// than UTF-8 are refused; a byte order mark is skipped. Errors are *DocumentError.
func Read(source []byte) (*Element, error) {
	if len(source) > MaxBytes {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-limit",
			Reason: fmt.Sprintf("the file has %d bytes; a definition has at most %d", len(source), MaxBytes)}
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	if len(bytes.TrimSpace(source)) == 0 {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-syntax", Reason: "the file is empty"}
	}
	if line, column, ok := firstInvalid(source); ok {
		return nil, &DocumentError{Line: line, Column: column, Code: "xml-encoding",
			Reason: "the file is not valid UTF-8", Help: "save it as UTF-8"}
	}
	reader := &documentReader{source: source, decoder: xml.NewDecoder(bytes.NewReader(source))}
	reader.decoder.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("the encoding %q is not supported", charset)
	}
	return reader.read()
}

func firstInvalid(source []byte) (line, column int, found bool) {
	if utf8.Valid(source) {
		return 0, 0, false
	}
	line, column = 1, 1
	for len(source) > 0 {
		r, size := utf8.DecodeRune(source)
		if r == utf8.RuneError && size == 1 {
			return line, column, true
		}
		column += size
		if r == '\n' {
			line, column = line+1, 1
		}
		source = source[size:]
	}
	return 0, 0, false
}

type documentReader struct {
	source  []byte
	decoder *xml.Decoder
	root    *Element
	open    []*Element
	count   int
}

func (r *documentReader) read() (*Element, error) {
	for {
		line, column := r.decoder.InputPos()
		offset := r.decoder.InputOffset()
		token, err := r.decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, r.syntaxError(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := r.start(t, offset, line, column); err != nil {
				return nil, err
			}
		case xml.EndElement:
			r.open = r.open[:len(r.open)-1]
		case xml.CharData:
			r.text(t, line, column)
		case xml.Directive:
			return nil, &DocumentError{Line: line, Column: column, Code: "xml-doctype",
				Reason: "document type declarations are refused, since they can define entities",
				Help:   "remove the <!DOCTYPE …> and write the text of each entity where it is used"}
		}
	}
	if r.root == nil {
		return nil, &DocumentError{Line: 1, Column: 1, Code: "xml-syntax", Reason: "the file holds no element"}
	}
	return r.root, nil
}

func (r *documentReader) start(tag xml.StartElement, offset int64, line, column int) error {
	limit := func(reason string) error {
		return &DocumentError{Line: line, Column: column, Code: "xml-limit", Reason: reason}
	}
	if r.count++; r.count > MaxElements {
		return limit(fmt.Sprintf("more than %d elements", MaxElements))
	}
	if len(r.open) >= MaxDepth {
		return limit(fmt.Sprintf("elements are nested more than %d deep", MaxDepth))
	}
	element := &Element{Space: tag.Name.Space, Name: tag.Name.Local, Line: line, Column: column}
	raw := r.source[offset:r.decoder.InputOffset()]
	positions := scanAttributes(raw, line, column)
	for i, attr := range tag.Attr {
		if attr.Name.Space == "xmlns" || attr.Name.Space == "" && attr.Name.Local == "xmlns" {
			continue
		}
		attribute := Attribute{Space: attr.Name.Space, Name: attr.Name.Local, Value: attr.Value, Line: line, Column: column}
		if i < len(positions) {
			at := positions[i]
			attribute.Line, attribute.Column = at.line, at.column
			attribute.ValueLine, attribute.ValueColumn = at.valueLine, at.valueColumn
			if strings.ContainsAny(at.raw, "\t\n\r") {
				attribute.Value = normalised(at.raw, attr.Value)
			}
		}
		if element.hasAttribute(attribute.Space, attribute.Name) {
			return &DocumentError{Line: attribute.Line, Column: attribute.Column, Code: "xml-syntax",
				Reason: fmt.Sprintf("the attribute %q stands twice in one tag", attribute.Name)}
		}
		element.Attributes = append(element.Attributes, attribute)
	}
	if len(r.open) == 0 {
		if r.root != nil {
			return &DocumentError{Line: line, Column: column, Code: "xml-syntax", Reason: "a document has one root element; this is a second one"}
		}
		r.root = element
	} else {
		element.Parent = r.open[len(r.open)-1]
		element.Parent.Children = append(element.Parent.Children, element)
	}
	r.open = append(r.open, element)
	return nil
}

func (r *documentReader) text(data xml.CharData, line, column int) {
	if len(r.open) == 0 {
		return
	}
	element := r.open[len(r.open)-1]
	if element.Text == "" {
		element.TextLine, element.TextColumn = line, column
		if bytes.HasPrefix(r.source[r.offsetOf(line, column):], []byte("<![CDATA[")) {
			element.TextColumn += len("<![CDATA[")
		}
	}
	element.Text += string(data)
}

// offsetOf finds the byte at a position by walking back from where the decoder is.
func (r *documentReader) offsetOf(line, column int) int64 {
	nowLine, _ := r.decoder.InputPos()
	offset := r.decoder.InputOffset()
	for nowLine >= line {
		start := int64(bytes.LastIndexByte(r.source[:offset], '\n') + 1)
		if nowLine == line {
			return min(start+int64(column-1), int64(len(r.source)))
		}
		offset = start - 1
		nowLine--
	}
	return offset
}

func (r *documentReader) syntaxError(err error) error {
	line, column := r.decoder.InputPos()
	var syntax *xml.SyntaxError
	if !errors.As(err, &syntax) {
		return &DocumentError{Line: line, Column: column, Code: "xml-encoding", Reason: err.Error(), Help: "save the file as UTF-8 and say so in its first line"}
	}
	help := ""
	if strings.Contains(syntax.Msg, "invalid character entity") {
		help = "only &lt; &gt; &amp; &quot; &apos; and numeric references are known; write &amp; for a literal &"
	}
	return &DocumentError{Line: line, Column: column, Code: "xml-syntax", Reason: syntax.Msg, Help: help}
}

func (e *Element) hasAttribute(space, name string) bool {
	for _, attribute := range e.Attributes {
		if attribute.Space == space && attribute.Name == name {
			return true
		}
	}
	return false
}
