// Package tokenizer parses the output of a command as a definition describes it.
//
// A [Tokenizer] runs one parser of a definition: it splits the stream into segments and tries the matches
// of its targets on each. The actions of a match change attributes of an environment. Write takes pieces
// of any size; the result does not depend on how the stream is split. Everything works on bytes.
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

// defaultLongestSegment is the default limit for the length of a segment, in bytes.
const defaultLongestSegment = 64 << 20

// A Factory creates a tokenizer for a type that a definition names instead of describing a parser.
// Closing it ends the stream.
type Factory func(parser *config.Parser, env *attribute.Environment, job string) (io.WriteCloser, error)

// Options change how a tokenizer works; the zero value is ready to use.
type Options struct {
	// LongestSegment bounds the length of a segment in bytes, and so the memory that a stream can take; 0
	// means defaultLongestSegment.
	LongestSegment int
	// Types holds the tokenizers that definitions may name by type.
	Types map[string]Factory
	// Expressions, if set, caches compiled expressions for other tokenizers.
	Expressions *Expressions
	// Timed measures MatchStats.Time, which costs about 0.1 µs per try.
	Timed bool
	// Origins, if set, records the line from which each attribute's value was read: see
	// [attribute.Attribute.Origin]. For a map it is the line of the entry with this key.
	Origins string
	// Rows, if set, receives each element that a target constructs once nothing later in the stream can
	// change it, instead of the environment; docs/write/listings.md lists such targets. The elements of
	// other targets are published at the end of the stream as usual. Elements with equal names are not
	// merged. The id is empty for an element without a name, and the facts are empty if its value is not
	// a map. Rows runs on the goroutine that writes or closes.
	Rows func(id string, facts Facts, origin *attribute.Origin)
	// Trace, if set, receives every event, on the goroutine that writes.
	Trace func(TraceEvent)
}

// A Tokenizer is one run of a parser over one stream. It is not safe for
// concurrent use, and neither is the environment that it works on.
type Tokenizer struct {
	parser  *config.Parser
	env     *attribute.Environment
	job     string
	options Options

	custom    io.WriteCloser // reads the whole stream if the parser names a type
	source    segmenter
	targets   []*target // in the order in which they are tried
	exitOn    *expression
	exitAfter *expression
	saved     savedSegments
	skimmer   *skimmer    // nil if every segment must be examined
	landmarks landmarkSet // those that the current segment may contain
	passed    int64       // segments that the skimmer skipped
	planned   bool        // skimmer has been decided

	patterns map[patternKey]*pattern
	looks    int64 // segments that targets were tried on

	stats   Stats
	held    int64                      // bytes of large values
	matches []*match                   // of all targets, in the order of the definition
	current []byte                     // the current segment, for messages
	number  int64                      // of that segment
	origins *origins                   // nil if origins are not recorded
	consult func(*attribute.Attribute) // called for attributes that references read; may be nil
	left    bool                       // the rest of the stream is ignored
	closed  bool
	err     error

	leadingParts map[*match][]*javaregex.Regexp // for traces
}

// Write takes the next bytes of the stream. It examines the segments that they complete and keeps the
// rest. Write fails only after Close. Close reports errors of the parser: after an error, exit-on or
// exit-after, Write accepts and discards the rest of the stream, so that the writing command never
// blocks.
func (t *Tokenizer) Write(p []byte) (int, error) {
	if t.closed {
		return 0, errors.New("write to a closed tokenizer")
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

// Close ends the stream: it examines the last segments, runs the tests and adds constructed attributes to
// the environment. It returns the [*Error] that ended the parser, if any.
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

// Run reads a stream to its end and closes the tokenizer. The error is that of Close or of reading. After
// a reading error, it still processes what was read.
func (t *Tokenizer) Run(stream io.Reader) error {
	_, err := io.CopyBuffer(writerOnly{t}, readerOnly{stream}, make([]byte, pieceLength))
	if err != nil {
		err = fmt.Errorf("reading the stream of %s: %w", t.parser.Element, err)
	}
	return errors.Join(t.Close(), err)
}

// pieceLength is the number of bytes read at once.
const pieceLength = 64 << 10

// writerOnly and readerOnly hide the methods by which io.Copy would choose the
// length of the pieces itself.
type (
	writerOnly struct{ io.Writer }
	readerOnly struct{ io.Reader }
)

// Totals returns the counters of the stream so far: [Stats] without Matches and Exits.
func (t *Tokenizer) Totals() Stats { return t.stats }

// Stats returns the counters so far. It names the engine of each expression and builds engines that were
// not needed yet; Totals is faster.
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

// Stats are the counters of a tokenizer.
type Stats struct {
	Bytes     int64        // of the stream
	Segments  int64        // examined
	Matched   int64        // segments matched by a target
	Unmatched int64        // segments tried on all targets without a match
	Blank     int64        // 1 if one of these is the empty segment after the last delimiter
	Matches   []MatchStats // in definition order
	Exits     []MatchStats // of exit-on and exit-after, in this order, if present
}

// MatchStats counts the tries and successes of a match, or of an exit-on or exit-after expression.
type MatchStats struct {
	Match      *config.Match      // nil for an exit-on or exit-after
	Expression *config.Expression // nil for a match without one
	Engine     string             // that runs the expression, as javaregex names it; may be empty
	Tried      int64
	Matched    int64
	Time       time.Duration // spent in tries, if [Options.Timed]
}

// examine processes one segment. It returns how many bytes were consumed, and whether they include all
// captures.
func (t *Tokenizer) examine(segment []byte) (consumed int, settled bool) {
	t.current = segment
	if segment == nil {
		t.current = []byte{} // empty, not absent
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

// savedSegments are the last segments of the stream, oldest first.
type savedSegments struct {
	segments [][]byte
	numbers  []int64 // of the segments, counted from 1 in the stream
	length   int     // of all together, in bytes
}

// keep stores a copy of a segment. It replaces the oldest if the list is full. Empty segments do not
// count.
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
