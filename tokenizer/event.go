package tokenizer

import (
	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// A TraceEvent is something that happens in a tokenizer, reported to [Options.Trace].
// Byte slices in it are valid only until Trace returns. The kinds, with the fields
// that they set beside Position:
//
//	segment    Number, Text, Saved: it looks at a segment. A parser with all="true" only
//	           saves it; the targets see the last ones when the stream has ended, each
//	           after a further event with Saved set
//	miss       Target, Match, Text: a match was tried on a segment and did not take it; see Explain
//	match      Target, Match, Text, Captures, Consumed: a match took a text
//	unmatched  Number, Text: no target took a segment
//	action     Action, Attribute, Field, Value, Stored: an action changed a field
//	test       Test, Attribute, Operands, Outcome, Depth: the outcome of a test. The events
//	           of nested tests, and of their actions, come before it
//	else       Target, Acted: the actions of a target's else are about to run
//	merge      Target, Name: two constructed attributes of one name became one
//	discover   Target, Attribute: a constructed attribute is now known by its name
//	drop       Target, Attribute: a constructed attribute is lost because nothing named it
//	move       Target, Match: a match with moveToTop made its target the first that is tried
//	exit       Expression: exit-on or exit-after ended the reading
//	end        the stream has ended, or was left: the events after it are of saved
//	           segments, and of what follows the last segment
//	warning    Warning: something that is probably wrong and does not stop the parser,
//	           such as a reference that could not be resolved
//	error      Err: the parser ends with an error; nothing follows it
type TraceEvent struct {
	Kind     string
	Position config.Position // of the element of the definition, or zero

	Number     int64 // from 1
	Text       []byte
	Saved      bool
	Target     *config.Target
	Match      *config.Match
	Captures   []capture // group 0 and the groups, or the pieces of a split
	Consumed   int       // bytes that later targets do not see
	Action     *config.Action
	Attribute  *attribute.Attribute // live: the tokenizer continues to change it
	Field      attribute.Field
	Value      attribute.Value // of the field, after the action
	Stored     []Stored        // elements that add or put stored
	Test       *config.Test
	Operands   []attribute.Value // two for a comparison, none for AND, OR and NOT
	Outcome    bool
	Depth      int  // how many tests it is nested in
	Acted      bool // a match had acted, but no test was true; otherwise no match had
	Name       string
	Expression *config.Expression
	Warning    error
	Err        *Error

	tokenizer *Tokenizer
	match     *match
}

// A nearness says how much of a text a failed match matches.
type nearness struct {
	// Near is true if the expression matches a part of the text, from Start to End, but not all of it.
	Near       bool
	Start, End int
	// Leading is set if Near is false: the longest prefix of the expression that matches at the beginning
	// of the text, up to LeadingEnd. It may be empty.
	Leading    string
	LeadingEnd int
}

// A capture is a part of a text that a group matched, or a piece of a split.
type capture struct {
	Text []byte
	Set  bool // false for a group that did not take part
}

// Stored is an element that an action added to a list or put into a map.
type Stored struct {
	Key  string // of a map
	Text string
	Set  bool // false for a key without a value
}

// trace reports an event if tracing is on.
func (t *Tokenizer) trace(event TraceEvent) {
	if t.options.Trace != nil {
		t.options.Trace(event)
	}
}
