package tokenizer

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/javaregex"
)

// An expression is one of the definition, its references resolved, compiled.
type expression struct {
	config *config.Expression
	*pattern
	found []int      // where it occurred last
	exits MatchStats // where it is an exit-on or exit-after
}

// A pattern is shared by all expressions that are the same, and remembers what it made of
// the text at hand: definitions that read one line for several targets repeat themselves.
type pattern struct {
	regexp  *javaregex.Regexp
	indexes []int // positions of the groups in the text
	matched bool
	look    int64 // at which the text was tried, with its length
	length  int
}

// match matches a text, the rest of the segment at hand from some place on. Look is
// another number for each segment.
func (p *pattern) match(text []byte, look int64) (bool, error) {
	if p.look == look && p.length == len(text) {
		return p.matched, nil
	}
	var err error
	p.indexes, p.matched, err = p.regexp.Match(p.indexes, text)
	p.look, p.length = look, len(text)
	if err != nil {
		p.look = 0
	}
	return p.matched, err
}

// occurs reports whether the expression makes a parser leave at a segment: it
// must match all of it or, if it splits, occur in it.
func (e *expression) occurs(segment []byte) (matched bool, err error) {
	if e.config.Split {
		e.found, matched, err = e.regexp.Find(e.found, segment, 0)
	} else {
		e.found, matched, err = e.regexp.Match(e.found, segment)
	}
	return matched, err
}

// A match is one of a target. Its captures are those of the text it took last.
type match struct {
	config   *config.Match
	target   *target
	regex    *expression // nil takes every text
	actions  []*action
	naming   *action // what names an attribute that the match constructs, nil if nothing does
	used     bool    // in the present round of a target with matchAll
	captures captures
	stats    MatchStats
	landmark int // number of the landmark that every text it takes has

	keys       []string // of the facts of the last element that the match finished
	row        *rowMaker
	givesValue bool // what its actions change counts for the origin of a value
}

// try reports whether the match takes a text. Of it, end bytes are consumed:
// up to the end of the last group or, without a group that took part,
// of everything; a split consumes nothing. Captured is where the last of all
// groups ends.
func (m *match) try(text []byte, look int64) (matched bool, end, captured int, err error) {
	m.stats.Tried++
	c := &m.captures
	switch {
	case m.regex == nil:
		c.renew(text)
		c.indexes = append(c.indexes, 0, len(text))
		return true, len(text), len(text), nil
	case m.regex.config.Split:
		c.renew(text)
		c.split = true
		c.indexes, err = m.regex.regexp.Split(c.indexes, text)
		return err == nil, 0, 0, err
	}
	if matched, err = m.regex.match(text, look); err != nil || !matched {
		return false, 0, 0, err
	}
	c.renew(text)
	c.indexes = m.regex.indexes
	groups := c.indexes[2:]
	if len(groups) == 0 {
		return true, len(text), len(text), nil
	}
	for i := 1; i < len(groups); i += 2 {
		captured = max(captured, groups[i])
	}
	end = groups[len(groups)-1]
	if end < 0 {
		end = len(text)
	}
	return true, end, captured, nil
}

// captures are what actions may take values from; nil holds nothing, as in tests.
type captures struct {
	text    []byte
	indexes []int // start and end of each group or piece; negative for a group that took no part
	split   bool  // they are pieces

	// The texts of groups are cut from one copy, as far as groups are all of it.
	copied     string
	start, end int    // of the copy in the text; equal before it is made
	texts      *texts // takes the copy; nil to have room of its own made for it
}

// renew forgets what was captured and keeps the memory.
func (c *captures) renew(text []byte) {
	c.text, c.indexes, c.split = text, c.indexes[:0], false
	c.start, c.end = 0, 0
}

func (c *captures) count() int { return len(c.indexes) / 2 }

// at returns the group or piece of that index.
func (c *captures) at(index int) (text string, set bool, err error) {
	if index < 0 || index >= c.count() {
		kind := "group"
		if c.split {
			kind = "piece"
		}
		return "", false, fmt.Errorf("the entry takes %s %d, but there are only %d, counted from 0", kind, index, c.count())
	}
	start, end := c.indexes[2*index], c.indexes[2*index+1]
	switch {
	case start < 0:
		return "", false, nil
	case start == end:
		return "", true, nil
	case c.start == c.end:
		c.copy(start, end)
	}
	if start < c.start || end > c.end {
		return string(c.text[start:end]), true, nil
	}
	return c.copied[start-c.start : end-c.start], true, nil
}

// copy copies the part of the text in which all groups or pieces are, if most of
// it is theirs, so that many short texts need one allocation and little more
// memory than their own. Otherwise it copies only the one that is wanted.
func (c *captures) copy(start, end int) {
	first, last, together := start, end, 0
	skipped := 2 // group 0 is the whole text
	if c.split {
		skipped = 0
	}
	for i := skipped; i < len(c.indexes); i += 2 {
		if c.indexes[i] < 0 {
			continue
		}
		first, last = min(first, c.indexes[i]), max(last, c.indexes[i+1])
		together += c.indexes[i+1] - c.indexes[i]
	}
	if last-first > 2*together {
		first, last = start, end
	}
	c.copied, c.start, c.end = c.texts.add(c.text[first:last]), first, last
}

// texts copies many texts into common room: one of its own for each would cost as
// much as a match. Who keeps one of them keeps those beside it. The zero value is
// ready to use; nil makes room of its own for each.
type texts struct {
	room strings.Builder
	made int
}

// mostSpare bounds how many things are made together.
const mostSpare = 64

func (t *texts) add(text []byte) string {
	if t == nil {
		return string(text)
	}
	t.made++
	if t.room.Cap()-t.room.Len() < len(text) {
		t.room.Reset() // what it has returned stays
		t.room.Grow(min(t.made, mostSpare) * len(text))
	}
	start := t.room.Len()
	t.room.Write(text)
	return t.room.String()[start:]
}

// all returns everything captured, for events.
func (c *captures) all() []capture {
	list := make([]capture, 0, c.count())
	for i := 0; i+1 < len(c.indexes); i += 2 {
		if start, end := c.indexes[i], c.indexes[i+1]; start >= 0 {
			list = append(list, capture{Text: c.text[start:end], Set: true})
		} else {
			list = append(list, capture{})
		}
	}
	return list
}
