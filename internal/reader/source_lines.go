package reader

import (
	"fmt"
	"regexp"

	"github.com/rmctl/rmctl/config"
)

// A linesSource makes a record of each line that an expression matches. It ignores other lines.
type linesSource struct {
	lineSplitter
	recordWriter
	forms  []lineForm
	count  int     // of lines that are not blank
	alone  *Record // of the first line, used if it is the only one
	fields []fieldText
}

// A lineForm is one expression for lines.
type lineForm struct {
	*regexp.Regexp
	columns []string
	only    bool
}

// newLines returns the source of one or more x:lines, tried in order.
func newLines(writer recordWriter, definitions []*config.Source) (*linesSource, error) {
	l := &linesSource{recordWriter: writer}
	for _, definition := range definitions {
		if definition.Kind != config.Lines {
			return nil, fmt.Errorf("%s: x:%s cannot follow x:lines", definition.Position, definition.Kind)
		}
		expression, err := compileWhole(definition.Expression)
		if err != nil {
			return nil, err
		}
		if err := checkGroups(definition.Position, expression, definition.Columns); err != nil {
			return nil, err
		}
		l.forms = append(l.forms, lineForm{expression, fieldNames(definition.Columns), definition.Only})
	}
	l.lineSplitter = lineSplitter{longestLine: writer.longest, handle: l.read}
	return l, nil
}

// read reads a line.
func (l *linesSource) read(line outputLine) error {
	if line.isBlank() {
		return nil
	}
	l.count++
	l.alone = nil
	if line.tooLong {
		return l.damaged(string(line.text), line.number, nil, damageTooLong)
	}
	for _, form := range l.forms {
		match := form.FindSubmatchIndex(line.text)
		if match == nil {
			continue
		}
		record := l.recordOf(line, form, match)
		switch {
		case !form.only:
			return l.hand(record)
		case l.count == 1:
			l.alone = record
		}
		return nil
	}
	return nil
}

// recordOf returns the record of a line. A truncated line has no fields, since its id may have more
// digits.
func (l *linesSource) recordOf(line outputLine, form lineForm, match []int) *Record {
	raw := string(line.text)
	if line.isCut {
		record := l.record(raw, line.number, nil)
		record.Damage = damageCut
		return record
	}
	l.fields = groupFields(l.fields[:0], form.columns, raw, match, line.number)
	return l.record(raw, line.number, l.fields)
}

// Close passes on the record of the line if it is the only one.
func (l *linesSource) Close() error {
	if err := l.finish(); err != nil {
		return err
	}
	if l.alone != nil {
		return l.hand(l.alone)
	}
	return nil
}
