package xmltree

import "strings"

// markup reads what begins with "<!": a comment or a section of character data.
func (r *documentReader) markup() error {
	rest := r.source[r.at:]
	switch {
	case strings.HasPrefix(rest, commentBegin):
		return r.comment()
	case strings.HasPrefix(rest, sectionBegin):
		return r.section()
	case strings.HasPrefix(rest, "<!DOCTYPE"):
		return r.document.failure(r.at, "xml-doctype", "document type declarations are not allowed: they can define entities").
			withHelp("remove the <!DOCTYPE …> and write the text of each entity where it is used")
	}
	return r.syntaxError(r.at, "expected a comment or a CDATA section").
		withHelp("write &lt; for a literal <")
}

const (
	commentBegin = "<!--"
	sectionBegin = "<![CDATA["
	sectionEnd   = "]]>"
)

func (r *documentReader) comment() error {
	content := r.at + len(commentBegin)
	length := strings.Index(r.source[content:], "--")
	if length < 0 {
		return r.syntaxError(r.at, "the comment does not end")
	}
	end := content + length
	if !strings.HasPrefix(r.source[end:], "-->") {
		return r.syntaxError(end, "\"--\" is not allowed in a comment")
	}
	r.at = end + len("-->")
	return nil
}

// section reads a section of character data, in which only line breaks are
// changed.
func (r *documentReader) section() error {
	begin := r.at
	content := begin + len(sectionBegin)
	length := strings.Index(r.source[content:], sectionEnd)
	switch {
	case length < 0:
		return r.syntaxError(begin, "the CDATA section does not end").withHelp("it ends with " + sectionEnd)
	case len(r.open) == 0:
		return r.syntaxError(begin, "text outside the root element")
	}
	data := r.source[content : content+length]
	if strings.Contains(data, "\r") {
		data = strings.ReplaceAll(strings.ReplaceAll(data, "\r\n", "\n"), "\r", "\n")
	}
	r.addText(data, content, begin)
	r.at = content + length + len(sectionEnd)
	return nil
}
