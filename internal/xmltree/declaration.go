package xmltree

import (
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/lazyregexp"
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
		return r.syntaxError(begin, "the XML declaration is allowed only at the beginning")
	case target != "xml":
		return r.syntaxError(begin, "the XML declaration is malformed")
	}
	return r.checkDeclaration(content, contentBegin)
}

// usualDeclaration is the content of the declaration that nearly all documents have. It is
// read without an expression, which takes long to compile.
const usualDeclaration = ` version="1.0" encoding="UTF-8"`

// declarationSyntax matches the content of an XML declaration: version, encoding and
// standalone in this order, the last two optional. Its groups have values with quotes.
var declarationSyntax = lazyregexp.New(`^\s+version\s*=\s*("[^"]*"|'[^']*')` +
	`(?:\s+encoding\s*=\s*("[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?` +
	`(?:\s+standalone\s*=\s*(?:"yes"|"no"|'yes'|'no'))?\s*`)

// checkDeclaration checks the content of the XML declaration, which begins at an offset.
func (r *documentReader) checkDeclaration(content string, begin int) error {
	if content == usualDeclaration && r.isDeclared("UTF-8") {
		return nil
	}
	found := declarationSyntax.FindAllStringSubmatchIndex(content, 1)
	if found == nil || found[0][1] < len(content) {
		return r.syntaxError(0, "the XML declaration is malformed").withHelp(`write <?xml version="1.0" encoding="UTF-8"?>`)
	}
	groups := found[0]
	version := content[groups[2]+1 : groups[3]-1]
	if version != "1.0" {
		return r.syntaxError(begin+groups[2]+1, "the XML version %q is not supported", version).withHelp("only version 1.0 is")
	}
	if groups[4] < 0 {
		return nil
	}
	if encoding := content[groups[4]+1 : groups[5]-1]; !r.isDeclared(encoding) {
		return r.document.failure(begin+groups[4]+1, "xml-encoding", "the encoding %q is not supported, or not that of the file", encoding).
			withHelp("save the file as UTF-8 and say so in its first line")
	}
	return nil
}

// extendsASCII reports whether a file that holds ASCII alone means the same in
// an encoding as in UTF-8.
func extendsASCII(encoding string) bool {
	name := strings.ToLower(encoding)
	return name == "us-ascii" || name == "ascii" || name == "utf8" ||
		strings.HasPrefix(name, "iso-8859-") || strings.HasPrefix(name, "windows-125")
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}
