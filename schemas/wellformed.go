package schemas

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What XML 1.0 and its namespaces demand and encoding/xml does not check.

// checkCharacters refuses bytes that are not UTF-8 and characters that XML does
// not have.
func checkCharacters(source []byte) error {
	if !utf8.Valid(source) {
		offset := 0
		for r, size := rune(0), 0; r != utf8.RuneError || size != 1; offset += size {
			r, size = utf8.DecodeRune(source[offset:])
		}
		line, column := positionAfter(source[:offset-1], 1, 1)
		return &DocumentError{Line: line, Column: column, Code: "xml-encoding",
			Reason: "the file is not valid UTF-8", Help: "save it as UTF-8"}
	}
	at := bytes.IndexFunc(source, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0xfffe || r == 0xffff
	})
	if at < 0 {
		return nil
	}
	line, column := positionAfter(source[:at], 1, 1)
	r, _ := utf8.DecodeRune(source[at:])
	return syntaxErrorAt(line, column, "the character %U may not stand in XML", r)
}

var declarationForm = regexp.MustCompile(`^<\?xml\s+version\s*=\s*(?:"1\.0"|'1\.0')` +
	`(?:\s+encoding\s*=\s*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?` +
	`(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>$`)

// checkInstruction checks a processing instruction or the XML declaration.
func checkInstruction(target string, raw []byte, line, column int) error {
	if strings.EqualFold(target, "xml") {
		if line != 1 || column != 1 {
			return syntaxErrorAt(line, column, "the XML declaration may stand only at the very beginning")
		}
		if !declarationForm.Match(raw) {
			return syntaxErrorAt(line, column, "the XML declaration is malformed")
		}
		return nil
	}
	content := bytes.TrimPrefix(raw, []byte("<?"+target))
	if strings.Contains(target, ":") || !bytes.HasPrefix(content, []byte("?>")) && !isSpace(content[0]) {
		return syntaxErrorAt(line, column, "the processing instruction %q is malformed", target)
	}
	return nil
}

// isLocalName reports whether a name that the decoder took is one without colon.
func isLocalName(name string) bool {
	return !strings.Contains(name, ":") && !strings.ContainsAny(name[:1], "-.0123456789") && !strings.HasPrefix(name, "·")
}

func badName(line, column int, name xml.Name) error {
	if name.Space == "" || !isLocalName(name.Local) {
		return syntaxErrorAt(line, column, "%q is not a name", written(name))
	}
	return &DocumentError{Line: line, Column: column, Code: "xml-syntax",
		Reason: fmt.Sprintf("the prefix of %q is not declared", written(name)),
		Help:   fmt.Sprintf("declare it in the root element: xmlns:%s=\"…\"", name.Space)}
}

var reference = regexp.MustCompile(`&#(?:([0-9]+)|x([0-9A-Fa-f]+));`)

// refersToSurrogate reports whether text as written holds a reference to half of
// a surrogate pair, which the decoder replaces in silence.
func refersToSurrogate(raw []byte) bool {
	if bytes.HasPrefix(raw, []byte("<![CDATA[")) {
		return false
	}
	for _, match := range reference.FindAllSubmatch(raw, -1) {
		digits, base := match[1], 10
		if len(match[2]) > 0 {
			digits, base = match[2], 16
		}
		code, err := strconv.ParseUint(string(digits), base, 32)
		if err == nil && code >= 0xd800 && code <= 0xdfff {
			return true
		}
	}
	return false
}
