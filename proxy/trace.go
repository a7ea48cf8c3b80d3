package proxy

import (
	"errors"
	"io"
	"strings"
	"sync"
)

// Prefixes of the lines of a trace.
const (
	fromClient = "C> "
	fromAgent  = "<E "
	closedLine = "(connection closed)"
)

// A Line is one line of a trace: a frame, or the end of the connection.
type Line struct {
	FromAgent bool
	Frame     Frame
	Closed    bool
}

// A Trace writes the frames of a session, a line each, with escapes for line breaks,
// control characters and backslashes. Several goroutines may use it.
type Trace struct {
	mutex sync.Mutex
	to    io.Writer
}

// NewTrace returns a trace that writes to w.
func NewTrace(w io.Writer) *Trace { return &Trace{to: w} }

// Write writes a line.
func (t *Trace) Write(line Line) error {
	text := []byte(fromClient)
	if line.FromAgent {
		text = []byte(fromAgent)
	}
	if line.Closed {
		text = append(text, closedLine...)
	} else {
		text = appendPrintable(text, string(line.Frame.Append(nil)))
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	_, err := t.to.Write(append(text, '\n'))
	return err
}

// errNotLine reports a line that is not one of a trace.
var errNotLine = errors.New("not a line of a trace: it begins with neither " + fromClient + "nor " + fromAgent)

// ParseLine parses a line of a trace, also one in which nothing is escaped.
func ParseLine(text string) (Line, error) {
	text = strings.TrimRight(text, "\r\n")
	rest, isAgent := strings.CutPrefix(text, fromAgent)
	if !isAgent {
		var isClient bool
		if rest, isClient = strings.CutPrefix(text, fromClient); !isClient {
			return Line{}, errNotLine
		}
	}
	rest = strings.TrimLeft(rest, " ")
	line := Line{FromAgent: isAgent}
	if strings.TrimSpace(rest) == closedLine {
		line.Closed = true
		return line, nil
	}
	plain, isEscaped := unescape(rest)
	if isEscaped {
		if frame, err := parseWhole(plain); err == nil {
			line.Frame = frame
			return line, nil
		}
	}
	frame, err := parseWhole(rest)
	line.Frame = frame
	return line, err
}

// parseWhole parses a text that is one frame.
func parseWhole(text string) (Frame, error) {
	reader := NewReader(strings.NewReader(text))
	frame, err := reader.Read()
	if err != nil {
		return Frame{}, whole(err)
	}
	if reader.offset != int64(len(text)) {
		return Frame{}, &FrameError{Offset: reader.offset, Reason: "bytes follow the frame", Text: excerpt(text[reader.offset:])}
	}
	return frame, nil
}
