package importer

import (
	"fmt"
	"strconv"
	"strings"
)

// The libraries for HOCON tell no places of values and recurse as deep as a file
// wants. This reads what configurations of Cromwell are made of: objects, lists,
// strings in one and in three quotes, bare words, and keys with dots. Includes are
// left out and substitutions are not resolved; both are told.

// A hoconValue is a value with where it begins.
type hoconValue struct {
	line, column int
	fields       map[string]*hoconValue // of an object, else nil
	keys         []string               // of an object, in order
	items        []*hoconValue          // of a list
	text         string                 // of the rest
	bare         bool                   // the text stood without quotes
	substituted  bool                   // a part of the text is a substitution
}

// Bounds of a configuration.
const (
	maxHOCONDepth  = 64
	maxHOCONValues = 20_000
)

type hoconParser struct {
	text      string
	at        int
	line      int
	lineStart int
	values    int
	skipped   func(line, column int, what string)
	err       *Error
}

// parseHOCON reads a configuration. skipped is told of includes. Errors are
// *Error, without the file.
func parseHOCON(text string, skipped func(line, column int, what string)) (*hoconValue, error) {
	p := &hoconParser{text: text, line: 1, skipped: skipped}
	root := p.value()
	p.blank(true)
	braced := p.take("{")
	p.object(root, 0, braced)
	p.blank(true)
	if p.err == nil && p.at < len(p.text) {
		p.fail("there is something behind the end of the configuration: %s", p.near())
	}
	if p.err != nil {
		return nil, p.err
	}
	return root, nil
}

func (p *hoconParser) fail(format string, arguments ...any) {
	if p.err == nil {
		p.err = &Error{Line: p.line, Column: p.column(), Reason: fmt.Sprintf(format, arguments...)}
	}
}

func (p *hoconParser) column() int { return p.at - p.lineStart + 1 }

func (p *hoconParser) near() string {
	rest, _, _ := strings.Cut(p.text[p.at:], "\n")
	return strconv.Quote(rest[:min(len(rest), 20)])
}

func (p *hoconParser) value() *hoconValue {
	if p.values++; p.values > maxHOCONValues {
		p.fail("there are more than %d values", maxHOCONValues)
	}
	return &hoconValue{line: p.line, column: p.column()}
}

func (p *hoconParser) has(prefix string) bool { return strings.HasPrefix(p.text[p.at:], prefix) }

func (p *hoconParser) take(prefix string) bool {
	if !p.has(prefix) {
		return false
	}
	p.skip(len(prefix))
	return true
}

func (p *hoconParser) skip(bytes int) {
	for ; bytes > 0; bytes-- {
		if p.text[p.at] == '\n' {
			p.line, p.lineStart = p.line+1, p.at+1
		}
		p.at++
	}
}

// blank skips white space and comments; line breaks only if asked to.
func (p *hoconParser) blank(breaks bool) {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' && breaks:
			p.skip(1)
		case c == '#' || p.has("//"):
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

// object reads fields up to the closing brace or, without braces, the end.
func (p *hoconParser) object(into *hoconValue, depth int, braced bool) {
	if into.fields == nil {
		*into = hoconValue{line: into.line, column: into.column, fields: map[string]*hoconValue{}}
	}
	for p.err == nil {
		p.blank(true)
		for p.take(",") {
			p.blank(true)
		}
		switch {
		case p.at == len(p.text) && braced:
			p.fail("an object that begins in line %d has no closing brace", into.line)
			return
		case p.at == len(p.text), braced && p.take("}"):
			return
		case p.include():
		default:
			p.field(into, depth)
		}
	}
}

// include skips an include statement.
func (p *hoconParser) include() bool {
	if !p.has("include ") && !p.has("include\t") {
		return false
	}
	line, column, from := p.line, p.column(), p.at
	for p.at < len(p.text) && p.text[p.at] != '\n' {
		p.at++
	}
	p.skipped(line, column, strings.TrimSpace(p.text[from:p.at]))
	return true
}

func (p *hoconParser) field(into *hoconValue, depth int) {
	if depth >= maxHOCONDepth {
		p.fail("objects stand more than %d deep in one another", maxHOCONDepth)
		return
	}
	path := p.key()
	if p.err != nil {
		return
	}
	for _, name := range path[:len(path)-1] {
		inner := into.fields[name]
		if inner == nil || inner.fields == nil {
			inner = p.value()
			inner.fields = map[string]*hoconValue{}
			into.put(name, inner)
		}
		into = inner
	}
	last := path[len(path)-1]
	p.blank(false)
	switch {
	case p.has("{"):
	case p.take("+="), p.take("="), p.take(":"):
		p.blank(true)
	default:
		p.fail("behind the key %q there has to be =, : or {, not %s", last, p.near())
		return
	}
	value := p.value()
	if p.has("{") && into.fields[last] != nil && into.fields[last].fields != nil {
		value = into.fields[last] // objects of one name are one object
	}
	p.anything(value, depth)
	into.put(last, value)
}

func (v *hoconValue) put(name string, value *hoconValue) {
	if v.fields[name] == nil {
		v.keys = append(v.keys, name)
	}
	v.fields[name] = value
}

// key reads a path of names, bare or in quotes, with dots between them.
func (p *hoconParser) key() []string {
	var path []string
	for p.err == nil {
		var name string
		if p.has(`"`) {
			name = p.quoted()
		} else {
			from := p.at
			for p.at < len(p.text) && !strings.ContainsRune(" \t\r\n.\"=:{}[],+#`^?!@*&\\$", rune(p.text[p.at])) {
				p.at++
			}
			if name = p.text[from:p.at]; name == "" {
				p.fail("a key is missing before %s", p.near())
				return nil
			}
		}
		path = append(path, name)
		if len(path) > maxHOCONDepth {
			p.fail("a key has more than %d parts", maxHOCONDepth)
		}
		if !p.take(".") {
			return path
		}
	}
	return nil
}

// anything reads an object, a list or a text.
func (p *hoconParser) anything(into *hoconValue, depth int) {
	switch {
	case p.take("{"):
		p.object(into, depth+1, true)
	case p.take("["):
		p.list(into, depth+1)
	default:
		p.texts(into)
	}
}

func (p *hoconParser) list(into *hoconValue, depth int) {
	if depth >= maxHOCONDepth {
		p.fail("lists stand more than %d deep in one another", maxHOCONDepth)
	}
	into.items = []*hoconValue{}
	for p.err == nil {
		p.blank(true)
		for p.take(",") {
			p.blank(true)
		}
		if p.at == len(p.text) {
			p.fail("a list that begins in line %d has no closing bracket", into.line)
			return
		}
		if p.take("]") {
			return
		}
		item := p.value()
		p.anything(item, depth)
		into.items = append(into.items, item)
	}
}

// texts reads the texts that stand on a line one behind the other, which are one.
func (p *hoconParser) texts(into *hoconValue) {
	pieces := 0
	for p.err == nil && p.at < len(p.text) {
		from := p.at
		p.blank(false)
		space := p.text[from:p.at]
		if p.at == len(p.text) || strings.ContainsRune("\n,}]", rune(p.text[p.at])) {
			break
		}
		if pieces > 0 && !strings.Contains(space, "#") {
			into.text += space
		}
		pieces++
		switch {
		case p.take(`"""`):
			into.text += p.tripleQuoted(into.line)
		case p.has(`"`):
			into.text += p.quoted()
		case p.has("${"):
			into.text += p.substitution()
			into.substituted = true
		default:
			into.text += p.bareWord()
			into.bare = true
		}
	}
	if pieces == 0 {
		p.fail("a value is missing")
	}
}

// tripleQuoted reads a text in three quotes, of a value that begins in that line, from
// behind the first three on.
func (p *hoconParser) tripleQuoted(line int) string {
	rest := p.text[p.at:]
	end := strings.Index(rest, `"""`)
	if end < 0 {
		p.fail("a text in three quotes that begins in line %d has no end", line)
		return ""
	}
	for strings.HasPrefix(rest[end:], `""""`) { // quotes before the last three belong to it
		end++
	}
	p.skip(end + 3)
	return rest[:end]
}

// substitution reads ${…} as it is written.
func (p *hoconParser) substitution() string {
	rest := p.text[p.at:]
	end := strings.IndexAny(rest, "}\n")
	if end < 0 || rest[end] == '\n' {
		p.fail("a substitution has no closing brace")
		return ""
	}
	p.skip(end + 1)
	return rest[:end+1]
}

// bareWord reads a text without quotes up to what ends or continues a value.
func (p *hoconParser) bareWord() string {
	from := p.at
	for p.at < len(p.text) && !strings.ContainsRune(" \t\r\n,}]\"#{[$", rune(p.text[p.at])) && !p.has("//") {
		p.at++
	}
	if p.at == from {
		p.fail("a value cannot begin with %s", p.near())
	}
	return p.text[from:p.at]
}

// quoted reads a text in double quotes with the escapes of JSON.
func (p *hoconParser) quoted() string {
	from := p.at
	p.at++
	for p.at < len(p.text) && p.text[p.at] != '"' {
		switch p.text[p.at] {
		case '\n':
			p.fail("a text in quotes has no end on its line")
			return ""
		case '\\':
			p.at++
		}
		p.at++
	}
	if p.at >= len(p.text) {
		p.at = len(p.text)
		p.fail("a text in quotes has no end")
		return ""
	}
	p.at++
	text, err := unescaped(p.text[from+1 : p.at-1])
	if err != nil {
		p.fail("%v", err)
	}
	return text
}

var jsonEscapes = map[byte]string{'"': `"`, '\\': `\`, '/': "/", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t"}

func unescaped(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var plain strings.Builder
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' {
			plain.WriteByte(text[at])
			continue
		}
		at++
		known, ok := jsonEscapes[text[min(at, len(text)-1)]]
		switch {
		case ok:
			plain.WriteString(known)
		case strings.HasPrefix(text[at:], "u") && at+5 <= len(text):
			number, err := strconv.ParseUint(text[at+1:at+5], 16, 32)
			if err != nil {
				return "", fmt.Errorf("there is no escape \\%s", text[at:at+5])
			}
			plain.WriteRune(rune(number))
			at += 4
		default:
			return "", fmt.Errorf("there is no escape \\%.1q", text[at:])
		}
	}
	return plain.String(), nil
}

// get returns the value at a path, nil where there is none.
func (v *hoconValue) get(path ...string) *hoconValue {
	for _, name := range path {
		if v == nil || v.fields == nil {
			return nil
		}
		v = v.fields[name]
	}
	return v
}
