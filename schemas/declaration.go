package schemas

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// instruction reads a processing instruction or the XML declaration.
func (r *documentReader) instruction() error {
	begin := r.at
	r.at += len("<?")
	target := r.name()
	length := strings.Index(r.source[r.at:], "?>")
	if length < 0 {
		return r.syntaxError(begin, "the processing instruction does not end").withHelp("it ends with ?>")
	}
	content, contentBegin := r.source[r.at:r.at+length], r.at
	r.at += length + len("?>")
	switch {
	case !strings.EqualFold(target, "xml"):
		prefix, _, ok := splitName(target)
		if !ok || prefix != "" || content != "" && !isSpace(content[0]) {
			return r.syntaxError(begin, "the processing instruction %q is malformed", target)
		}
		return nil
	case begin > 0:
		return r.syntaxError(begin, "the XML declaration may stand only at the very beginning")
	case target != "xml":
		return r.syntaxError(begin, "the XML declaration is malformed")
	}
	return r.checkDeclaration(declaration{content, contentBegin})
}

// A declaration is what of the content of an XML declaration is not read yet.
type declaration struct {
	rest   string
	offset int // of the rest
}

// checkDeclaration checks the content of the XML declaration: version, encoding
// and standalone in this order, the last two optional.
func (r *documentReader) checkDeclaration(d declaration) error {
	version, versionBegin, ok := d.next("version")
	if !ok {
		return r.syntaxError(0, "the XML declaration is malformed").withHelp(`write <?xml version="1.0" encoding="UTF-8"?>`)
	}
	encoding, encodingBegin, hasEncoding := d.next("encoding")
	standalone, _, hasStandalone := d.next("standalone")
	switch {
	case !isBlank(d.rest),
		hasEncoding && !isEncodingName(encoding),
		hasStandalone && standalone != "yes" && standalone != "no":
		return r.syntaxError(0, "the XML declaration is malformed").withHelp(`write <?xml version="1.0" encoding="UTF-8"?>`)
	case version != "1.0":
		return r.syntaxError(versionBegin, "the XML version %q is not supported", version).withHelp("only version 1.0 is")
	case hasEncoding && !r.decoded.is(encoding):
		line, column := placeOf(r.source, encodingBegin)
		return &DocumentError{Line: line, Column: column, Code: "xml-encoding",
			Reason: fmt.Sprintf("the encoding %q is not supported, or not that of the file", encoding),
			Help:   "save the file as UTF-8 and say so in its first line"}
	}
	return nil
}

// next reads the value of a name if that is what comes next.
func (d *declaration) next(name string) (value string, offset int, ok bool) {
	at := skipBlanks(d.rest, 0)
	if at == 0 || !strings.HasPrefix(d.rest[at:], name) {
		return "", 0, false
	}
	at = skipBlanks(d.rest, at+len(name))
	if !strings.HasPrefix(d.rest[at:], "=") {
		return "", 0, false
	}
	at = skipBlanks(d.rest, at+len("="))
	if at == len(d.rest) || d.rest[at] != '"' && d.rest[at] != '\'' {
		return "", 0, false
	}
	quote := d.rest[at]
	at++
	length := strings.IndexByte(d.rest[at:], quote)
	if length < 0 {
		return "", 0, false
	}
	value, offset = d.rest[at:at+length], d.offset+at
	read := at + length + 1
	d.rest, d.offset = d.rest[read:], d.offset+read
	return value, offset, true
}

// isEncodingName reports whether a text has the form of an encoding's name.
func isEncodingName(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !isASCIILetter(c) && (i == 0 || !isASCIIDigit(c) && c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return text != ""
}

// extendsASCII reports whether a file that holds ASCII alone means the same in
// an encoding as in UTF-8.
func extendsASCII(encoding string) bool {
	name := strings.ToLower(encoding)
	return name == "us-ascii" || name == "ascii" || name == "utf8" ||
		strings.HasPrefix(name, "iso-8859-") || strings.HasPrefix(name, "windows-125")
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
