package reader

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"github.com/rmctl/rmctl/config"
)

// A stanzaTotal compares the number of records with that in the output: in one line after them, or in
// lines that each precede the records they count. Without such a line the output is truncated.
type stanzaTotal struct {
	line     *regexp.Regexp
	hasText  bool // the output has text, or must have
	isSaid   bool
	isBehind bool // the line follows the records, so no record may follow it
	said     int
	records  int // counted for the current line
	damage   *DamageError
}

// newStanzaTotal returns nil for a source without a total.
func newStanzaTotal(definition *config.Source) (*stanzaTotal, error) {
	line, err := compileWhole(definition.TotalLine)
	if err != nil || line == nil {
		return nil, err
	}
	return &stanzaTotal{line: line, hasText: !definition.MayBeEmpty}, checkGroups(definition.Position, line, []string{"total"})
}

// addRecord counts a record that begins in a line.
func (t *stanzaTotal) addRecord(number int) {
	if t == nil {
		return
	}
	if t.isSaid && t.isBehind {
		t.setDamage(number, "a record follows the line with their number")
	}
	t.records++
}

// readLine reads a line that may contain the number of records.
func (t *stanzaTotal) readLine(line outputLine) {
	if t == nil {
		return
	}
	t.hasText = t.hasText || !line.isBlank()
	match := t.line.FindSubmatch(bytes.TrimSuffix(line.text, []byte{'\r'}))
	if match == nil {
		return
	}
	switch {
	case !t.isSaid:
		t.isBehind = t.records > 0
	case t.isBehind:
		t.setDamage(line.number, "the output has two lines with the number of records")
	default:
		t.compare(line.number)
		t.records = 0
	}
	t.isSaid = true
	t.said, _ = strconv.Atoi(string(match[1])) // 0 if invalid
}

// end compares the numbers at the end of the output.
func (t *stanzaTotal) end(number int) error {
	if t == nil || !t.hasText {
		return nil
	}
	if !t.isSaid {
		t.setDamage(number, "the output ends before the line with the number of records")
	}
	t.compare(number)
	if t.damage == nil {
		return nil
	}
	return t.damage
}

func (t *stanzaTotal) compare(number int) {
	if t.records != t.said {
		t.setDamage(number, fmt.Sprintf("the output has %d records instead of %d", t.records, t.said))
	}
}

// setDamage records the first damage.
func (t *stanzaTotal) setDamage(number int, what string) {
	if t.damage == nil {
		t.damage = &DamageError{Line: number, What: what}
	}
}
