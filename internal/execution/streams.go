// Package execution holds what every way to run a command shares, on this machine
// and on others: the checks of its words, its streams and its terminal.
package execution

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
)

// Given returns a stream, or none for a nil file in an interface.
func Given[S any](stream S) (none S) {
	if file, isFile := any(stream).(*os.File); isFile && file == nil {
		return none
	}
	return stream
}

// CloseAll closes files that are not nil and were not closed yet.
func CloseAll(files ...*os.File) error {
	var failures []error
	for _, file := range files {
		if file == nil {
			continue
		}
		if err := file.Close(); !errors.Is(err, os.ErrClosed) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// SameWriter reports whether both streams go to one writer, and so through one
// pipe, which keeps their order.
func SameWriter(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// ContextReader returns a reader that fails as soon as its context is done.
func ContextReader(ctx context.Context, source io.Reader) io.Reader {
	return contextReader{ctx, source}
}

type contextReader struct {
	ctx    context.Context
	source io.Reader
}

func (r contextReader) Read(buffer []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.source.Read(buffer)
}

// What is typed at a terminal to end its input, and after which characters a
// line begins, so that typing it once is enough.
const (
	endOfInput   = "\x04"
	endOfTheLine = "\n\r\x03\x04\x1c"
)

// CopyInput feeds a process until the source, which may be nil, ends or the process
// does not want more, which is no error: it reports that. On a terminal it types the
// end of input afterwards. In the middle of a line the first end only ends that line.
func CopyInput(pipe io.Writer, source io.Reader, isTerminal bool) (refused bool, err error) {
	sink := &inputSink{pipe: pipe}
	if source != nil {
		_, err = io.Copy(sink, source)
	}
	if isTerminal && !sink.refused {
		end := endOfInput
		if sink.last != 0 && strings.IndexByte(endOfTheLine, sink.last) < 0 {
			end += endOfInput
		}
		_, _ = sink.Write([]byte(end)) // sink notes the failure
	}
	if sink.refused {
		err = nil
	}
	return sink.refused, err
}

// inputSink distinguishes errors of the pipe, where the process wants no more, from those
// of the source.
type inputSink struct {
	pipe    io.Writer
	last    byte // of what was written
	refused bool
}

func (s *inputSink) Write(data []byte) (int, error) {
	written, err := s.pipe.Write(data)
	s.refused = err != nil
	if written > 0 {
		s.last = data[written-1]
	}
	return written, err
}

// A Sink passes what it gets on to a writer. When that fails it drops the rest, so that
// who writes goes on.
type Sink struct {
	Writer io.Writer
	Err    error // of the writer
}

// Write never fails.
func (s *Sink) Write(data []byte) (int, error) {
	if len(data) > 0 && s.Err == nil {
		_, s.Err = s.Writer.Write(data)
	}
	return len(data), nil
}

// Head keeps the first bytes of what is written to it. It may be used concurrently.
type Head struct {
	mutex sync.Mutex
	text  bytes.Buffer
	limit int
}

// NewHead returns a Head that keeps up to limit bytes.
func NewHead(limit int) *Head { return &Head{limit: limit} }

// Write never fails: it drops what is too much.
func (h *Head) Write(data []byte) (int, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.text.Write(data[:min(len(data), h.limit-h.text.Len())])
	return len(data), nil
}

// String returns what was kept.
func (h *Head) String() string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.text.String()
}
