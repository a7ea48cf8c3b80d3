package tokenizer

import (
	"fmt"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/javaregex"
)

// An expression is one of the definition, its references resolved, compiled.
type expression struct {
	config  *config.Expression
	regexp  *javaregex.Regexp
	indexes []int     // positions of the groups in the text that matched last
	exits   ExitStats // where it is an exit-on or exit-after
}

// occurs reports whether the expression makes a parser leave at a segment: it
// must match all of it or, if it splits, occur in it.
func (e *expression) occurs(segment []byte) (bool, error) {
	var matched bool
	var err error
	if e.config.Split {
		e.indexes, matched, err = e.regexp.Find(e.indexes, segment, 0)
	} else {
		e.indexes, matched, err = e.regexp.Match(e.indexes, segment)
	}
	return matched, err
}

// A match is one of a target. Its captures are those of the text it took last.
type match struct {
	config   *config.Match
	regex    *expression // nil takes every text
	actions  []*action
	naming   *action // what names an attribute that the match constructs, nil if nothing does
	used     bool    // in the present round of a target with matchAll
	captures captures
	stats    MatchStats
}

// try reports whether the match takes a text. Of it, end bytes are consumed:
// up to the end of the last group or, where there is none or it took no part,
// of everything; a split consumes nothing. Captured is where the last of all
// groups ends.
func (m *match) try(text []byte) (matched bool, end, captured int, err error) {
	m.stats.Tried++
	m.captures = captures{text: text}
	switch {
	case m.regex == nil:
		m.captures.indexes = append(m.captures.indexes, 0, len(text))
		return true, len(text), len(text), nil
	case m.regex.config.Split:
		m.captures.split = true
		m.captures.pieces, err = m.regex.regexp.Split(text)
		return err == nil, 0, 0, err
	}
	m.regex.indexes, matched, err = m.regex.regexp.Match(m.regex.indexes, text)
	if err != nil || !matched {
		return false, 0, 0, err
	}
	m.captures.indexes = m.regex.indexes
	groups := m.regex.indexes[2:]
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

// captures are what actions may take values from; the zero value holds nothing,
// as in tests.
type captures struct {
	text    []byte
	indexes []int // start and end of each group; negative for one that took no part
	split   bool
	pieces  [][]byte
}

func (c captures) present() bool { return c.split || c.indexes != nil }

func (c captures) count() int {
	if c.split {
		return len(c.pieces)
	}
	return len(c.indexes) / 2
}

// at returns the group or piece of that index.
func (c captures) at(index int) (text string, set bool, err error) {
	if index < 0 || index >= c.count() {
		kind := "group"
		if c.split {
			kind = "piece"
		}
		return "", false, fmt.Errorf("the entry takes %s %d, but there are only %d, counted from 0", kind, index, c.count())
	}
	if c.split {
		return string(c.pieces[index]), true, nil
	}
	start, end := c.indexes[2*index], c.indexes[2*index+1]
	if start < 0 {
		return "", false, nil
	}
	return string(c.text[start:end]), true, nil
}

// all returns everything captured, for events.
func (c captures) all() []Capture {
	list := make([]Capture, 0, c.count())
	for _, piece := range c.pieces {
		list = append(list, Capture{Text: piece, Set: true})
	}
	for i := 0; i+1 < len(c.indexes); i += 2 {
		if start, end := c.indexes[i], c.indexes[i+1]; start >= 0 {
			list = append(list, Capture{Text: c.text[start:end], Set: true})
		} else {
			list = append(list, Capture{})
		}
	}
	return list
}
