package reader

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"github.com/rmctl/rmctl/config"
)

// A stanzaTotal compares the number of records with what the output says: in one line behind
// them, or in lines before the records that each counts. Without such a line the output is cut.
type stanzaTotal struct {
	line     *regexp.Regexp
	hasText  bool // or it must have some
	isSaid   bool
	isBehind bool // the line is behind the records, so nothing may follow it
	said     int
	records  int // since the last line, or before it
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
		t.setDamage(number, "a record follows the line that says how many there are")
	}
	t.records++
}

// readLine reads a line, which may say how many records there are.
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
		t.setDamage(line.number, "it says twice how many records there are")
	default:
		t.compare(line.number)
		t.records = 0
	}
	t.isSaid = true
	t.said, _ = strconv.Atoi(string(match[1])) // what is no number fits no count but 0
}

// end compares at the end of the output.
func (t *stanzaTotal) end(number int) error {
	if t == nil || !t.hasText {
		return nil
	}
	if !t.isSaid {
		t.setDamage(number, "the output ends before the line that says how many records it has")
	}
	t.compare(number)
	if t.damage == nil {
		return nil
	}
	return t.damage
}

func (t *stanzaTotal) compare(number int) {
	if t.records != t.said {
		t.setDamage(number, fmt.Sprintf("the output has %d records, but says that it has %d", t.records, t.said))
	}
}

// setDamage notes the first damage.
func (t *stanzaTotal) setDamage(number int, what string) {
	if t.damage == nil {
		t.damage = &DamageError{Line: number, What: what}
	}
}
