package schemas

import (
	"bytes"
	"encoding/xml"
	"strings"
)

type attributePosition struct {
	line, column           int
	valueLine, valueColumn int
	raw                    string // the value as written, between its quotes
}

// scanAttributes finds where each attribute of a well-formed start tag stands.
// encoding/xml keeps neither the positions nor the difference between a literal
// line break in a value, which XML turns into a space, and a written &#10;.
func scanAttributes(tag []byte, line, column int) []attributePosition {
	var found []attributePosition
	at := 0
	advance := func(to int) {
		for ; at < to; at++ {
			if tag[at] == '\n' {
				line, column = line+1, 1
			} else {
				column++
			}
		}
	}
	skip := func(while func(byte) bool) {
		end := at
		for end < len(tag) && while(tag[end]) {
			end++
		}
		advance(end)
	}
	advance(min(1, len(tag)))
	skip(func(c byte) bool { return !isSpace(c) && c != '>' && c != '/' })
	for {
		skip(isSpace)
		if at >= len(tag) || tag[at] == '>' || tag[at] == '/' {
			return found
		}
		position := attributePosition{line: line, column: column}
		skip(func(c byte) bool { return c != '=' && c != '>' })
		skip(func(c byte) bool { return c == '=' || isSpace(c) })
		if at >= len(tag) || tag[at] != '"' && tag[at] != '\'' {
			return found
		}
		quote := tag[at]
		advance(at + 1)
		position.valueLine, position.valueColumn = line, column
		length := bytes.IndexByte(tag[at:], quote)
		if length < 0 {
			return found
		}
		position.raw = string(tag[at : at+length])
		advance(at + length + 1)
		found = append(found, position)
	}
}

// normalised returns the value of an attribute whose raw text holds literal
// white space; decoded is what the decoder made of it.
func normalised(raw, decoded string) string {
	raw = strings.ReplaceAll(raw, "\r\n", " ")
	raw = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return r
	}, raw)
	var holder struct {
		Value string `xml:"v,attr"`
	}
	quote := `"`
	if strings.Contains(raw, quote) {
		quote = "'"
	}
	if err := xml.Unmarshal([]byte("<a v="+quote+raw+quote+"/>"), &holder); err != nil {
		return decoded
	}
	return holder.Value
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
