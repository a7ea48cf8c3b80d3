package tokenizer

import (
	"bytes"
	"cmp"
	"unicode/utf8"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// longestOrigin bounds the text of an origin, in bytes.
const longestOrigin = 512

// origins records where values come from. If a match sets a value, its line is the origin. If a test
// does, the value takes the origin of the attributes that the action read, or else of those that the test
// read.
type origins struct {
	stream    string
	linewise  bool // segments are lines
	look      int64
	last      *attribute.Origin // for that look
	spare     []attribute.Origin
	texts     texts
	consulted *attribute.Origin // of the first attribute that was read since this was nil
}

func newOrigins(parser *config.Parser) *origins {
	kept := &origins{stream: "output"}
	switch parser.Element {
	case "stdout-parser":
		kept.stream = "stdout"
	case "stderr-parser":
		kept.stream = "stderr"
	}
	delimiter := delimiterOf(parser.Delimiter)
	kept.linewise = parser.MaxMatchLength == 0 && (delimiter == "\n" || delimiter == "\r")
	return kept
}

// noteMatch makes the current segment the origin of an attribute that a match changed.
func (t *Tokenizer) noteMatch(object *attribute.Attribute, m *match) {
	if m.givesValue || object.Origin == nil {
		object.Origin = t.originHere(&m.captures)
	}
}

// originHere returns the origin of captures from the current segment.
func (t *Tokenizer) originHere(c *captures) *attribute.Origin {
	kept := t.origins
	if kept.linewise && kept.look == t.looks {
		return kept.last
	}
	line, text := int(t.number), t.current
	if !kept.linewise {
		line, text = kept.lineWithin(t.current, len(t.current)-len(c.text)+c.firstGroup(), t.number)
	}
	kept.look, kept.last = t.looks, kept.add(line, text)
	return kept.last
}

// lineWithin returns the line of a segment that contains an offset. Its number is known only in the first
// segment, or if the parser reads no overlapping windows.
func (o *origins) lineWithin(segment []byte, at int, number int64) (line int, text []byte) {
	begin := bytes.LastIndexByte(segment[:at], '\n') + 1
	if number == 1 {
		line = 1 + bytes.Count(segment[:begin], []byte{'\n'})
	}
	text, _, _ = bytes.Cut(segment[begin:], []byte{'\n'})
	return line, text
}

// firstGroup returns the start of the first group that took part in the match.
func (c *captures) firstGroup() int {
	for i := 2; i < len(c.indexes) && !c.split; i += 2 {
		if c.indexes[i] >= 0 {
			return c.indexes[i]
		}
	}
	return 0
}

func (o *origins) add(line int, text []byte) *attribute.Origin {
	text = bytes.TrimRight(text, "\r\n")
	if len(text) > longestOrigin {
		end := longestOrigin
		for end > longestOrigin-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	copied := o.texts.add(text)
	if len(o.spare) == 0 {
		o.spare = make([]attribute.Origin, min(o.texts.made, mostSpare))
	}
	added := &o.spare[0]
	o.spare = o.spare[1:]
	added.Stream, added.Line, added.Text = o.stream, line, copied
	return added
}

// consult records that an attribute was read.
func (o *origins) consult(read *attribute.Attribute) {
	if o != nil && o.consulted == nil {
		o.consulted = read.Origin
	}
}

// beginTest resets the record of attributes read.
func (o *origins) beginTest() {
	if o != nil {
		o.consulted = nil
	}
}

// beginAction returns the origin of what the test read before its action runs.
func (o *origins) beginAction() (looked *attribute.Origin) {
	if o == nil {
		return nil
	}
	looked, o.consulted = o.consulted, nil
	return looked
}

// endAction gives an attribute changed by a test's action the origin of what the action read, or else of
// what the test read.
func (o *origins) endAction(looked *attribute.Origin, a *action, object *attribute.Attribute) {
	if o == nil {
		return
	}
	origin := cmp.Or(o.consulted, looked)
	if origin != nil && a.field == attribute.FieldValue {
		object.Origin = origin
	}
	o.consulted = looked
}

// mergeOrigins copies the origin of a merged attribute if it supplies the value, or the entry that
// counts.
func (t *Tokenizer) mergeOrigins(first, later *attribute.Attribute, overwrite bool) {
	if t.origins == nil || later.Origin == nil || !t.hasValue(later) {
		return
	}
	if overwrite || !t.hasValue(first) {
		first.Origin = later.Origin
	}
}

// hasValue reports whether an attribute has the value or entry whose origin is recorded.
func (t *Tokenizer) hasValue(a *attribute.Attribute) bool {
	entries, isMap := a.Value().(map[string]string)
	if !isMap {
		return a.Value() != nil
	}
	_, has := entries[t.options.Origins]
	return has
}

// givesValue reports whether actions set the value of an attribute; for a map, the entry with the key.
func givesValue(actions []*action, key string) bool {
	for _, action := range actions {
		if action.field != attribute.FieldValue || action.fieldErr != nil {
			continue
		}
		if action.config.Kind != config.Put {
			return true
		}
		for _, entry := range action.entries {
			if entry.key.kind != literalOperand || entry.key.text == key {
				return true
			}
		}
	}
	return false
}
