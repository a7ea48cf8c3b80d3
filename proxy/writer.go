package proxy

import (
	"fmt"
	"io"
)

// A Writer writes frames. It must not be used by two goroutines at the same time.
type Writer struct {
	to     io.Writer
	buffer []byte
}

// NewWriter returns a writer of frames.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// largestKept bounds the buffer that a Writer keeps between frames.
const largestKept = 64 << 10

// Write writes a frame with one call of Write, as peers written in C require. It refuses
// frames that a [Reader] does not accept.
func (w *Writer) Write(f Frame) error {
	if size := f.size(); size > largestFrame || len(f.Arguments) > mostArguments {
		return fmt.Errorf("a frame with %d bytes and %d arguments exceeds 16 MiB or 100,000 arguments", size, len(f.Arguments))
	}
	w.buffer = f.Append(w.buffer[:0])
	_, err := w.to.Write(w.buffer)
	if cap(w.buffer) > largestKept {
		w.buffer = nil
	}
	return err
}
