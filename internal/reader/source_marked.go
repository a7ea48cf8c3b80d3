package reader

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
)

// A markedTable reads rows whose columns all end with the mark of the query. The mark is random, so no
// user text contains it: a row ends at the line break after the mark of its last column, whatever line
// breaks its texts contain. Lines before the first column, such as a banner, belong to no row.
type markedTable struct {
	recordWriter
	columns []string
	mark    []byte

	pending    []byte // output that is not in a record yet
	line       int    // of the beginning of pending, from 1
	row        markedRow
	fields     []fieldText
	isDoubtful bool // the previous row was damaged, so this one may begin within a text
	isSkipping bool // the row is too long and was passed on, but has not ended
}

// A markedRow is the state of the row being read. Positions are in pending.
type markedRow struct {
	begin      int
	next       int   // where to search for the next mark
	count      int   // number of marks
	ends       []int // of its marks, at most one per column
	breakAt    int   // end of the first mark before a line break; 0 without one
	breakCount int   // number of marks up to breakAt
	breakEnd   int   // of that line break
}

// newMarkedTable returns the source of a table with the mark.
func newMarkedTable(writer recordWriter, definition *config.Source, mark string) (*markedTable, error) {
	if mark == "" {
		return nil, fmt.Errorf("%s: the query has no mark", definition.Position)
	}
	if len(definition.Columns) == 0 {
		return nil, fmt.Errorf("%s: the table has no columns", definition.Position)
	}
	return &markedTable{recordWriter: writer, columns: fieldNames(definition.Columns), mark: []byte(mark), line: 1}, nil
}

// Write passes on complete rows.
func (t *markedTable) Write(p []byte) (int, error) {
	const most = 64 << 10 // bytes copied at once
	for rest := p; len(rest) > 0; {
		part := rest[:min(most, len(rest))]
		rest = rest[len(part):]
		t.pending = append(t.pending, part...)
		if err := t.read(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// read reads the marks in pending and drops complete rows.
func (t *markedTable) read() error {
	for {
		end, lineBreak, isFound := t.nextMark()
		if !isFound {
			break
		}
		if err := t.readMark(end, lineBreak); err != nil {
			return err
		}
	}
	// A mark that ends within the limit would have been found.
	if !t.isSkipping && len(t.pending)-t.row.begin >= t.longest+longestLineBreak {
		if err := t.skip(); err != nil {
			return err
		}
	}
	t.compact()
	return nil
}

// longestLineBreak is the length of a carriage return and a line feed.
const longestLineBreak = 2

// nextMark finds the next mark and the length of the line break after it, 0 without one. It waits for the
// output after the mark.
func (t *markedTable) nextMark() (end, lineBreak int, isFound bool) {
	at := bytes.Index(t.pending[t.row.next:], t.mark)
	if at < 0 {
		t.row.next = max(t.row.next, len(t.pending)-len(t.mark)+1)
		return 0, 0, false
	}
	end = t.row.next + at + len(t.mark)
	behind := t.pending[end:]
	switch {
	case len(behind) == 0 || len(behind) == 1 && behind[0] == '\r':
		t.row.next += at
		return 0, 0, false
	case behind[0] == '\n':
		lineBreak = 1
	case behind[0] == '\r' && behind[1] == '\n':
		lineBreak = 2
	}
	t.row.next = end
	return end, lineBreak, true
}

// readMark adds a mark to the row, and ends the row if it can end there.
func (t *markedTable) readMark(end, lineBreak int) error {
	row := &t.row
	if !t.isSkipping && end-row.begin > t.longest {
		if err := t.skip(); err != nil {
			return err
		}
	}
	t.countMark(end, lineBreak)
	isFull := row.count >= len(t.columns)
	switch {
	case !isFull || row.breakAt == 0 || t.isSkipping && lineBreak == 0:
	case t.isSkipping:
		t.isSkipping = false
		t.beginRow(end + lineBreak)
	case row.count == len(t.columns) && lineBreak > 0:
		record := t.rowUpTo(end, row.count)
		t.beginRow(end + lineBreak)
		t.isDoubtful = false
		return t.hand(record)
	default:
		return t.endDamaged()
	}
	return nil
}

// countMark counts a mark of the row.
func (t *markedTable) countMark(end, lineBreak int) {
	row := &t.row
	row.count++
	if len(row.ends) < len(t.columns) {
		row.ends = append(row.ends, end)
	}
	if lineBreak > 0 && row.breakAt == 0 {
		row.breakAt, row.breakCount, row.breakEnd = end, row.count, end+lineBreak
	}
}

// endDamaged ends a row with the wrong number of columns at its first line break after a mark.
func (t *markedTable) endDamaged() error {
	record := t.damagedUpTo(t.row.breakAt, t.row.breakCount, damageColumns(t.row.breakCount, len(t.columns)))
	t.beginRow(t.row.breakEnd)
	t.isDoubtful = true
	return t.hand(record)
}

// damageColumns returns the damage of a row with a wrong number of columns.
func damageColumns(has, wants int) string {
	if has < wants {
		return fmt.Sprintf("the record has %d columns instead of %d", has, wants)
	}
	return fmt.Sprintf("the record has more than %d columns", wants)
}

// rowUpTo returns the record of the row up to a position, with a number of marks.
func (t *markedTable) rowUpTo(end, count int) *Record {
	row := &t.row
	begin := row.begin
	if count > 0 {
		first := t.pending[begin : row.ends[0]-len(t.mark)]
		begin += bytes.LastIndexByte(first, '\n') + 1
	}
	number := t.line + lineBreaks(t.pending[row.begin:begin])
	raw := string(t.pending[begin:end])
	t.fields = t.fields[:0]
	at, line := 0, number
	for i, name := range t.columns[:min(count, len(t.columns))] {
		end := row.ends[i] - begin
		text := raw[at : end-len(t.mark)]
		t.fields = append(t.fields, fieldText{name, text, line})
		at = end
		line += strings.Count(text, "\n")
	}
	return t.record(raw, number, t.fields)
}

// damagedUpTo returns the record of a damaged row. It has no fields if the previous row was damaged, too,
// since its first column may be part of a user's text.
func (t *markedTable) damagedUpTo(end, count int, damage string) *Record {
	if t.isDoubtful {
		count = 0
	}
	record := t.rowUpTo(end, count)
	record.Damage = damage
	return record
}

// skip passes on a row that is too long and skips to its end.
func (t *markedTable) skip() error {
	row := &t.row
	end := row.begin + min(t.longest, longestExcerpt)
	count := 0
	for count < len(row.ends) && row.ends[count] <= end {
		count++
	}
	record := t.damagedUpTo(end, count, damageTooLong)
	t.isDoubtful, t.isSkipping = true, true
	return t.hand(record)
}

// beginRow begins a row at a position.
func (t *markedTable) beginRow(at int) {
	t.line += lineBreaks(t.pending[t.row.begin:at])
	t.row = markedRow{begin: at, next: at, ends: t.row.ends[:0]}
}

// lineBreaks counts the line breaks of a text.
func lineBreaks(text []byte) int { return bytes.Count(text, []byte{'\n'}) }

// compact drops the output before the row.
func (t *markedTable) compact() {
	row := &t.row
	if t.isSkipping {
		t.line += lineBreaks(t.pending[row.begin:row.next])
		row.begin = row.next
	}
	dropped := row.begin
	if dropped == 0 {
		return
	}
	rest := t.pending[dropped:]
	t.pending = append(emptied(t.pending), rest...)
	row.begin, row.next = 0, row.next-dropped
	for i := range row.ends {
		row.ends[i] -= dropped
	}
	if row.breakAt > 0 {
		row.breakAt, row.breakEnd = row.breakAt-dropped, row.breakEnd-dropped
	}
}

// Close passes on an incomplete last row.
func (t *markedTable) Close() error {
	if t.isSkipping {
		return nil // already passed on
	}
	for t.row.breakAt > 0 {
		if err := t.endDamaged(); err != nil {
			return err
		}
		if err := t.read(); err != nil {
			return err
		}
	}
	rest := t.pending[t.row.begin:]
	if isText := bytes.HasSuffix(rest, []byte{'\n'}) || len(bytes.TrimSpace(rest)) == 0; isText && !bytes.Contains(rest, t.mark) {
		return nil // after the table
	}
	return t.hand(t.damagedUpTo(len(t.pending), len(t.row.ends), damageCut))
}
