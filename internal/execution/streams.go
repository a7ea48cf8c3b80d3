// Package execution holds what all connections share to run a command: checks of its words, its
// streams, its terminal and its end.
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

// NonNil returns a stream, or no stream for a nil *os.File.
func NonNil[S any](stream S) (none S) {
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

// endOfInput is typed at a terminal to end its input, twice in the middle of a line.
// endOfTheLine are the characters after which a line begins.
const (
	endOfInput   = "\x04"
	endOfTheLine = "\n\r\x03\x04\x1c"
)

// CopyInput feeds a process until the source, which may be nil, ends or the process has
// closed its input. It reports the latter, which is no error. On a terminal it types the
// end of input afterwards.
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

// inputSink distinguishes errors of the pipe from those of the source.
type inputSink struct {
	pipe    io.Writer
	last    byte // that was written
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

// A Sink writes to a writer. After an error it drops the rest, so that the program that
// prints goes on.
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

// Head keeps the first bytes that are written to it. It may be used concurrently.
type Head struct {
	mutex sync.Mutex
	text  bytes.Buffer
	limit int
}

// NewHead returns a Head that keeps up to limit bytes.
func NewHead(limit int) *Head { return &Head{limit: limit} }

// Write never fails. It drops data beyond the limit.
func (h *Head) Write(data []byte) (int, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.text.Write(data[:min(len(data), h.limit-h.text.Len())])
	return len(data), nil
}

// String returns the kept text.
func (h *Head) String() string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.text.String()
}
