// Package tokenizer parses the output of a command as a definition describes it.
//
// A [Tokenizer] runs one parser of a definition: it cuts the stream into segments, tries the
// matches of its targets on each, and lets the actions of a match change attributes of an
// environment. Write takes pieces of any size; the result does not depend on how the stream was
// cut. Everything works on bytes.
package tokenizer

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/javaregex"
)

// defaultLongestSegment is the length in bytes that a segment may have unless
// [Options] say otherwise.
const defaultLongestSegment = 64 << 20

// A Factory makes a tokenizer of a type that a definition names instead of
// describing one. Closing what it returns ends the stream.
type Factory func(parser *config.Parser, env *attribute.Environment, job string) (io.WriteCloser, error)

// Options change how a tokenizer works; the zero value is ready to use.
type Options struct {
	// LongestSegment bounds the length of a segment in bytes, and so the
	// memory that a stream can take; 0 stands for defaultLongestSegment.
	LongestSegment int
	// Types holds the tokenizers that definitions may name by type.
	Types map[string]Factory
	// Expressions, if set, keeps compiled expressions for further tokenizers.
	Expressions *Expressions
	// Timed has MatchStats.Time measured, which takes about a tenth of a
	// microsecond for each try.
	Timed bool
	// Origins, if set, has attributes remember which line their values were read
	// from: see [attribute.Attribute.Origin]. Of a map it is the line of the entry with
	// this key.
	Origins string
	// Rows, if set, is handed what a target constructs, each element as soon as nothing
	// that follows in the stream can change it, and the environment does not learn
	// of it: see docs/write/listings.md for which targets do so. What others construct is
	// discovered at the end of the stream as ever. Two elements of one name are
	// not merged. The id is empty where an element got no name, and there are no facts
	// where its value is no map. It runs on the goroutine that writes or closes.
	Rows func(id string, facts Facts, origin *attribute.Origin)
	// Trace, if set, gets everything that happens, on the goroutine that writes.
	Trace func(TraceEvent)
}

// A Tokenizer is one run of a parser over one stream. It is not safe for
// concurrent use, and neither is the environment that it works on.
type Tokenizer struct {
	parser  *config.Parser
	env     *attribute.Environment
	job     string
	options Options

	custom    io.WriteCloser // takes the whole stream where the parser names a type
	source    segmenter
	targets   []*target // in the order in which they are tried
	exitOn    *expression
	exitAfter *expression
	saved     savedSegments
	skimmer   *skimmer    // nil where every segment must be looked at
	landmarks landmarkSet // that the segment at hand has, or may have
	passed    int64       // segments that the skimmer passed over
	planned   bool        // whether there is a skimmer is decided

	patterns map[patternKey]*pattern
	looks    int64 // segments that targets were tried on

	stats   Stats
	held    int64                      // bytes of large values
	matches []*match                   // of all targets, in the order of the definition
	current []byte                     // the segment that is being looked at, for messages
	number  int64                      // of that segment
	origins *origins                   // nil where nobody wants them
	consult func(*attribute.Attribute) // gets the attributes that references read; may be nil
	left    bool                       // nothing more is looked at
	closed  bool
	err     error

	leadingParts map[*match][]*javaregex.Regexp // for traces
}

// Write takes the next bytes of the stream. It looks at the segments that they
// complete and keeps the rest. An error of the parser does not show here but in
// Close: the rest of the stream is accepted and discarded, so that the
// command that writes it never blocks, as it is after exit-on and exit-after.
// Write fails only after Close.
func (t *Tokenizer) Write(p []byte) (int, error) {
	if t.closed {
		return 0, errors.New("writing to a tokenizer that is closed")
	}
	t.stats.Bytes += int64(len(p))
	if t.left {
		return len(p), nil
	}
	if t.custom != nil {
		if _, err := t.custom.Write(p); err != nil {
			t.fail(t.parser.Position, err)
		}
		return len(p), nil
	}
	t.source.write(p)
	return len(p), nil
}

// Close ends the stream: it looks at the last segments, runs the tests and
// makes constructed attributes known to the environment. It returns the error
// that ended the parser, an [*Error], if there was one.
func (t *Tokenizer) Close() error {
	if t.closed {
		return t.err
	}
	t.closed = true
	if t.custom != nil {
		if err := t.custom.Close(); err != nil {
			t.fail(t.parser.Position, err)
		}
		return t.err
	}
	if !t.left {
		t.source.close()
	}
	if t.err == nil {
		t.trace(TraceEvent{Kind: "end"})
	}
	t.lookAtSaved()
	t.current = nil
	if t.err == nil {
		t.postProcess()
	}
	return t.err
}

// Run reads a stream to its end and closes the tokenizer. The error is that of
// Close or of reading; what was read before a reading error is post-processed.
func (t *Tokenizer) Run(stream io.Reader) error {
	_, err := io.CopyBuffer(writerOnly{t}, readerOnly{stream}, make([]byte, pieceLength))
	if err != nil {
		err = fmt.Errorf("reading the stream of %s: %w", t.parser.Element, err)
	}
	return errors.Join(t.Close(), err)
}

// pieceLength is how much of a stream is read at once, in bytes.
const pieceLength = 64 << 10

// writerOnly and readerOnly hide the methods by which io.Copy would choose the
// length of the pieces itself.
type (
	writerOnly struct{ io.Writer }
	readerOnly struct{ io.Reader }
)

// Totals returns what the tokenizer has counted so far of the stream as a whole:
// [Stats] without Matches and Exits.
func (t *Tokenizer) Totals() Stats { return t.stats }

// Stats returns what the tokenizer has counted so far. It names the engine of
// each expression, for which those are made that no text has needed yet; Totals takes no time.
func (t *Tokenizer) Stats() Stats {
	stats := t.stats
	stats.Matches = make([]MatchStats, len(t.matches))
	for i, m := range t.matches {
		stats.Matches[i] = m.stats
		stats.Matches[i].Tried += t.passed + m.target.passed
		if m.regex != nil {
			stats.Matches[i].Engine, _ = m.regex.regexp.Engine()
		}
	}
	for _, exit := range []*expression{t.exitOn, t.exitAfter} {
		if exit != nil {
			counted := exit.exits
			counted.Tried += t.passed
			counted.Engine, _ = exit.regexp.Engine()
			stats.Exits = append(stats.Exits, counted)
		}
	}
	return stats
}

// Stats counts what a tokenizer saw.
type Stats struct {
	Bytes     int64        // of the stream
	Segments  int64        // that were looked at
	Matched   int64        // segments that a target took
	Unmatched int64        // segments that were tried on all targets, and none took
	Blank     int64        // of these, the empty one after the last delimiter
	Matches   []MatchStats // in the order of the definition
	Exits     []MatchStats // of exit-on and exit-after, in this order, where the parser has them
}

// MatchStats counts how often a match was tried and how often it took a segment, or
// the same of the expression of an exit-on or exit-after.
type MatchStats struct {
	Match      *config.Match      // nil for an exit-on or exit-after
	Expression *config.Expression // nil for a match without one
	Engine     string             // that runs the expression, as javaregex names it; may be empty
	Tried      int64
	Matched    int64
	Time       time.Duration // that the tries took, if [Options] say Timed
}

// examine looks at one segment of the stream. It returns how many bytes of it were
// consumed, and whether everything that was captured is among them.
func (t *Tokenizer) examine(segment []byte) (consumed int, settled bool) {
	t.current = segment
	if segment == nil {
		t.current = []byte{} // an empty segment is one, too
	}
	t.stats.Segments++
	if t.options.Trace != nil {
		t.options.Trace(TraceEvent{Kind: "segment", Number: t.stats.Segments, Text: segment})
	}
	if t.exits(t.exitOn, segment) {
		return 0, false
	}
	if t.err != nil {
		return 0, false
	}
	if t.parser.All {
		t.saved.keep(t.stats.Segments, segment, t.parser.Save)
		if t.saved.length > t.longestSegment() {
			t.failTooLong("the segments to be saved are together")
		}
	} else {
		consumed, settled = t.match(t.stats.Segments, segment)
	}
	if t.err == nil {
		t.exits(t.exitAfter, segment)
	}
	return consumed, settled
}

// exits leaves the stream if an exit-on or exit-after expression matches.
func (t *Tokenizer) exits(exit *expression, segment []byte) bool {
	if exit == nil {
		return false
	}
	exit.exits.Tried++
	start := t.startTry()
	matched, err := exit.occurs(segment)
	exit.exits.Time += tookSince(start)
	if err != nil {
		t.fail(exit.config.Position, err)
		return false
	}
	if !matched {
		return false
	}
	exit.exits.Matched++
	t.left = true
	t.trace(TraceEvent{Kind: "exit", Position: exit.config.Position, Expression: exit.config})
	return true
}

// match tries the targets on a segment, all of them or up to the first that takes it.
func (t *Tokenizer) match(number int64, segment []byte) (consumed int, settled bool) {
	t.looks++
	t.number = number
	settled = true
	taken := false
	promote := -1
	var promoting *match
	for i, target := range t.targets {
		if t.landmarks&target.landmarks == 0 && len(target.matches) > 0 {
			target.passed++
			continue
		}
		m, end, captured, err := t.tryTarget(target, segment[consumed:])
		if err != nil {
			return consumed, false
		}
		if m == nil {
			continue
		}
		taken = true
		settled = settled && captured <= end
		consumed += end
		if !t.parser.ApplyToAll {
			if m.config.MoveToTop {
				promote, promoting = i, m
			}
			break
		}
	}
	if promote > 0 {
		top := t.targets[promote]
		copy(t.targets[1:promote+1], t.targets[:promote])
		t.targets[0] = top
		t.trace(TraceEvent{Kind: "move", Position: promoting.config.Position, Target: top.config, Match: promoting.config})
	}
	if taken {
		t.stats.Matched++
	} else {
		t.stats.Unmatched++
		if t.closed && len(segment) == 0 {
			t.stats.Blank++
		}
		if t.options.Trace != nil {
			t.options.Trace(TraceEvent{Kind: "unmatched", Number: number, Text: segment})
		}
	}
	return consumed, settled
}

// lookAtSaved tries the targets on the segments that an all="true" parser kept.
func (t *Tokenizer) lookAtSaved() {
	for i, segment := range t.saved.segments {
		if t.err != nil {
			return
		}
		t.current = segment
		t.trace(TraceEvent{Kind: "segment", Number: t.saved.numbers[i], Text: segment, Saved: true})
		t.match(t.saved.numbers[i], segment)
	}
	t.saved.segments = nil
}

// savedSegments are the last ones of the stream, oldest first.
type savedSegments struct {
	segments [][]byte
	numbers  []int64 // of the segments, counted from 1 in the stream
	length   int     // of all together, in bytes
}

// keep stores a copy of a segment, in place of the oldest where there are as
// many as wanted. Empty segments do not count.
func (s *savedSegments) keep(number int64, segment []byte, wanted int) {
	if len(segment) == 0 || wanted <= 0 {
		return
	}
	var reused []byte
	if len(s.segments) == wanted {
		reused = s.segments[0][:0]
		s.length -= len(s.segments[0])
		copy(s.segments, s.segments[1:])
		s.segments = s.segments[:wanted-1]
		s.numbers = append(s.numbers[:0], s.numbers[1:]...)
	}
	if cap(reused) > largestKeptBuffer {
		reused = nil
	}
	s.segments = append(s.segments, append(reused, segment...))
	s.numbers = append(s.numbers, number)
	s.length += len(segment)
}
