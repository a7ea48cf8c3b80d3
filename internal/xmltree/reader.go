package xmltree

import "strings"

// A documentReader turns the text of a document into a tree, in one pass.
//
// It is not built on encoding/xml, which keeps no positions inside of tags,
// takes documents that are not well-formed (undeclared prefixes, attributes
// that stand twice, two roots), does not normalise the values of attributes, and
// is slow: reading a definition took half of the time of a status query.
//
// Every reading method starts at r.at and leaves r.at after the end. The characters were checked before:
// all are UTF-8 and XML.
type documentReader struct {
	document *Document
	source   string // its text
	encoding string // as decode returns it
	at       int
	root     *Element
	number   int // of elements so far
	open     []openElement

	// What belongs to the open elements, that of the innermost last.
	children []*Element
	texts    []string

	written    []writtenAttribute // of the tag that is read
	elements   arena[Element]
	attributes arena[Attribute]
	lists      arena[*Element]
}

type openElement struct {
	*Element
	tag        string // the name as written, with its prefix
	firstChild int    // in documentReader.children
	firstText  int    // in documentReader.texts
}

func (r *documentReader) read() (*Element, error) {
	for r.at < len(r.source) {
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	if depth := len(r.open); depth > 0 {
		unclosed := r.open[depth-1]
		return nil, r.syntaxError(unclosed.offset, "%q is never closed", unclosed.tag)
	}
	if r.root == nil {
		return nil, r.syntaxError(0, "the file contains no element")
	}
	return r.root, nil
}

func (r *documentReader) next() error {
	rest := r.source[r.at:]
	switch {
	case rest[0] != '<':
		return r.text()
	case strings.HasPrefix(rest, "</"):
		return r.endTag()
	case strings.HasPrefix(rest, "<!"):
		return r.markup()
	case strings.HasPrefix(rest, "<?"):
		return r.instruction()
	}
	return r.startTag()
}

// text reads character data up to the next markup.
func (r *documentReader) text() error {
	begin := r.at
	data, _, _ := strings.Cut(r.source[begin:], "<")
	r.at += len(data)
	asWritten := true
	for i := range len(data) {
		switch data[i] {
		case '&', '\r':
			asWritten = false
		case '>':
			if strings.HasSuffix(data[:i], "]]") {
				return r.syntaxError(begin+i-2, "\"]]>\" is not allowed in text").withHelp("write ]]&gt;")
			}
		}
	}
	if !asWritten {
		var err error
		if data, err = r.expanded(begin, r.at, "\n"); err != nil {
			return err
		}
	}
	ink := skipBlanks(r.source, begin)
	if len(r.open) > 0 {
		r.addText(data, begin, ink)
		return nil
	}
	if ink < r.at {
		return r.syntaxError(ink, "text outside the root element")
	}
	return nil
}

// addText adds character data to the innermost element. It begins at one offset
// and, unless it is blank, what is seen of it at another.
func (r *documentReader) addText(data string, begin, ink int) {
	innermost := &r.open[len(r.open)-1]
	if len(r.texts) == innermost.firstText {
		innermost.textOffset = begin
	}
	if innermost.inkOffset == 0 && !isBlank(data) {
		innermost.inkOffset = ink
	}
	if data != "" {
		r.texts = append(r.texts, data)
	}
}

func (r *documentReader) endTag() error {
	begin := r.at
	r.at += len("</")
	name := r.name()
	r.at = skipBlanks(r.source, r.at)
	if name == "" || r.at == len(r.source) || r.source[r.at] != '>' {
		return r.syntaxError(begin, "the end tag is malformed").withHelp("an end tag is written </name>")
	}
	r.at++
	if len(r.open) == 0 {
		return r.syntaxError(begin, "the end tag of %q closes nothing", name)
	}
	if innermost := r.open[len(r.open)-1]; innermost.tag != name {
		return r.syntaxError(begin, "%q, which begins on line %d, is closed by the end tag of %q",
			innermost.tag, innermost.Position().Line, name)
	}
	r.close()
	return nil
}

// close completes the innermost element with its children and texts.
func (r *documentReader) close() {
	innermost := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	innermost.end = r.at
	innermost.Text = strings.Join(r.texts[innermost.firstText:], "")
	r.texts = r.texts[:innermost.firstText]
	if found := r.children[innermost.firstChild:]; len(found) > 0 {
		innermost.Children = r.lists.allocate(len(found))
		copy(innermost.Children, found)
		r.children = r.children[:innermost.firstChild]
	}
	if innermost.Parent != nil {
		r.children = append(r.children, innermost.Element)
	}
}
