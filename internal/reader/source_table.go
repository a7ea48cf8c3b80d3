package reader

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xpath"
)

// mostColumns bounds the columns of a header.
const mostColumns = 1000

// A table reads rows of one line: with a separator, with fixed widths, or with columns separated by
// blanks, where the last column takes the rest of the line.
type table struct {
	lineSplitter
	recordWriter
	columns   []string
	separator string // may be empty
	widths    []int  // may be nil

	quote        string         // optional around columns; may be empty
	hasRest      bool           // the last column takes the rest of its line
	heading      *regexp.Regexp // matches the header after other lines; nil if the header is the first line
	needs        []string       // required columns, alternatives separated by |
	awaitsHeader bool
	skipped      int          // the first line before the header; 0 without one
	awaitsRule   bool         // the previous line was the header
	damage       *DamageError // of the header
	fields       []fieldText
}

// newTable returns the source of a table without the mark.
func newTable(writer recordWriter, definition *config.Source) (*table, error) {
	t := &table{
		recordWriter: writer,
		columns:      fieldNames(definition.Columns),
		separator:    definition.Separator,
		widths:       definition.Widths,
		quote:        definition.Quote,
		hasRest:      len(definition.Rest) > 0,
		awaitsHeader: definition.Header || definition.Heading.IsSet(),
	}
	var err error
	if t.heading, err = compileWhole(definition.Heading); err != nil {
		return nil, err
	}
	if len(t.columns) == 0 && !t.awaitsHeader {
		return nil, fmt.Errorf("%s: the table has no columns and no header", definition.Position)
	}
	if t.widths != nil && len(t.columns) > 0 && len(t.columns) != len(t.widths)+1 {
		return nil, fmt.Errorf("%s: the table has %d columns and %d widths; it needs one for each column but the last", definition.Position, len(t.columns), len(t.widths))
	}
	t.lineSplitter = lineSplitter{longestLine: writer.longest, handle: t.read}
	return t, nil
}

// read reads a line.
func (t *table) read(line outputLine) error {
	row := string(line.text)
	if t.damage != nil || line.isBlank() && (t.separator == "" || !strings.Contains(row, t.separator)) {
		return nil
	}
	if t.readHeading(row, line) {
		return nil
	}
	count := t.split(strings.TrimSuffix(row, "\r"))
	damage := ""
	switch {
	case line.tooLong:
		damage = damageTooLong
	case line.isCut:
		damage = damageCut
	case count != len(t.columns):
		damage = damageColumns(count, len(t.columns))
	}
	if isIncomplete := line.tooLong || line.isCut; isIncomplete && len(t.fields) > 0 && count <= len(t.columns) {
		t.fields = t.fields[:len(t.fields)-1]
	}
	for i := range t.fields {
		t.fields[i].line = line.number
	}
	record := t.record(row, line.number, t.fields)
	record.Damage = damage
	return t.hand(record)
}

// readHeading reports whether a line belongs to the heading, which ends before the first row.
func (t *table) readHeading(row string, line outputLine) bool {
	if t.awaitsHeader {
		if t.heading == nil || !line.isCut && t.heading.MatchString(strings.TrimSuffix(row, "\r")) {
			t.readHeader(row, line)
		} else if t.skipped == 0 {
			t.skipped = line.number
		}
		return true
	}
	isFirst := t.awaitsRule
	t.awaitsRule = false
	return isFirst && isRule(row)
}

// readHeader takes the names of columns from a line, unless the definition has them.
func (t *table) readHeader(header string, line outputLine) {
	t.awaitsHeader, t.awaitsRule = false, true
	var names []string
	switch header = strings.TrimSuffix(header, "\r"); {
	case t.separator != "":
		names = strings.SplitN(header, t.separator, mostColumns+1)
	case t.widths != nil:
		names, _ = splitWidths(nil, header, t.widths)
	default:
		names = strings.Fields(header)
	}
	switch {
	case line.isCut || line.tooLong:
		t.damage = &DamageError{Line: line.number, What: "the output ends within the header"}
	case len(names) > mostColumns:
		t.damage = &DamageError{Line: line.number, What: fmt.Sprintf("the header has more than %d columns", mostColumns)}
	case t.heading != nil && len(t.columns) > 0 && len(names) != len(t.columns):
		t.damage = &DamageError{Line: line.number, What: fmt.Sprintf("the header has %d columns instead of %d", len(names), len(t.columns))}
	case len(t.columns) == 0:
		for _, name := range names {
			t.columns = append(t.columns, xpath.FieldName(strings.TrimSpace(name)))
		}
		t.damage = t.lacking(line.number)
	}
}

// lacking returns the damage of a header that lacks a required column, nil for a complete header.
func (t *table) lacking(line int) *DamageError {
	for _, need := range t.needs {
		isColumn := func(name string) bool { return slices.Contains(t.columns, name) }
		if !slices.ContainsFunc(strings.Split(need, "|"), isColumn) {
			return &DamageError{Line: line, What: "the header has no column " + need}
		}
	}
	return nil
}

// isRule reports whether a line is a rule of dashes below a header.
func isRule(row string) bool { return strings.Trim(row, "-=+| \t\r") == "" }

// split splits a row into fields and returns the number of columns. It counts only one excess column.
func (t *table) split(row string) int {
	t.fields = t.fields[:0]
	switch {
	case t.separator != "":
		return t.splitSeparated(row)
	case t.widths != nil:
		texts, count := splitWidths(make([]string, 0, len(t.columns)), row, t.widths)
		for i, text := range texts {
			t.fields = append(t.fields, fieldText{name: t.columns[i], text: text})
		}
		return count
	}
	return t.splitBlanks(row)
}

// splitSeparated splits a row at the separator.
func (t *table) splitSeparated(row string) int {
	for i, name := range t.columns {
		text, rest, isFound := t.cutColumn(row, t.hasRest && i == len(t.columns)-1)
		t.fields = append(t.fields, fieldText{name: name, text: text})
		if !isFound {
			return len(t.fields)
		}
		row = rest
	}
	return len(t.columns) + 1
}

// cutColumn removes the first column from a row; the last column is the whole rest. With quotes, it drops
// the quotes and the blanks around them, and ignores separators within quotes.
func (t *table) cutColumn(row string, isRest bool) (text, rest string, isFound bool) {
	switch end := t.endOfQuoted(row); {
	case isRest:
		text = row
	case end > 0:
		text = row[:end]
		rest, isFound = strings.CutPrefix(strings.TrimLeft(row[end:], blanks), t.separator)
	default:
		text, rest, isFound = strings.Cut(row, t.separator)
	}
	if t.quote == "" {
		return text, rest, isFound
	}
	text = strings.Trim(text, blanks)
	if inside, isQuoted := strings.CutPrefix(text, t.quote); isQuoted && strings.HasSuffix(inside, t.quote) {
		text = strings.Trim(strings.TrimSuffix(inside, t.quote), blanks)
	}
	return text, rest, isFound
}

// endOfQuoted returns the end of the first column of a row if it is quoted, otherwise 0.
func (t *table) endOfQuoted(row string) int {
	begin := len(row) - len(strings.TrimLeft(row, blanks))
	if t.quote == "" || !strings.HasPrefix(row[begin:], t.quote) {
		return 0
	}
	for end := begin + len(t.quote); ; {
		next := strings.Index(row[end:], t.quote)
		if next < 0 {
			return 0
		}
		end += next + len(t.quote)
		if behind := strings.TrimLeft(row[end:], blanks); behind == "" || strings.HasPrefix(behind, t.separator) {
			return end
		}
	}
}

// splitBlanks splits a row at blanks.
func (t *table) splitBlanks(row string) int {
	row = strings.Trim(row, blanks)
	for i, name := range t.columns {
		if row == "" {
			break
		}
		end := strings.IndexAny(row, blanks)
		if end < 0 || i == len(t.columns)-1 {
			end = len(row)
		}
		t.fields = append(t.fields, fieldText{name: name, text: row[:end]})
		row = strings.TrimLeft(row[end:], blanks)
	}
	return len(t.fields)
}

// splitWidths appends the columns of a row to texts: one for each width in characters, then the rest. A
// row that ends before its last column has fewer.
func splitWidths(texts []string, row string, widths []int) ([]string, int) {
	for _, width := range widths {
		end, characters := 0, 0
		for ; characters < width && end < len(row); characters++ {
			_, size := utf8.DecodeRuneInString(row[end:])
			end += size
		}
		texts = append(texts, strings.TrimSpace(row[:end]))
		if characters < width {
			return texts, len(texts)
		}
		row = row[end:]
	}
	texts = append(texts, strings.TrimSpace(row))
	return texts, len(texts)
}

// Close passes on an incomplete last row.
func (t *table) Close() error {
	if err := t.finish(); err != nil {
		return err
	}
	switch {
	case t.damage != nil:
		return t.damage
	case t.awaitsHeader && t.skipped > 0:
		return &DamageError{Line: t.skipped, What: "the output has no header"}
	}
	return nil
}
