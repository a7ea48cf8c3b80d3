package tokenizer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
)

// longestQuoted bounds the part of a segment that an error message shows, longestReason the rest of the
// message, both in bytes.
const (
	longestQuoted = 160
	longestReason = 1000
)

// An Error says why a parser ended, at which position of the definition, and at which segment.
type Error struct {
	config.Position        // of the element that failed or, if Thrown, of the throw
	Segment         string // the segment, quoted and bounded; empty after the stream's end
	Thrown          bool   // by a throw of the definition
	Message         string // of the throw, resolved; empty otherwise
	Err             error  // the cause, nil if Thrown
}

func (e *Error) Error() string {
	if e.Segment == "" {
		return fmt.Sprintf("%s: %s", e.Position, e.Reason())
	}
	return fmt.Sprintf("%s: %s (in %s)", e.Position, e.Reason(), e.Segment)
}

// Reason returns the reason without the position and the segment. Its length is bounded, since it may
// contain values from the stream.
func (e *Error) Reason() string {
	reason := e.Message
	switch {
	case !e.Thrown:
		reason = e.Err.Error()
	case reason == "":
		reason = "the definition's parser reports a failure"
	}
	if len(reason) > longestReason {
		return strings.ToValidUTF8(reason[:longestReason], "") + "…"
	}
	return reason
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// quoteSegment quotes a segment for a message; nil gives an empty text.
func quoteSegment(segment []byte) string {
	if segment == nil {
		return ""
	}
	if len(segment) <= longestQuoted {
		return strconv.Quote(string(segment))
	}
	return fmt.Sprintf("%q… of %d bytes", segment[:longestQuoted], len(segment))
}

// fail ends the parser with an error at an element of the definition.
func (t *Tokenizer) fail(at config.Position, err error) {
	t.left = true
	var already *Error
	if !errors.As(err, &already) {
		already = &Error{Position: at, Err: err}
	}
	if already.Segment == "" {
		already.Segment = quoteSegment(t.current)
	}
	t.err = already
	t.trace(TraceEvent{Kind: "error", Position: already.Position, Err: already})
}

// failTooLong ends the parser when it would exceed the limit of memory for the stream, with a hint for
// the author.
func (t *Tokenizer) failTooLong(what string) {
	t.current = nil
	advice := "does the parser's delimiter occur in it?"
	switch {
	case t.parser.MaxMatchLength > 0:
		advice = "a smaller maxMatchLen takes less."
	case t.parser.All:
		advice = "does the parser's delimiter occur in it, and is save as small as can be?"
	}
	t.fail(t.parser.Position, fmt.Errorf("%s longer than the limit of %d bytes: %s Programs can raise the limit (LongestSegment of tokenizer.Options)",
		what, t.longestSegment(), advice))
}
