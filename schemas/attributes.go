package schemas

import (
	"bytes"
	"encoding/xml"
	"strings"
	"unicode/utf8"
)

const blanks = " \t\r\n"

// addAttributes takes over the attributes of a raw start tag: first the
// namespace declarations among them, which hold for the tag itself too.
func (e *Element) addAttributes(written []xml.Attr, positions []attributePosition) error {
	for i, attr := range written {
		at := positions[i]
		if at.adjoins {
			return syntaxErrorAt(at.line, at.column, "white space is missing before the attribute %q", attr.Name.Local)
		}
		if prefix, ok := declaredPrefix(attr.Name); ok {
			scope, err := e.scope.declare(prefix, strings.Trim(attr.Value, blanks))
			if err != nil {
				return syntaxErrorAt(at.line, at.column, "%s", err)
			}
			e.scope = scope
		}
	}
	seen := make(map[xml.Name]bool, len(written))
	for i, attr := range written {
		at := positions[i]
		name := attr.Name
		_, declaration := declaredPrefix(name)
		if !declaration && name.Space != "" {
			uri, known := e.scope.lookup(name.Space)
			if !known {
				return badName(at.line, at.column, name)
			}
			name.Space = uri
		}
		if !isLocalName(name.Local) {
			return badName(at.line, at.column, name)
		}
		if seen[name] {
			return syntaxErrorAt(at.line, at.column, "the attribute %q stands twice in one tag", name.Local)
		}
		seen[name] = true
		if strings.ContainsRune(attr.Value, utf8.RuneError) && refersToSurrogate([]byte(at.raw)) {
			return syntaxErrorAt(at.line, at.column, "a reference in the attribute %q is to no character", name.Local)
		}
		if declaration {
			continue
		}
		value := attr.Value
		if strings.ContainsAny(at.raw, "\t\n\r") {
			value = normalised(at.raw, value)
		}
		e.Attributes = append(e.Attributes, Attribute{Space: name.Space, Name: name.Local, Value: value,
			Line: at.line, Column: at.column, ValueLine: at.valueLine, ValueColumn: at.valueColumn})
	}
	return nil
}

func declaredPrefix(name xml.Name) (prefix string, ok bool) {
	if name.Space == "xmlns" {
		return name.Local, true
	}
	return "", name.Space == "" && name.Local == "xmlns"
}

type attributePosition struct {
	line, column           int
	valueLine, valueColumn int
	raw                    string // the value as written, between its quotes
	adjoins                bool   // no white space stands before it
}

// scanAttributes finds where each attribute of a well-formed start tag stands.
// encoding/xml keeps neither the positions nor the difference between a literal
// line break in a value, which XML turns into a space, and a written &#10;.
func scanAttributes(tag []byte, line, column int) []attributePosition {
	var found []attributePosition
	at := 0
	advance := func(to int) {
		line, column = positionAfter(tag[at:to], line, column)
		at = to
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
		before := at
		skip(isSpace)
		if at >= len(tag) || tag[at] == '>' || tag[at] == '/' {
			return found
		}
		position := attributePosition{line: line, column: column, adjoins: at == before}
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
