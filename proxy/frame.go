package proxy

import "strconv"

// Limits of a frame.
const (
	largestFrame  = 16 << 20 // bytes, including the length
	mostArguments = 100_000
)

// Widths of the parts of a frame: a length, " id:transaction:count", and " length:" of each argument.
const (
	lengthWidth   = 8
	headerWidth   = 1 + 4 + 1 + 8 + 1 + 8
	argumentWidth = 1 + 8 + 1
)

// A Frame is a message of either side. The arguments that a [Reader] returns share memory:
// clone what is kept of a large frame.
type Frame struct {
	ID          uint16
	Transaction uint32
	Arguments   []string
}

// size returns the number of bytes of the frame.
func (f Frame) size() int {
	size := lengthWidth + headerWidth
	for _, argument := range f.Arguments {
		size += argumentWidth + len(argument)
	}
	return size
}

// Append appends the bytes of the frame. It does not check the limits, as [Writer] does.
func (f Frame) Append(to []byte) []byte {
	to = appendHex(to, uint32(f.size()-lengthWidth), 8)
	to = append(to, ' ')
	to = appendHex(to, uint32(f.ID), 4)
	to = append(to, ':')
	to = appendHex(to, f.Transaction, 8)
	to = append(to, ':')
	to = appendHex(to, uint32(len(f.Arguments)), 8)
	for _, argument := range f.Arguments {
		to = append(to, ' ')
		to = appendHex(to, uint32(len(argument)), 8)
		to = append(to, ':')
		to = append(to, argument...)
	}
	return to
}

const hexDigits = "0123456789abcdef"

// appendHex appends a number of digits, in lower case as every peer does.
func appendHex(to []byte, number uint32, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		to = append(to, hexDigits[number>>shift&0xf])
	}
	return to
}

// A FrameError is a frame that cannot be read, or one without the meaning that its id requires.
type FrameError struct {
	Offset int64  // in bytes: from the beginning of the stream for [Reader], from that of the frame otherwise
	Reason string // in words
	Text   string // what stands there, printable and bounded; may be empty
	Ends   bool   // whether the session must end; otherwise the next frame can be read
}

// Error implements error.
func (e *FrameError) Error() string {
	text := "byte " + strconv.FormatInt(e.Offset, 10) + ": " + e.Reason
	if e.Text != "" {
		text += `: "` + e.Text + `"`
	}
	return text
}

// argumentError returns an error about the argument with an index; the one after the last is missing.
func (f Frame) argumentError(index int, reason string) *FrameError {
	broken := &FrameError{Reason: reason}
	if index < len(f.Arguments) {
		broken.Text = excerpt(f.Arguments[index])
	} else {
		index = len(f.Arguments)
	}
	broken.Offset = int64(Frame{Arguments: f.Arguments[:index]}.size())
	return broken
}
