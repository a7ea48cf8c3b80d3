// Package mi drives gdb by its machine interface (GDB/MI).
package mi

import (
	"errors"
	"strconv"
	"strings"
)

const (
	deepest    = 32      // values within one another
	mostValues = 1 << 18 // in one record
)

// A Record is a line that gdb prints.
type Record struct {
	Token   int    // of the command that it answers, or -1
	Kind    byte   // ^ result, * and + and = events, ~ and @ and & text
	Class   string // done, error, stopped …
	Text    string // of kinds ~, @ and &
	Results Value  // a tuple
}

// A Value is a text, or a tuple or list of values. The values of tuples have names, those
// of lists may have.
type Value struct {
	Name  string
	Text  string
	Items []Value
}

// Get returns the first value with a name in a tuple; the empty one if there is no such value.
func (v Value) Get(name string) Value {
	for _, item := range v.Items {
		if item.Name == name {
			return item
		}
	}
	return Value{}
}

// number returns a text as a number that is not negative, or 0.
func (v Value) number() int {
	number, err := strconv.ParseUint(v.Text, 10, 31)
	if err != nil {
		return 0
	}
	return int(number)
}

var errSyntax = errors.New("invalid output of the debugger")

// ParseRecord parses a line without its line break.
func ParseRecord(line string) (Record, error) {
	record := Record{Token: -1}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits > 0 {
		token, err := strconv.ParseUint(line[:digits], 10, 31)
		if err != nil {
			return Record{}, errSyntax
		}
		record.Token = int(token)
	}
	p := parser{rest: line[digits:]}
	if p.rest == "" {
		return Record{}, errSyntax
	}
	record.Kind, p.rest = p.rest[0], p.rest[1:]
	switch record.Kind {
	case '~', '@', '&':
		record.Text = p.text()
	case '^', '*', '+', '=':
		end := strings.IndexByte(p.rest, ',')
		if end < 0 {
			record.Class, p.rest = p.rest, ""
			break
		}
		record.Class, p.rest = p.rest[:end], p.rest[end+1:]
		record.Results = p.items(0, 0, true)
	default:
		return Record{}, errSyntax
	}
	if p.failed || p.rest != "" {
		return Record{}, errSyntax
	}
	return record, nil
}

// A parser holds what is left of a line.
type parser struct {
	rest   string
	count  int
	failed bool
}

// skip skips a character if it comes next.
func (p *parser) skip(character byte) bool {
	if p.failed || p.rest == "" || p.rest[0] != character {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *parser) fail() { p.failed, p.rest = true, "" }

// items parses values with commas between them, up to a closing character, or to the end of the
// line for 0.
func (p *parser) items(closing byte, depth int, isTuple bool) Value {
	var all Value
	if closing != 0 && p.skip(closing) {
		return all
	}
	for !p.failed {
		all.Items = append(all.Items, p.item(depth+1, isTuple))
		if p.skip(',') {
			continue
		}
		if closing != 0 && !p.skip(closing) {
			p.fail()
		}
		break
	}
	return all
}

// item parses NAME=VALUE or, in lists, VALUE.
func (p *parser) item(depth int, isTuple bool) Value {
	p.count++
	if depth > deepest || p.count > mostValues || p.rest == "" {
		p.fail()
		return Value{}
	}
	name := ""
	if !strings.ContainsRune(`"{[`, rune(p.rest[0])) {
		end := strings.IndexAny(p.rest, `=,"{}[]`)
		if end <= 0 || p.rest[end] != '=' {
			p.fail()
			return Value{}
		}
		name, p.rest = p.rest[:end], p.rest[end+1:]
	} else if isTuple && p.rest[0] != '{' { // old versions have tuples without names in some results
		p.fail()
		return Value{}
	}
	var value Value
	switch {
	case p.skip('{'):
		value = p.items('}', depth, true)
	case p.skip('['):
		value = p.items(']', depth, false)
	default:
		value.Text = p.text()
	}
	value.Name = name
	return value
}

// text parses a quoted text with the escapes of C.
func (p *parser) text() string {
	if !p.skip('"') {
		p.fail()
		return ""
	}
	var text strings.Builder
	for {
		end := strings.IndexAny(p.rest, `"\`)
		if end < 0 || p.rest[end] == '\\' && end+1 == len(p.rest) {
			p.fail()
			return ""
		}
		if p.rest[end] == '"' {
			if text.Len() == 0 {
				whole := p.rest[:end]
				p.rest = p.rest[end+1:]
				return whole
			}
			text.WriteString(p.rest[:end])
			p.rest = p.rest[end+1:]
			return text.String()
		}
		text.WriteString(p.rest[:end])
		text.WriteByte(p.escape(end + 1))
	}
}

// escape returns the byte that the escape at a position means, and skips it.
func (p *parser) escape(at int) byte {
	octal := 0
	for octal < 3 && at+octal < len(p.rest) && p.rest[at+octal] >= '0' && p.rest[at+octal] <= '7' {
		octal++
	}
	if octal > 0 {
		number, _ := strconv.ParseUint(p.rest[at:at+octal], 8, 16)
		p.rest = p.rest[at+octal:]
		return byte(number)
	}
	character := p.rest[at]
	p.rest = p.rest[at+1:]
	if meaning := strings.IndexByte("abefnrtv", character); meaning >= 0 {
		return "\a\b\x1b\f\n\r\t\v"[meaning]
	}
	return character
}
