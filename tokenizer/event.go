package tokenizer

import (
	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// A TraceEvent is something that a tokenizer tells to [Options.Trace]: one of the
// types below whose name ends in Event. Byte slices in it are valid only until
// Trace returns.
type TraceEvent interface{ event() }

// A SegmentEvent tells that a segment is looked at. A parser with all="true"
// only saves it; the targets see the last ones when the stream has ended, each
// after a further event.
type SegmentEvent struct {
	Number int64 // from 1
	Text   []byte
	Saved  bool // it was saved, and is looked at now that the stream has ended
}

// A MissEvent tells that a match was tried on a segment and did not take it.
type MissEvent struct {
	Target *config.Target
	Match  *config.Match
	Text   []byte

	tokenizer *Tokenizer
	match     *match
}

// A Nearness tells how near a match was that did not take a text.
type Nearness struct {
	// Near is set where the expression matches a part of the text, from Start to
	// End, and would have taken it if it had to match only there.
	Near       bool
	Start, End int
	// Leading is, where Near is not set, the longest beginning of the expression
	// that matches at the begin of the text, up to LeadingEnd; what follows it in
	// the expression does not fit there. It is empty if there is none.
	Leading    string
	LeadingEnd int
}

// A MatchEvent tells that a match took a text.
type MatchEvent struct {
	Target   *config.Target
	Match    *config.Match
	Text     []byte
	Captures []Capture // group 0 and the groups, or the pieces of a split
	Consumed int       // bytes that further targets do not see
}

// A Capture is a part of a text that a group matched, or a piece of a split.
type Capture struct {
	Text []byte
	Set  bool // false for a group that took no part
}

// An UnmatchedEvent tells that no target took a segment.
type UnmatchedEvent struct {
	Number int64
	Text   []byte
}

// An ActionEvent tells what an action has made of a field.
type ActionEvent struct {
	Action    *config.Action
	Attribute *attribute.Attribute // as it is now; the tokenizer goes on changing it
	Field     attribute.Field
	Value     attribute.Value // of the field, after the action
	Stored    []Stored        // what add and put have put into it
}

// Stored is an element that an action added to a list or put into a map.
type Stored struct {
	Key  string // of a map
	Text string
	Set  bool // false for a key that stands for nothing
}

// A TestEvent tells the outcome of a test, and what a comparison compared. The
// events of nested tests, and of the actions of these, come before it.
type TestEvent struct {
	Test      *config.Test
	Attribute *attribute.Attribute // that is tested
	Operands  []attribute.Value    // two for a comparison, none for AND, OR and NOT
	Outcome   bool
	Depth     int // how many tests it is nested in
}

// An ElseEvent tells that the actions of a target's else are about to run.
type ElseEvent struct {
	Target *config.Target
	Acted  bool // a match had acted, but no test was true; otherwise no match had
}

// A MergeEvent tells that two constructed attributes of one name became one.
type MergeEvent struct {
	Target *config.Target
	Name   string
}

// A DiscoverEvent tells that a constructed attribute is now known by its name.
type DiscoverEvent struct {
	Target    *config.Target
	Attribute *attribute.Attribute
}

// A DropEvent tells that a constructed attribute is lost because nothing has
// given it a name.
type DropEvent struct {
	Target    *config.Target
	Attribute *attribute.Attribute
}

// A MoveEvent tells that a match with moveToTop has made its target the first
// that is tried.
type MoveEvent struct {
	Target *config.Target
	Match  *config.Match
}

// An EndEvent tells that the stream has ended, or was left: the events after it
// are of saved segments, and of what follows the last segment.
type EndEvent struct{}

// An ErrorEvent tells that the parser ends with an error; nothing follows it.
type ErrorEvent struct {
	Err *Error
}

// An ExitEvent tells that exit-on or exit-after ended the reading.
type ExitEvent struct {
	Expression *config.Expression
}

// A WarningEvent tells of something that is probably wrong and does not stop
// the parser, such as a reference that could not be resolved.
type WarningEvent struct {
	config.Position
	Err error
}

func (SegmentEvent) event()   {}
func (MissEvent) event()      {}
func (MatchEvent) event()     {}
func (UnmatchedEvent) event() {}
func (ActionEvent) event()    {}
func (TestEvent) event()      {}
func (ElseEvent) event()      {}
func (MergeEvent) event()     {}
func (DiscoverEvent) event()  {}
func (DropEvent) event()      {}
func (MoveEvent) event()      {}
func (EndEvent) event()       {}
func (ErrorEvent) event()     {}
func (ExitEvent) event()      {}
func (WarningEvent) event()   {}
