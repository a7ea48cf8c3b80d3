package xmltree

import (
	"fmt"
	"strings"
)

// startTag reads a start tag or the tag of an empty element.
func (r *documentReader) startTag() error {
	begin := r.at
	if err := r.checkBounds(begin); err != nil {
		return err
	}
	r.at += len("<")
	tag := r.name()
	if tag == "" {
		return r.syntaxError(begin, "no name follows the <").withHelp("write &lt; for a literal <")
	}
	element := &r.elements.allocate(1)[0]
	element.document, element.offset = r.document, begin
	if len(r.open) > 0 {
		element.Parent = r.open[len(r.open)-1].Element
		element.scope = element.Parent.scope
	} else {
		r.root = element
	}
	empty, err := r.restOfTag(begin, tag)
	if err != nil {
		return err
	}
	if err := r.addAttributes(element); err != nil {
		return err
	}
	prefix, local, ok := splitName(tag)
	if !ok {
		return r.syntaxError(begin, "%q is not a name", tag)
	}
	space, known := element.scope.lookup(prefix)
	if !known {
		return r.undeclaredPrefix(begin, tag)
	}
	element.Space, element.Name = space, local
	r.open = append(r.open, openElement{Element: element, tag: tag, firstChild: len(r.children), firstText: len(r.texts)})
	if empty {
		r.close()
	}
	return nil
}

func (r *documentReader) checkBounds(begin int) error {
	r.number++
	switch {
	case r.number > maxElements:
		return r.document.failure(begin, "xml-limit", "more than %d elements", maxElements)
	case len(r.open) >= maxDepth:
		return r.document.failure(begin, "xml-limit", "elements are nested more than %d deep", maxDepth)
	case len(r.open) == 0 && r.root != nil:
		return r.syntaxError(begin, "second root element")
	}
	return nil
}

// restOfTag reads what follows the name in a start tag, its attributes into
// r.written, and reports whether the tag is that of an empty element.
func (r *documentReader) restOfTag(begin int, tag string) (empty bool, err error) {
	r.written = r.written[:0]
	for {
		separator := r.at
		r.at = skipBlanks(r.source, r.at)
		rest := r.source[r.at:]
		switch {
		case rest == "":
			return false, r.syntaxError(begin, "the tag of %q does not end", tag)
		case rest[0] == '>':
			r.at++
			return false, nil
		case strings.HasPrefix(rest, "/>"):
			r.at += len("/>")
			return true, nil
		case len(r.written) == maxAttributes:
			return false, r.document.failure(begin, "xml-limit", "an element has more than %d attributes", maxAttributes)
		}
		if err := r.attribute(tag, r.at == separator); err != nil {
			return false, err
		}
	}
}

// attribute reads an attribute into r.written.
func (r *documentReader) attribute(tag string, adjoins bool) error {
	begin := r.at
	name := r.name()
	switch {
	case name == "":
		return r.syntaxError(begin, "expected an attribute or the end of the tag of %q", tag)
	case adjoins:
		return r.syntaxError(begin, "missing white space before the attribute %q", name)
	}
	prefix, local, ok := splitName(name)
	if !ok {
		return r.syntaxError(begin, "%q is not a name", name)
	}
	r.at = skipBlanks(r.source, r.at)
	if !strings.HasPrefix(r.source[r.at:], "=") {
		return r.syntaxError(begin, "the attribute %q has no value", name)
	}
	r.at = skipBlanks(r.source, r.at+len("="))
	if r.at == len(r.source) || r.source[r.at] != '"' && r.source[r.at] != '\'' {
		return r.syntaxError(r.at, "the value of the attribute %q has no quotes", name)
	}
	attribute := Attribute{Name: local, document: r.document, offset: begin, valueOffset: r.at + len(`"`)}
	var err error
	attribute.Value, err = r.value(name)
	r.written = append(r.written, writtenAttribute{attribute, prefix})
	return err
}

// value reads the value of an attribute with its quotes.
func (r *documentReader) value(name string) (string, error) {
	quote := r.source[r.at]
	r.at++
	begin, asWritten := r.at, true
	for ; r.at < len(r.source); r.at++ {
		switch c := r.source[r.at]; c {
		case quote:
			end := r.at
			r.at++
			if asWritten {
				return r.source[begin:end], nil
			}
			return r.expanded(begin, end, " ")
		case '<':
			return "", r.syntaxError(r.at, "unescaped < in the value of the attribute %q", name).
				withHelp("write &lt; for a literal <, or close the value with " + string(quote))
		case '&', '\t', '\n', '\r':
			asWritten = false
		}
	}
	return "", r.syntaxError(begin-1, "the value of the attribute %q does not end", name).withHelp("close it with " + string(quote))
}

// name reads a name, which may contain colons; it is empty if none stands here.
func (r *documentReader) name() string {
	begin := r.at
	r.at = nameEnd(r.source, r.at)
	return r.source[begin:r.at]
}

func (r *documentReader) undeclaredPrefix(offset int, name string) error {
	prefix, _, _ := strings.Cut(name, ":")
	return r.syntaxError(offset, "the prefix of %q is not declared", name).
		withHelp(fmt.Sprintf("declare it in the root element: xmlns:%s=\"…\"", prefix))
}

func (r *documentReader) syntaxError(offset int, format string, arguments ...any) *DocumentError {
	return r.document.failure(offset, "xml-syntax", format, arguments...)
}
