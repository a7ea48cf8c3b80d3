package schemas

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// A Text is the text of a document, in UTF-8 whatever the file is encoded in.
// Positions are places in it; a byte order mark is no part of it.
type Text struct {
	UTF8 string

	encoding string // that the file was in, in small letters; empty for UTF-8
}

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

// Decode returns the text of a document: of one in UTF-16 that begins with a
// byte order mark, of one in the single-byte encoding that its declaration
// names, and of all others as if they were UTF-8, which [Text.Read] checks.
// Errors are *DocumentError.
func Decode(source []byte) (Text, error) {
	if len(source) > maxBytes {
		return Text{}, &DocumentError{Line: 1, Column: 1, Code: "xml-limit",
			Reason: fmt.Sprintf("the file has %d bytes; a definition has at most %d", len(source), maxBytes)}
	}
	raw := string(source)
	switch {
	case strings.HasPrefix(raw, "\xff\xfe\x00\x00"), strings.HasPrefix(raw, "\x00\x00\xfe\xff"):
		return Text{}, &DocumentError{Line: 1, Column: 1, Code: "xml-encoding",
			Reason: "the file is encoded as UTF-32", Help: "save it as UTF-8"}
	case strings.HasPrefix(raw, "\xff\xfe"):
		return decodeUTF16(source[2:], binary.LittleEndian)
	case strings.HasPrefix(raw, "\xfe\xff"):
		return decodeUTF16(source[2:], binary.BigEndian)
	case strings.HasPrefix(raw, "\ufeff"):
		return Text{UTF8: strings.TrimPrefix(raw, "\ufeff")}, nil
	}
	encoding := strings.ToLower(declaredEncoding(raw))
	if characters, known := singleByte[encoding]; known && !isASCII(raw) {
		return decodeBytes(raw, encoding, characters)
	}
	return Text{UTF8: raw}, nil
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

func decodeUTF16(source []byte, order binary.ByteOrder) (Text, error) {
	var text strings.Builder
	text.Grow(len(source))
	for at := 0; at < len(source); at += 2 {
		if at+1 == len(source) {
			return Text{}, wrongBytes(text.String(), "UTF-16")
		}
		r := rune(order.Uint16(source[at:]))
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if at+3 < len(source) {
				second = rune(order.Uint16(source[at+2:]))
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				return Text{}, wrongBytes(text.String(), "UTF-16")
			}
			at += 2
		}
		text.WriteRune(r)
	}
	return Text{text.String(), "utf-16"}, nil
}

func decodeBytes(raw, encoding string, characters *charmap.Charmap) (Text, error) {
	text, err := characters.NewDecoder().String(raw)
	if err != nil {
		return Text{}, fmt.Errorf("decoding %s: %w", encoding, err)
	}
	if before, _, isWrong := strings.Cut(text, string(utf8.RuneError)); isWrong {
		return Text{}, wrongBytes(before, encoding)
	}
	return Text{text, encoding}, nil
}

// wrongBytes is the error of a file that is not in its encoding behind the text
// that was read so far.
func wrongBytes(before, encoding string) error {
	line, column := placeOf(before, len(before))
	return &DocumentError{Line: line, Column: column, Code: "xml-encoding",
		Reason: "the file is not valid " + encoding, Help: "save it as UTF-8"}
}

// is reports whether the text was in the encoding that its declaration names.
func (t Text) is(declared string) bool {
	declared = strings.ToLower(declared)
	switch t.encoding {
	case "":
		return declared == "utf-8" || extendsASCII(declared) && isASCII(t.UTF8)
	case "utf-16":
		return strings.HasPrefix(declared, "utf-16")
	}
	return declared == t.encoding
}
