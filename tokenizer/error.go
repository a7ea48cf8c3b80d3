package tokenizer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
)

// longestQuoted bounds how much of a segment an error message shows, and
// longestReason what it says otherwise, in bytes.
const (
	longestQuoted = 160
	longestReason = 1000
)

// An Error says why a parser ended: where in the definition, at which segment.
type Error struct {
	config.Position        // of the element that failed or, if Thrown, of the throw
	Segment         string // the segment, quoted and bounded; empty after the stream's end
	Thrown          bool   // the definition's author means the command to fail
	Message         string // of the throw, resolved; empty otherwise
	Err             error  // the cause, nil if Thrown
}

func (e *Error) Error() string {
	if e.Segment == "" {
		return fmt.Sprintf("%s: %s", e.Position, e.Reason())
	}
	return fmt.Sprintf("%s: %s (in %s)", e.Position, e.Reason(), e.Segment)
}

// Reason returns what went wrong, without the place and the segment. It is
// bounded, since values that come from the stream may be part of it.
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

// quoteSegment makes a segment fit for a message; nil gives an empty text.
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

// failTooLong ends the parser where it would have to hold more of the stream
// than it may, and says what usually helps.
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
