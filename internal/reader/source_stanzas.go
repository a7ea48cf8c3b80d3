package reader

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xpath"
)

// A stanzasSource reads records of several lines. An expression matches the beginning of each record's
// first line. Lines contain fields, each with a key and a value.
type stanzasSource struct {
	lineSplitter
	recordWriter
	begin  *regexp.Regexp
	stanza stanza
	total  *stanzaTotal // nil if the output has no number of records

	isOpen   bool   // a record has begun
	raw      []byte // of the record
	first    int    // its line
	complete int    // how much of raw has complete lines
	damage   string
}

// newStanzas returns the source of x:stanzas.
func newStanzas(writer recordWriter, definition *config.Source) (*stanzasSource, error) {
	begin, err := compileStart(definition.Begin)
	if err != nil {
		return nil, err
	}
	if err := checkGroups(definition.Position, begin, definition.Columns); err != nil {
		return nil, err
	}
	field, err := compileStart(definition.Field)
	if err != nil {
		return nil, err
	}
	if field == nil || field.NumSubexp() < 2 {
		return nil, fmt.Errorf("%s: the expression of a field needs two groups, its key and its value", definition.Position)
	}
	continued, err := compileStart(definition.Continued)
	if err != nil {
		return nil, err
	}
	total, err := newStanzaTotal(definition)
	if err != nil {
		return nil, err
	}
	s := &stanzasSource{
		recordWriter: writer,
		total:        total,
		begin:        begin,
		stanza: stanza{
			begin: begin, field: field, continued: continued,
			columns: fieldNames(definition.Columns),
			rest:    fieldNames(definition.Rest), repeated: fieldNames(definition.Repeated),
			known: fieldIndex{},
		},
	}
	if definition.Until != "" {
		s.stanza.until = xpath.FieldName(definition.Until)
	}
	s.lineSplitter = lineSplitter{longestLine: writer.longest, handle: s.add}
	return s, nil
}

// add adds a line to the record, or begins one.
func (s *stanzasSource) add(line outputLine) error {
	if s.begin.Match(bytes.TrimSuffix(line.text, []byte{'\r'})) {
		if err := s.end(); err != nil {
			return err
		}
		s.total.addRecord(line.number)
		s.isOpen, s.raw, s.first, s.complete, s.damage = true, emptied(s.raw), line.number, 0, ""
	}
	if !line.isCut {
		s.total.readLine(line)
	}
	switch {
	case !s.isOpen && line.isCut && !line.isBlank():
		return s.damaged(string(line.text), line.number, nil, damageCut)
	case !s.isOpen || s.damage != "":
		// A banner before the first record, or text after the last field of one.
	case line.tooLong || len(s.raw)+len(line.text) > s.longest:
		s.raw = append(bytes.Clone(s.raw[:min(len(s.raw), longestExcerpt)]), line.text...)
		s.raw = s.raw[:min(len(s.raw), s.longest, longestExcerpt)]
		s.complete = bytes.LastIndexByte(s.raw, '\n') + 1
		s.damage = damageTooLong
	case line.isCut:
		s.raw = append(s.raw, line.text...)
		s.damage = damageCut
	default:
		s.raw = append(append(s.raw, line.text...), '\n')
		s.complete = len(s.raw)
	}
	return nil
}

// end passes on the record.
func (s *stanzasSource) end() error {
	if !s.isOpen {
		return nil
	}
	s.isOpen = false
	raw := string(s.raw)
	fields, damage := s.stanza.read(raw[:s.complete], s.first)
	record := s.record(strings.TrimSuffix(raw, "\n"), s.first, fields)
	if record.Damage = s.damage; record.Damage == "" {
		record.Damage = damage
	}
	return s.hand(record)
}

// Close passes on the last record.
func (s *stanzasSource) Close() error {
	if err := s.finish(); err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	return s.total.end(s.number)
}
