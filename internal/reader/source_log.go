package reader

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xpath"
)

// A logSource reads the events of jobs. Each event sets and clears fields of its job's record. An event
// is a line with the lines that continue it.
type logSource struct {
	lineSplitter
	recordWriter
	begin, time, continued, last *regexp.Regexp // all but begin may be nil
	columns                      []string
	kinds                        []eventKind
	hasLast                      bool // the line after the last event was read

	hasEvent bool   // some of its lines were read
	event    []byte // without the prefixes of its continued lines
	eventRaw []byte
	eventAt  int // its line
	tooLong  bool

	isOpen bool // a record has begun
	raw    []byte
	first  int
	fields []fieldText
	damage string
}

// An eventKind is a kind of event (x:line).
type eventKind struct {
	expression      *regexp.Regexp
	columns, clears []string
	time            string // may be empty
}

// newLog returns the source of x:log.
func newLog(writer recordWriter, definition *config.Source) (*logSource, error) {
	l := &logSource{recordWriter: writer, columns: fieldNames(definition.Columns)}
	var err error
	if l.begin, err = compileWhole(definition.Begin); err != nil {
		return nil, err
	}
	if err := checkGroups(definition.Position, l.begin, definition.Columns); err != nil {
		return nil, err
	}
	if l.time, err = compileStart(definition.Time); err != nil {
		return nil, err
	}
	if l.continued, err = compileStart(definition.Continued); err != nil {
		return nil, err
	}
	if l.last, err = compileWhole(definition.End); err != nil {
		return nil, err
	}
	for _, line := range definition.Lines {
		expression, err := compileWhole(line.Expression)
		if err != nil {
			return nil, err
		}
		if err := checkGroups(line.Position, expression, line.Columns); err != nil {
			return nil, err
		}
		kind := eventKind{expression: expression, columns: fieldNames(line.Columns), clears: fieldNames(line.Clears)}
		if line.Time != "" {
			kind.time = xpath.FieldName(line.Time)
		}
		l.kinds = append(l.kinds, kind)
	}
	l.lineSplitter = lineSplitter{longestLine: writer.longest, handle: l.read}
	return l, nil
}

// read reads a line: it continues the event before, or ends it.
func (l *logSource) read(line outputLine) error {
	if line.isCut {
		return l.readCut(line)
	}
	text := bytes.TrimSuffix(line.text, []byte{'\r'})
	length := 0
	if l.continued != nil && l.hasEvent {
		length = lengthOf(l.continued.FindIndex(text))
	}
	if length == 0 {
		if err := l.endEvent(); err != nil {
			return err
		}
		l.hasEvent, l.eventAt = true, line.number
	}
	if l.tooLong || len(l.eventRaw)+len(line.text) > l.longest {
		l.tooLong = true
		return nil
	}
	l.event = append(l.event, text[length:]...)
	l.eventRaw = append(append(l.eventRaw, line.text...), '\n')
	l.tooLong = line.tooLong
	return nil
}

// readCut handles a last line without a line break: it ends the event before it and damages the record.
func (l *logSource) readCut(line outputLine) error {
	if err := l.endEvent(); err != nil {
		return err
	}
	if !l.isOpen {
		if line.isBlank() {
			return nil
		}
		return l.damaged(string(line.text), line.number, nil, damageCut)
	}
	l.keep(line.text)
	if l.damage == "" {
		l.damage = damageCut
	}
	return nil
}

// endEvent reads the event whose lines are complete.
func (l *logSource) endEvent() error {
	if !l.hasEvent {
		return nil
	}
	event := string(l.event)
	if match := l.begin.FindStringSubmatchIndex(event); match != nil {
		if err := l.end(); err != nil {
			return err
		}
		l.isOpen, l.first, l.damage, l.hasLast = true, l.eventAt, "", false
		l.raw = emptied(l.raw)
		l.fields = groupFields(l.fields[:0], l.columns, event, match, l.eventAt)
	}
	isBehind := l.hasLast // the event belongs to another job with a damaged beginning
	l.hasLast = isBehind || l.last != nil && l.last.MatchString(event)
	if l.isOpen && !isBehind {
		l.keep(l.eventRaw)
		switch {
		case l.tooLong:
			l.shorten()
		case l.damage == "":
			l.apply(event)
		}
	}
	l.hasEvent, l.tooLong = false, false
	l.event, l.eventRaw = emptied(l.event), emptied(l.eventRaw)
	return nil
}

// keep adds text as printed to the record.
func (l *logSource) keep(text []byte) {
	switch {
	case l.damage == damageTooLong:
	case len(l.raw)+len(text) > l.longest:
		l.raw = append(bytes.Clone(l.raw[:min(len(l.raw), longestExcerpt)]), text[:min(len(text), longestExcerpt)]...)
		l.shorten()
	default:
		l.raw = append(l.raw, text...)
	}
}

// shorten marks a record that is too long as damaged and keeps little of its text.
func (l *logSource) shorten() {
	l.raw = bytes.Clone(l.raw[:min(len(l.raw), l.longest, longestExcerpt)])
	l.damage = damageTooLong
}

// apply sets the fields of the first kind of event that matches.
func (l *logSource) apply(event string) {
	moment := ""
	if l.time != nil {
		match := l.time.FindStringSubmatchIndex(event)
		if match == nil {
			return
		}
		moment = event[:match[1]]
		if len(match) > 2 && match[2] >= 0 {
			moment = event[match[2]:match[3]]
		}
		event = event[match[1]:]
	}
	for _, kind := range l.kinds {
		match := kind.expression.FindStringSubmatchIndex(event)
		if match == nil {
			continue
		}
		for _, name := range kind.clears {
			l.clear(name)
		}
		for _, field := range groupFields(nil, kind.columns, event, match, l.eventAt) {
			l.set(field)
		}
		if kind.time != "" && l.time != nil {
			l.set(fieldText{kind.time, moment, l.eventAt})
		}
		return
	}
}

// clear removes a field.
func (l *logSource) clear(name string) {
	l.fields = slices.DeleteFunc(l.fields, func(field fieldText) bool { return field.name == name })
}

// set sets or replaces a field.
func (l *logSource) set(field fieldText) {
	l.clear(field.name)
	l.fields = append(l.fields, field)
}

// end passes on the record.
func (l *logSource) end() error {
	if !l.isOpen {
		return nil
	}
	l.isOpen = false
	record := l.record(strings.TrimSuffix(string(l.raw), "\n"), l.first, l.fields)
	record.Damage = l.damage
	return l.hand(record)
}

// Close reads the last event and passes on the last record.
func (l *logSource) Close() error {
	if err := l.finish(); err != nil {
		return err
	}
	if err := l.endEvent(); err != nil {
		return err
	}
	if err := l.end(); err != nil {
		return err
	}
	if l.last != nil && l.eventAt > 0 && !l.hasLast {
		return &DamageError{Line: l.eventAt, What: "the output ends before its last line"}
	}
	return nil
}
