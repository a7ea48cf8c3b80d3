package tokenizer

import (
	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// An Event is something that a tokenizer tells to [Options.Trace]: one of the
// types below whose name ends in Event. Byte slices in it are valid only until
// Trace returns.
type Event interface{ event() }

// A SegmentEvent tells that a segment is looked at. In a parser with all="true"
// it is only kept; the targets see the last ones when the stream has ended.
type SegmentEvent struct {
	Number int64 // from 1
	Text   []byte
}

// A MissEvent tells that a match was tried on a segment and did not take it.
type MissEvent struct {
	Target *config.Target
	Match  *config.Match
	Text   []byte
	// Near is set where the expression matches a part of the text, from Start to
	// End, and would have taken it if it had to match only there.
	Near       bool
	Start, End int
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
	Value     attribute.Value
}

// A TestEvent tells the outcome of a test, and what a comparison compared.
type TestEvent struct {
	Test     *config.Test
	Operands []attribute.Value // two for a comparison, none for AND, OR and NOT
	Outcome  bool
}

// A MergeEvent tells that two constructed attributes of one name became one.
type MergeEvent struct {
	Target *config.Target
	Name   string
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
func (MergeEvent) event()     {}
func (ExitEvent) event()      {}
func (WarningEvent) event()   {}
