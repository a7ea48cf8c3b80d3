package reader

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xpath"
)

// Damages common to all text records.
const (
	damageCut     = "the output ends within the record"
	damageTooLong = "the record is longer than 16 MiB"
)

// longestExcerpt bounds the text kept of a record that is too long, in bytes.
const longestExcerpt = 4 << 10

// newTextSource returns the source for definitions of the kinds table, stanzas, lines
// (several, tried in order) and log. none are words that mean "no value": such fields are
// left out. mark is the query's mark, for tables with it.
func newTextSource(definitions []*config.Source, none []string, mark string, hand func(*Record) error) (source, error) {
	return newSourceFor(recordWriter{none: none, longest: longestRecord, hand: hand}, definitions, mark)
}

// newSourceFor returns the source that passes its records to a writer.
func newSourceFor(writer recordWriter, definitions []*config.Source, mark string) (source, error) {
	if len(definitions) == 0 {
		return nil, fmt.Errorf("the reader has no source")
	}
	definition := definitions[0]
	switch definition.Kind {
	case config.Table:
		if definition.Separator == config.MarkSeparator {
			return newMarkedTable(writer, definition, mark)
		}
		return newTable(writer, definition)
	case config.Stanzas:
		return newStanzas(writer, definition)
	case config.Lines:
		return newLines(writer, definitions)
	case config.Log:
		return newLog(writer, definition)
	}
	return nil, fmt.Errorf("%s: x:%s does not read text", definition.Position, definition.Kind)
}

// A recordWriter creates records and passes them on.
type recordWriter struct {
	none    []string
	longest int // limit for a record's text in bytes
	hand    func(*Record) error
}

// A fieldText is a field of the record being read.
type fieldText struct {
	name, text string
	line       int
}

// record returns a record with fields, without those that have no value.
func (w *recordWriter) record(raw string, line int, fields []fieldText) *Record {
	nodes := make([]xpath.Node, 1, len(fields)+1) // in one array, as there are many
	root := &nodes[0]
	record := &Record{Root: root, Raw: raw, Line: line}
	children := make([]*xpath.Node, 0, len(fields))
	for _, field := range fields {
		if slices.Contains(w.none, field.text) {
			record.WithoutValue = append(record.WithoutValue, field.name)
			continue
		}
		nodes = append(nodes, xpath.Node{Name: field.name, Text: field.text, Parent: root, Line: field.line})
		children = append(children, &nodes[len(nodes)-1])
	}
	root.Name, root.Line, root.Children = "record", line, children
	return record
}

// damaged passes on a damaged record. Its fields only identify its job.
func (w *recordWriter) damaged(raw string, line int, fields []fieldText, damage string) error {
	record := w.record(raw, line, fields)
	record.Damage = damage
	return w.hand(record)
}

// fieldNames returns the field names for names in a definition.
func fieldNames(names []string) []string {
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = xpath.FieldName(name)
	}
	return fields
}

// compileWhole compiles a pattern that matches a whole line.
func compileWhole(pattern config.Pattern) (*regexp.Regexp, error) {
	return compile(pattern, `\A(?:`, `)\z`)
}

// compileStart compiles a pattern that matches at the beginning of a line.
func compileStart(pattern config.Pattern) (*regexp.Regexp, error) {
	return compile(pattern, `\A(?:`, `)`)
}

// compile compiles a pattern between anchors. It returns nil without a pattern.
func compile(pattern config.Pattern, before, after string) (*regexp.Regexp, error) {
	if !pattern.IsSet() {
		return nil, nil
	}
	// First without the anchors: the message shows the pattern alone, and an extra bracket is an error.
	if _, err := regexp.Compile(pattern.Text); err != nil {
		return nil, fmt.Errorf("%s: %w", pattern.Position, err)
	}
	compiled, err := regexp.Compile(before + pattern.Text + after)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern.Position, err)
	}
	return compiled, nil
}

// checkGroups reports a pattern that is missing, or has fewer groups than columns.
func checkGroups(at config.Position, pattern *regexp.Regexp, columns []string) error {
	switch {
	case pattern == nil:
		return fmt.Errorf("%s: the expression is missing", at)
	case pattern.NumSubexp() < len(columns):
		return fmt.Errorf("%s: the expression has %d groups for %d columns", at, pattern.NumSubexp(), len(columns))
	}
	return nil
}

// groupFields appends the fields of the groups of a match in a line. If several groups have the same
// name, the first that took part counts.
func groupFields(fields []fieldText, columns []string, line string, match []int, number int) []fieldText {
	first := len(fields)
	for i, name := range columns {
		at := 2 * (i + 1)
		if at+1 >= len(match) || match[at] < 0 || hasField(fields[first:], name) {
			continue
		}
		fields = append(fields, fieldText{name, line[match[at]:match[at+1]], number})
	}
	return fields
}

// hasField reports whether fields contain a name.
func hasField(fields []fieldText, name string) bool {
	return slices.ContainsFunc(fields, func(field fieldText) bool { return field.name == name })
}

// lengthOf returns the length of a match at the beginning of a text, 0 without a match.
func lengthOf(match []int) int {
	if match == nil {
		return 0
	}
	return match[1]
}
