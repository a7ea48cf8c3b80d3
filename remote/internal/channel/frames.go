package channel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	frameBuffer  = 64 << 10
	recordLimit  = 16 << 10 // longest record; the longest holds a search path
	recordStart  = 0x1e     // begins every marker: a byte that output hardly ever ends with, because such an end is held back
	markerLength = 1 + 32
)

// frames splits a stream of a channel into what programs wrote and the records
// between, which are a marker and a line.
type frames struct {
	source   io.Reader
	buffer   []byte // what was read and not yet returned is buffer[start:end]
	start    int
	end      int
	failure  error // of the source, to be returned when the buffer is empty
	complete bool  // everything in the buffer was looked at, and more has to be read
}

var errEndlessRecord = errors.New("a record of the shell does not end")

func newFrames(source io.Reader) *frames {
	return &frames{source: source, buffer: make([]byte, frameBuffer), complete: true}
}

// next returns a piece of data, valid until the next call, or a record without its
// marker. It calls marker after each read; nil means no marker.
func (f *frames) next(marker func() []byte) (data []byte, record string, err error) {
	for {
		if f.complete {
			if f.failure != nil {
				return f.rest()
			}
			f.readMore()
		}
		pending := f.buffer[f.start:f.end]
		current := marker()
		position := -1
		if len(current) > 0 {
			position = bytes.Index(pending, current)
		}
		switch {
		case position > 0:
			f.start += position
			return pending[:position], "", nil
		case position == 0:
			line, _, whole := bytes.Cut(pending[len(current):], []byte{'\n'})
			if whole {
				f.start += len(current) + len(line) + 1
				return nil, string(bytes.TrimSpace(line)), nil
			}
			if len(line) > recordLimit {
				f.failure = errEndlessRecord
			}
			f.complete = true
			continue
		}
		f.complete = true
		ready := len(pending) - heldBack(pending, current)
		if ready > 0 {
			f.start += ready
			return pending[:ready], "", nil
		}
	}
}

// readMore appends to the buffer.
func (f *frames) readMore() {
	if f.start > 0 {
		f.end = copy(f.buffer, f.buffer[f.start:f.end])
		f.start = 0
	}
	count, err := f.source.Read(f.buffer[f.end:])
	f.end += count
	f.failure = err
	f.complete = false
}

// rest returns what was held back, then the error of the source.
func (f *frames) rest() ([]byte, string, error) {
	if f.start < f.end {
		data := f.buffer[f.start:f.end]
		f.start = f.end
		return data, "", nil
	}
	if f.failure == io.EOF {
		return nil, "", io.EOF
	}
	return nil, "", fmt.Errorf("reading from the channel: %w", f.failure)
}

// heldBack returns how many of the last bytes may be the beginning of a marker.
func heldBack(data, marker []byte) int {
	for length := min(len(marker)-1, len(data)); length > 0; length-- {
		if bytes.HasSuffix(data, marker[:length]) {
			return length
		}
	}
	return 0
}
