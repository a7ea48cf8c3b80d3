package tokenizer

import (
	"fmt"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// A target is a target of a parser. Its matches act on an attribute of the environment, or on attributes
// that it constructs.
type target struct {
	config    *config.Target
	matches   []*match
	tests     []*test
	otherwise []*action // the else; at most one, as in PTP

	landmarks   landmarkSet // no match takes a segment without one of these
	passed      int64       // segments without a landmark
	acted       bool        // an action ran through a match
	usedMatches int         // in the current round of matchAll
	referenced  *attribute.Attribute
	constructed constructed
	rows        rowPlan
}

func (t *target) constructs() bool { return !t.config.Ref.Set }

// tryTarget tries the matches of a target on a text and runs the actions of the first that takes it. It
// returns that match or nil, the length consumed and the end of the captures. An error has already ended
// the parser.
func (t *Tokenizer) tryTarget(target *target, text []byte) (m *match, end, captured int, err error) {
	for _, candidate := range target.matches {
		if target.config.MatchAll && candidate.used {
			continue
		}
		if !t.landmarks.has(candidate.landmark) {
			candidate.stats.Tried++
			continue
		}
		matched, end, captured, err := t.try(candidate, text)
		if err != nil {
			err = fmt.Errorf("matching %q: %w", candidate.regex.regexp, err)
			t.fail(candidate.regex.config.Position, err)
			return nil, 0, 0, err
		}
		if !matched {
			if t.options.Trace != nil {
				t.options.Trace(TraceEvent{Kind: "miss", Position: candidate.config.Position, Target: target.config, Match: candidate.config, Text: text,
					tokenizer: t, match: candidate})
			}
			continue
		}
		candidate.stats.Matched++
		if t.options.Trace != nil {
			t.options.Trace(TraceEvent{Kind: "match", Position: candidate.config.Position, Target: target.config, Match: candidate.config, Text: text,
				Captures: candidate.captures.all(), Consumed: end})
		}
		target.use(candidate)
		if err := t.runMatch(target, candidate); err != nil {
			t.fail(candidate.config.Position, err)
			return nil, 0, 0, err
		}
		return candidate, end, captured, nil
	}
	return nil, 0, 0, nil
}

// try tries a match on a text.
func (t *Tokenizer) try(m *match, text []byte) (matched bool, end, captured int, err error) {
	start := t.startTry()
	matched, end, captured, err = m.try(text, t.looks)
	m.stats.Time += tookSince(start)
	return matched, end, captured, err
}

// startTry returns the time if tries are timed. Reading the clock takes as long as a quick try.
func (t *Tokenizer) startTry() (start time.Time) {
	if t.options.Timed {
		start = time.Now()
	}
	return start
}

func tookSince(start time.Time) time.Duration {
	if start.IsZero() {
		return 0
	}
	return time.Since(start)
}

// use marks a match of a target with matchAll as used. It is tried again only after all others have been
// used.
func (t *target) use(m *match) {
	if !t.config.MatchAll {
		return
	}
	m.used = true
	t.usedMatches++
	if t.usedMatches == len(t.matches) {
		t.usedMatches = 0
		for _, each := range t.matches {
			each.used = false
		}
	}
}

// runMatch runs the actions of a match that took a text.
func (t *Tokenizer) runMatch(target *target, m *match) error {
	if len(m.actions) == 0 {
		return nil
	}
	target.acted = true
	if !target.constructs() {
		object, err := t.referenced(target)
		if err != nil {
			return err
		}
		for _, action := range m.actions {
			if err := t.run(action, object, &m.captures); err != nil {
				return err
			}
		}
		if t.origins != nil {
			t.noteMatch(object, m)
		}
		return nil
	}
	if target.rows == rowsByMatch {
		return t.runRow(target, m)
	}
	var forced *attribute.Attribute // takes the rest of the actions
	if t.renames(target, m) {
		forced = target.constructed.create()
	}
	for _, action := range m.actions {
		if action.config.ForceNewObject {
			forced = target.constructed.create()
		}
		object := forced
		if object == nil {
			object = target.constructed.paired(action.executions)
		}
		action.executions++
		if err := t.run(action, object, &m.captures); err != nil {
			return err
		}
		if t.origins != nil {
			t.noteMatch(object, m)
		}
	}
	if target.rows == rowsByCount {
		t.handOutPassed(target, m)
	}
	return nil
}

// renames reports whether a match would change the name of a constructed attribute. Then its values
// belong to a new attribute; attributes of equal names are merged later.
func (t *Tokenizer) renames(target *target, m *match) bool {
	if m.naming == nil {
		return false
	}
	object := target.constructed.existing(m.naming.executions)
	if object == nil {
		return false
	}
	present := object.Field(attribute.FieldName)
	if present == nil {
		return false
	}
	name, err := t.value(m.naming.entries[0], object, &m.captures)
	return err == nil && name != nil && attribute.Text(name) != present
}

// referenced returns the attribute that a target refers to. It is looked up
// when it is first needed: a target that never acts may refer to nothing.
func (t *Tokenizer) referenced(target *target) (*attribute.Attribute, error) {
	if target.referenced != nil {
		return target.referenced, nil
	}
	name := t.resolve(target.config.Position, target.config.Ref.Text)
	target.referenced = t.env.Lookup(name)
	if target.referenced == nil {
		return nil, &Error{Position: target.config.Position, Err: fmt.Errorf("the target refers to attribute %q, which does not exist", name)}
	}
	return target.referenced, nil
}

// constructed are the attributes that a target constructs. The i-th execution of an action works on the
// i-th of the paired attributes, so values may precede or follow their names. An attribute that a match
// constructs with forceNewObject is never paired.
type constructed struct {
	all       []*attribute.Attribute // in order of construction
	pairs     []*attribute.Attribute
	handedOut int                   // delivered pairs, which are in neither list
	spare     []attribute.Attribute // allocated together
}

func (c *constructed) create() *attribute.Attribute {
	if len(c.spare) == 0 {
		c.spare = make([]attribute.Attribute, min(len(c.all)+1, mostSpare))
	}
	object := &c.spare[0]
	c.spare = c.spare[1:]
	c.all = append(c.all, object)
	return object
}

// existing returns the paired attribute with an index, nil if it does not exist yet.
func (c *constructed) existing(index int) *attribute.Attribute {
	if index -= c.handedOut; index < len(c.pairs) {
		return c.pairs[index]
	}
	return nil
}

func (c *constructed) paired(index int) *attribute.Attribute {
	if object := c.existing(index); object != nil {
		return object
	}
	object := c.create()
	c.pairs = append(c.pairs, object)
	return object
}
