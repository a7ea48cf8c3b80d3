package reader

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/xpath"
)

// Limits for a record of x:stanzas.
const (
	mostFields  = 10_000
	mostSkipped = 1_000 // words of a line outside fields
)

// A stanza reads the fields of records, one record at a time.
type stanza struct {
	begin, field, continued *regexp.Regexp // continued may be nil
	columns, rest, repeated []string
	until                   string // may be empty

	known  fieldIndex
	record int // counts records

	// State of the record being read:
	fields    []fieldText
	ofBegin   int    // how many of them are groups of begin
	last      int    // the field that a continued line continues; -1 without one
	joined    []byte // its text, if it has several lines
	isStopped bool   // ignore everything but lines that continue the last field
	damage    string
}

// read returns the fields of a text of complete lines. Number is that of the first line. The damage is
// empty if the fields are trustworthy. They are valid until the next call.
func (s *stanza) read(text string, first int) (fields []fieldText, damage string) {
	s.record++
	s.known.trim()
	s.fields, s.ofBegin, s.last, s.joined, s.isStopped, s.damage = s.fields[:0], 0, -1, s.joined[:0], false, ""
	number := first
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		length := 0
		if s.continued != nil && number > first {
			length = lengthOf(s.continued.FindStringIndex(line))
		}
		if length > 0 {
			s.join(line[length:])
		} else {
			s.endField()
			if s.isStopped {
				break
			}
			s.readLine(line, number, number == first)
		}
		number++
	}
	s.endField()
	s.joined = emptied(s.joined)
	return s.fields, s.damage
}

// join adds the text of a continued line to the previous field.
func (s *stanza) join(text string) {
	if s.last < 0 {
		return
	}
	if len(s.joined) == 0 {
		s.joined = append(s.joined, s.fields[s.last].text...)
	}
	s.joined = append(s.joined, text...)
}

// endField ends the field that a continued line would continue.
func (s *stanza) endField() {
	if len(s.joined) > 0 {
		s.fields[s.last].text = string(s.joined)
		s.joined = s.joined[:0]
	}
	s.last = -1
}

// readLine reads the fields of a line. A line that does not begin with a field has none.
func (s *stanza) readLine(line string, number int, isFirst bool) {
	if isFirst {
		for _, field := range groupFields(nil, s.columns, line, s.begin.FindStringSubmatchIndex(line), number) {
			s.add(s.known.field(field.name), field.text, number)
		}
		s.ofBegin = len(s.fields)
	}
	at, match := s.match(line, 0)
	for skipped := 0; skipped < mostSkipped && !s.isStopped; {
		end := at
		if match == nil {
			if end == 0 || strings.TrimLeft(line[:end], blanks) == "" {
				return
			}
			skipped++
		} else {
			end = s.addField(line, at, match, number)
		}
		next := strings.IndexAny(line[end:], blanks)
		if next < 0 {
			return
		}
		at, match = s.match(line, end+next)
	}
}

// blanks are the characters that separate fields and columns.
const blanks = " \t"

// match matches a field at a position, or after the blanks there, and returns its position.
func (s *stanza) match(line string, at int) (int, []int) {
	if match := s.field.FindStringSubmatchIndex(line[at:]); match != nil && match[1] > 0 {
		return at, match
	}
	behind := len(line) - len(strings.TrimLeft(line[at:], blanks))
	if behind == at {
		return at, nil
	}
	match := s.field.FindStringSubmatchIndex(line[behind:])
	if match != nil && match[1] == 0 {
		match = nil
	}
	return behind, match
}

// addField adds the field of a match at a position of a line and returns its end.
func (s *stanza) addField(line string, at int, match []int, number int) int {
	const key, value = 2, 4
	end := at + match[1]
	if match[key] < 0 || match[value] < 0 {
		return end
	}
	field := s.known.field(line[at+match[key] : at+match[key+1]])
	text := line[at+match[value] : at+match[value+1]]
	if slices.Contains(s.rest, field.name) {
		text, end = line[at+match[value]:], len(line)
	}
	s.add(field, text, number)
	s.isStopped = s.isStopped || field.name == s.until
	return end
}

// add adds a field. A second field of the same name damages the record, since a user may have forged it.
// The expressions for the beginning and for fields may match the same text, though.
func (s *stanza) add(field *knownField, text string, number int) {
	isSame := slices.Contains(s.fields[:s.ofBegin], fieldText{field.name, text, number})
	switch {
	case isSame:
		return
	case len(s.fields) == mostFields:
		s.damage = fmt.Sprintf("the record has more than %d fields", mostFields)
		s.isStopped = true
		return
	case field.record == s.record && s.damage == "" && !slices.Contains(s.repeated, field.name):
		s.damage = fmt.Sprintf("the field %.100s occurs twice, in lines %d and %d", field.name, field.line, number)
	}
	if field.record != s.record {
		field.record, field.line = s.record, number
	}
	s.fields = append(s.fields, fieldText{field.name, text, number})
	s.last = len(s.fields) - 1
}

// A fieldIndex finds the fields of records by key and by name. Two keys may give one name.
type fieldIndex struct {
	fields map[string]*knownField
	size   int // of its keys
}

// A knownField is a field that occurred in some record.
type knownField struct {
	name         string
	record, line int // the last record with it, and where
}

// field returns the field of a key.
func (x *fieldIndex) field(key string) *knownField {
	if field := x.fields[key]; field != nil {
		return field
	}
	name := xpath.FieldName(key)
	field := x.fields[name]
	if field == nil {
		field = &knownField{name: strings.Clone(name)}
		x.add(field.name, field)
	}
	if key != name {
		x.add(strings.Clone(key), field)
	}
	return field
}

func (x *fieldIndex) add(key string, field *knownField) {
	if x.fields == nil {
		x.fields = map[string]*knownField{}
	}
	x.fields[key] = field
	x.size += len(key)
}

// trim forgets the fields of earlier records if they need much memory. The keys of hostile
// output may all differ.
func (x *fieldIndex) trim() {
	const usual = 1 << 20
	if len(x.fields) > mostFields || x.size > usual {
		*x = fieldIndex{}
	}
}
