package schemas

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// singleByte has the encodings of definitions that were written before UTF-8 was
// everywhere, by the names that declarations have for them.
var singleByte = map[string]*charmap.Charmap{
	"iso-8859-1":   charmap.ISO8859_1,
	"latin1":       charmap.ISO8859_1,
	"iso-8859-2":   charmap.ISO8859_2,
	"iso-8859-15":  charmap.ISO8859_15,
	"windows-1252": charmap.Windows1252,
	"cp1252":       charmap.Windows1252,
}

// decoded returns the text of a document, and the encoding that it was in, in small
// letters; empty for UTF-8. What it takes for UTF-8 need not be that.
func decoded(source []byte) (text, encoding string, err error) {
	if len(source) > maxBytes {
		return "", "", &DocumentError{Line: 1, Column: 1, Code: "xml-limit",
			Reason: fmt.Sprintf("the file has %d bytes; a definition has at most %d", len(source), maxBytes)}
	}
	raw := string(source)
	switch {
	case strings.HasPrefix(raw, "\xff\xfe\x00\x00"), strings.HasPrefix(raw, "\x00\x00\xfe\xff"):
		return "", "", &DocumentError{Line: 1, Column: 1, Code: "xml-encoding",
			Reason: "the file is encoded as UTF-32", Help: "save it as UTF-8"}
	case strings.HasPrefix(raw, "\xff\xfe"):
		text, err = decodeUTF16(source[2:], binary.LittleEndian)
		return text, "utf-16", err
	case strings.HasPrefix(raw, "\xfe\xff"):
		text, err = decodeUTF16(source[2:], binary.BigEndian)
		return text, "utf-16", err
	case strings.HasPrefix(raw, "\ufeff"):
		return strings.TrimPrefix(raw, "\ufeff"), "", nil
	}
	declared := strings.ToLower(declaredEncoding(raw))
	if characters, known := singleByte[declared]; known && !isASCII(raw) {
		text, err = decodeBytes(raw, declared, characters)
		return text, declared, err
	}
	return raw, "", nil
}

// declaredEncoding returns the encoding that the XML declaration names, empty if
// there is none.
func declaredEncoding(text string) string {
	const longest = 200 // declarations have no more than three short parts
	content, ok := strings.CutPrefix(text[:min(len(text), longest)], "<?xml")
	if !ok {
		return ""
	}
	content, _, _ = strings.Cut(content, "?>")
	if found := declarationSyntax.FindStringSubmatch(content); found != nil {
		return strings.Trim(found[2], `"'`)
	}
	return ""
}

func decodeUTF16(source []byte, order binary.ByteOrder) (string, error) {
	var text strings.Builder
	text.Grow(len(source))
	for at := 0; at < len(source); at += 2 {
		if at+1 == len(source) {
			return "", wrongBytes(text.String(), "UTF-16")
		}
		r := rune(order.Uint16(source[at:]))
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if at+3 < len(source) {
				second = rune(order.Uint16(source[at+2:]))
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				return "", wrongBytes(text.String(), "UTF-16")
			}
			at += 2
		}
		text.WriteRune(r)
	}
	return text.String(), nil
}

func decodeBytes(raw, encoding string, characters *charmap.Charmap) (string, error) {
	text, err := characters.NewDecoder().String(raw)
	if err != nil {
		return "", fmt.Errorf("decoding %s: %w", encoding, err)
	}
	if before, _, isWrong := strings.Cut(text, string(utf8.RuneError)); isWrong {
		return "", wrongBytes(before, encoding)
	}
	return text, nil
}

// wrongBytes is the error of a file that is not in its encoding behind the text
// that was read so far.
func wrongBytes(before, encoding string) error {
	line, column := placeOf(before, len(before))
	return &DocumentError{Line: line, Column: column, Code: "xml-encoding",
		Reason: "the file is not valid " + encoding, Help: "save it as UTF-8"}
}

// isDeclared reports whether a declaration names the encoding that the document was in.
func (r *documentReader) isDeclared(declared string) bool {
	declared = strings.ToLower(declared)
	switch r.encoding {
	case "":
		return declared == "utf-8" || extendsASCII(declared) && isASCII(r.source)
	case "utf-16":
		return strings.HasPrefix(declared, "utf-16")
	}
	return declared == r.encoding
}
