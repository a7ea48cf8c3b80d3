package proxy

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// bufferSize is what a Reader reads at once; larger frames are read in pieces.
const bufferSize = 64 << 10

// A Reader reads frames.
type Reader struct {
	buffered *bufio.Reader
	offset   int64 // of the next frame
}

// NewReader returns a reader of the frames of a stream.
func NewReader(r io.Reader) *Reader {
	return &Reader{buffered: bufio.NewReaderSize(r, bufferSize)}
}

// Read returns the next frame. Between frames the end of the stream is [io.EOF], inside a
// frame [io.ErrUnexpectedEOF]. A [*FrameError] that does not end the session leaves the
// reader at the next frame.
func (r *Reader) Read() (Frame, error) {
	length, err := r.length()
	if err != nil {
		return Frame{}, err
	}
	body, err := r.body(length)
	if err != nil {
		return Frame{}, whole(err)
	}
	start := r.offset + lengthWidth
	r.offset = start + int64(length)
	frame, broken := parseBody(body)
	if broken != nil {
		broken.Offset += start
		return Frame{}, broken
	}
	return frame, nil
}

// length reads the length of a frame.
func (r *Reader) length() (int, error) {
	read, err := r.digits()
	if err != nil {
		return 0, err
	}
	number, _ := parseHex(string(read[:lengthWidth]))
	switch {
	case read[lengthWidth] != ' ':
		return 0, r.notFrame(lengthWidth, notFrame)
	case number < headerWidth:
		return 0, r.notFrame(0, "a frame is too short for its header")
	case number > largestFrame-lengthWidth:
		return 0, r.notFrame(0, "a frame exceeds 16 MiB")
	}
	_, err = r.buffered.Discard(lengthWidth)
	return int(number), err
}

// digits returns the digits of a length and the byte after them. It waits for one byte at a
// time: text that is not a frame is recognized before nine bytes have come.
func (r *Reader) digits() ([]byte, error) {
	for i := range lengthWidth {
		read, err := r.buffered.Peek(i + 1)
		if err != nil && i > 0 {
			return nil, whole(err)
		}
		if err != nil {
			return nil, err
		}
		if hexValues[read[i]] > 0xf {
			return nil, r.notFrame(i, notFrame)
		}
	}
	read, err := r.buffered.Peek(lengthWidth + 1)
	return read, whole(err)
}

const notFrame = "not a frame of the proxy protocol"

// notFrame describes bytes that begin no frame, and quotes those that have come.
func (r *Reader) notFrame(digits int, reason string) *FrameError {
	read, _ := r.buffered.Peek(r.buffered.Buffered())
	if read[0] == 0 {
		reason = "the binary frames of PTP 5.0 and later are not supported"
	}
	return &FrameError{Offset: r.offset + int64(digits), Reason: reason, Text: excerpt(string(read[:min(len(read), 2*longestExcerpt)])), Ends: true}
}

// whole turns an end of the stream into one inside a frame.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// body reads what follows a length.
func (r *Reader) body(length int) (string, error) {
	if length <= bufferSize {
		read, err := r.buffered.Peek(length)
		if err != nil {
			return "", err
		}
		body := string(read)
		_, err = r.buffered.Discard(length)
		return body, err
	}
	var body strings.Builder
	body.Grow(length) // the limit of a frame, at most: memory that nothing is written to costs little
	_, err := io.CopyN(&body, r.buffered, int64(length))
	return body.String(), err
}

// parseBody parses what follows the length; offsets of errors count from there.
func parseBody(body string) (Frame, *FrameError) {
	id, isID := parseHex(body[1:5])
	transaction, isTransaction := parseHex(body[6:14])
	count, isCount := parseHex(body[15:headerWidth])
	hasShape := body[0] == ' ' && body[5] == ':' && body[14] == ':'
	if !hasShape || !isID || !isTransaction || !isCount {
		return Frame{}, &FrameError{Reason: "invalid header", Text: excerpt(body)}
	}
	if count > mostArguments {
		return Frame{}, &FrameError{Offset: 15, Reason: "a frame has more than 100,000 arguments", Text: body[15:headerWidth], Ends: true}
	}
	frame := Frame{ID: uint16(id), Transaction: transaction}
	rest := body[headerWidth:]
	if int(count)*argumentWidth > len(rest) {
		return Frame{}, &FrameError{Offset: 15, Reason: "more arguments announced than the frame holds", Text: body[15:headerWidth]}
	}
	if count > 0 {
		frame.Arguments = make([]string, count)
	}
	for i := range frame.Arguments {
		argument, after, reason := cutArgument(rest)
		if reason != "" {
			return Frame{}, &FrameError{Offset: int64(len(body) - len(rest)), Reason: reason, Text: excerpt(rest[:min(len(rest), argumentWidth)])}
		}
		frame.Arguments[i], rest = argument, after
	}
	if rest != "" {
		return Frame{}, &FrameError{Offset: int64(len(body) - len(rest)), Reason: "bytes follow the last argument", Text: excerpt(rest)}
	}
	return frame, nil
}

// cutArgument cuts the first argument off, or says why it cannot.
func cutArgument(text string) (argument, rest, reason string) {
	if len(text) < argumentWidth {
		return "", "", "an argument is missing"
	}
	length, isHex := parseHex(text[1 : argumentWidth-1])
	if text[0] != ' ' || text[argumentWidth-1] != ':' || !isHex {
		return "", "", "invalid length of an argument"
	}
	text = text[argumentWidth:]
	if uint64(length) > uint64(len(text)) {
		return "", "", "an argument ends after its frame"
	}
	return text[:length], text[length:], ""
}

// parseHex parses up to eight digits.
func parseHex(text string) (uint32, bool) {
	var number uint32
	for i := range len(text) {
		value := hexValues[text[i]]
		if value > 0xf {
			return 0, false
		}
		number = number<<4 | uint32(value)
	}
	return number, true
}

// hexValues are the values of digits, more than 0xf for other bytes.
var hexValues = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i := range hexDigits {
		values[hexDigits[i]] = byte(i)
		values[strings.ToUpper(hexDigits)[i]] = byte(i)
	}
	return values
}()
