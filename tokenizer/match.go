package tokenizer

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/javaregex"
)

// An expression is a compiled expression of the definition with its references resolved.
type expression struct {
	config *config.Expression
	*pattern
	found []int      // where it occurred last
	exits MatchStats // if it is an exit-on or exit-after
}

// A pattern is shared by all equal expressions and caches its result for the current text, since
// definitions often use one expression in several targets.
type pattern struct {
	regexp  *javaregex.Regexp
	indexes []int // positions of the groups in the text
	matched bool
	look    int64 // number of the look that the result is for, with the length of the text
	length  int
}

// match matches a text, which is a suffix of the current segment. Look is a number that differs for each
// segment.
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

// occurs reports whether the expression ends the parser at a segment: it must match the whole segment or,
// if it splits, occur in it.
func (e *expression) occurs(segment []byte) (matched bool, err error) {
	if e.config.Split {
		e.found, matched, err = e.regexp.Find(e.found, segment, 0)
	} else {
		e.found, matched, err = e.regexp.Match(e.found, segment)
	}
	return matched, err
}

// A match is a match of a target, with the captures of the text it matched last.
type match struct {
	config   *config.Match
	target   *target
	regex    *expression // nil matches every text
	actions  []*action
	naming   *action // names the attribute that the match constructs; may be nil
	used     bool    // in the current round of a target with matchAll
	captures captures
	stats    MatchStats
	landmark int // number of the landmark in every text it matches

	keys       []string // of the facts of the last element that the match finished
	row        *rowMaker
	givesValue bool // its actions determine the origin of the value
}

// try reports whether the match takes a text. It consumes end bytes: up to the end of the last group or,
// if no group took part, the whole match; a split consumes nothing. Captured is the end of the rightmost
// group.
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

// captures are the groups or pieces from which actions take values; nil, as in tests, has none.
type captures struct {
	text    []byte
	indexes []int // start and end of each group or piece; negative for a group that did not take part
	split   bool  // they are pieces

	// The texts of groups are slices of one copy.
	copied     string
	start, end int    // of the copy in the text; equal before it is made
	texts      *texts // holds the copy; nil allocates it separately
}

// renew clears the captures and keeps their memory.
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

// copy copies the part of the text that contains all groups or pieces if they cover most of it, so that
// many short texts share one allocation. Otherwise it copies only the wanted one.
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

// texts copies many texts into shared buffers: an allocation for each would cost as much as a match.
// Keeping one text keeps its whole buffer alive. The zero value is ready to use; nil allocates each text
// separately.
type texts struct {
	room strings.Builder
	made int
}

// mostSpare bounds how many values are allocated together.
const mostSpare = 64

func (t *texts) add(text []byte) string {
	if t == nil {
		return string(text)
	}
	t.made++
	if t.room.Cap()-t.room.Len() < len(text) {
		t.room.Reset() // texts returned earlier stay valid
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
