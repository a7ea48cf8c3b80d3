package xmltree

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// singleByte has the single-byte encodings of older definitions, by their names in declarations.
var singleByte = map[string]*charmap.Charmap{
	"iso-8859-1":   charmap.ISO8859_1,
	"latin1":       charmap.ISO8859_1,
	"iso-8859-2":   charmap.ISO8859_2,
	"iso-8859-15":  charmap.ISO8859_15,
	"windows-1252": charmap.Windows1252,
	"cp1252":       charmap.Windows1252,
}

// decode turns the text into UTF-8 and returns the encoding that it was in, in small letters; empty for
// UTF-8. The result may still be invalid UTF-8.
func (d *Document) decode() (encoding string, err error) {
	raw := d.Text
	if len(raw) > maxBytes {
		return "", d.failure(0, "xml-limit", "the file has %d bytes; a definition has at most %d", len(raw), maxBytes)
	}
	declared := strings.ToLower(declaredEncoding(raw))
	characters, known := singleByte[declared]
	text := raw
	switch {
	case strings.HasPrefix(raw, "\xff\xfe\x00\x00"), strings.HasPrefix(raw, "\x00\x00\xfe\xff"):
		return "", d.failure(0, "xml-encoding", "the file is encoded as UTF-32").withHelp("save it as UTF-8")
	case strings.HasPrefix(raw, "\xff\xfe"):
		encoding = "utf-16"
		text, err = d.decodeUTF16(binary.LittleEndian)
	case strings.HasPrefix(raw, "\xfe\xff"):
		encoding = "utf-16"
		text, err = d.decodeUTF16(binary.BigEndian)
	case strings.HasPrefix(raw, "\ufeff"):
		text = strings.TrimPrefix(raw, "\ufeff")
	case known && !isASCII(raw):
		encoding = declared
		text, err = d.decodeBytes(declared, characters)
	}
	if err != nil {
		return "", err
	}
	d.Text = text
	return encoding, nil
}

// declaredEncoding returns the encoding that the XML declaration names, empty
// without one.
func declaredEncoding(text string) string {
	const longest = 200 // declarations have no more than three short parts
	content, ok := strings.CutPrefix(text[:min(len(text), longest)], "<?xml")
	if !ok {
		return ""
	}
	content, _, _ = strings.Cut(content, "?>")
	if content == usualDeclaration {
		return "UTF-8"
	}
	if found := declarationSyntax.FindStringSubmatch(content); found != nil {
		return strings.Trim(found[2], `"'`)
	}
	return ""
}

func (d *Document) decodeUTF16(order binary.ByteOrder) (string, error) {
	source := []byte(d.Text[len("\xff\xfe"):])
	var text strings.Builder
	text.Grow(len(source))
	for at := 0; at < len(source); at += 2 {
		if at+1 == len(source) {
			return "", d.wrongBytes(text.String(), "UTF-16")
		}
		r := rune(order.Uint16(source[at:]))
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if at+3 < len(source) {
				second = rune(order.Uint16(source[at+2:]))
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				return "", d.wrongBytes(text.String(), "UTF-16")
			}
			at += 2
		}
		text.WriteRune(r)
	}
	return text.String(), nil
}

func (d *Document) decodeBytes(encoding string, characters *charmap.Charmap) (string, error) {
	text, err := characters.NewDecoder().String(d.Text)
	if err != nil {
		return "", fmt.Errorf("decoding %s: %w", encoding, err)
	}
	if before, _, isWrong := strings.Cut(text, string(utf8.RuneError)); isWrong {
		return "", d.wrongBytes(before, encoding)
	}
	return text, nil
}

// wrongBytes returns the error for a file with invalid bytes after the text decoded so far.
func (d *Document) wrongBytes(before, encoding string) error {
	decoded := Document{File: d.File, Text: before}
	return decoded.failure(len(before), "xml-encoding", "the file is not valid %s", encoding).withHelp("save it as UTF-8")
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
