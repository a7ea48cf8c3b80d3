package tokenizer

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/config"
)

// A segmenter splits the stream and passes each segment to the tokenizer's examine.
type segmenter interface {
	write(p []byte)
	close() // called at the end of the stream, unless the tokenizer left it earlier
}

func newSegmenter(t *Tokenizer) (segmenter, error) {
	switch {
	case t.parser.MaxMatchLength > 0:
		return &window{tokenizer: t, step: t.parser.MaxMatchLength}, nil
	case t.parser.MaxMatchLength < 0:
		return nil, fmt.Errorf("maxMatchLen must not be negative: %d", t.parser.MaxMatchLength)
	}
	delimiter := delimiterOf(t.parser.Delimiter)
	return &delimited{
		tokenizer: t,
		delimiter: []byte(delimiter),
		include:   t.parser.IncludeDelimiter,
		isReturn:  delimiter == "\r",
	}, nil
}

// delimiterOf returns the one character that ends segments. Definitions write line feed, carriage return
// and tab as a backslash and a letter, since XML would turn the characters themselves into spaces.
// Without one, the delimiter is NUL.
func delimiterOf(written config.Optional) string {
	text := written.Text
	switch {
	case text == "":
		return "\x00"
	case strings.Contains(text, `\n`):
		return "\n"
	case strings.Contains(text, `\r`):
		return "\r"
	case strings.Contains(text, `\t`):
		return "\t"
	}
	_, length := utf8.DecodeRuneInString(text)
	return text[:length]
}

// largestKeptBuffer bounds the buffer that is reused after a long segment, in bytes.
const largestKeptBuffer = 1 << 20

// longestPart is the number of bytes examined at once for a delimiter of several bytes.
const longestPart = 64 << 10

// delimited splits the stream at a delimiter. It does not copy segments that lie in one piece of the
// stream.
type delimited struct {
	tokenizer   *Tokenizer
	delimiter   []byte
	include     bool
	isReturn    bool // a line feed right after the delimiter belongs to it
	afterReturn bool // the last byte was such a delimiter
	rest        []byte
}

func (d *delimited) write(p []byte) {
	if len(d.delimiter) > 1 {
		d.writeLongDelimiter(p)
		return
	}
	for len(p) > 0 && !d.tokenizer.left {
		if d.afterReturn {
			p = d.endReturn(p)
			continue
		}
		if len(d.rest) == 0 && len(p) >= worthSkimming && d.tokenizer.skims(d) {
			piece := p[:min(len(p), pieceLength)]
			rest := d.tokenizer.skimmer.skim(d.tokenizer, d, piece)
			if p = p[len(piece)-len(rest):]; len(rest) < len(piece) {
				continue
			}
		}
		at := bytes.IndexByte(p, d.delimiter[0])
		if at < 0 {
			d.keep(p)
			return
		}
		end := at
		if d.include {
			end++
		}
		segment := p[:end]
		p = p[at+1:]
		d.afterReturn = d.isReturn
		if d.isReturn && d.include {
			d.keep(segment) // the next byte may be a line feed that belongs to it
			continue
		}
		if len(d.rest) > 0 {
			if d.keep(segment) {
				d.emitRest()
			}
			continue
		}
		d.emit(segment)
	}
}

// endReturn skips a line feed after a carriage return.
func (d *delimited) endReturn(p []byte) []byte {
	d.afterReturn = false
	if p[0] == '\n' {
		if d.include {
			d.keep(p[:1])
		}
		p = p[1:]
	}
	if d.include {
		d.emitRest()
	}
	return p
}

// writeLongDelimiter handles a delimiter of several bytes, which may be split between pieces of the
// stream.
func (d *delimited) writeLongDelimiter(p []byte) {
	for len(p) > 0 && !d.tokenizer.left {
		searched := max(0, len(d.rest)-len(d.delimiter)+1)
		part := p[:min(len(p), longestPart)]
		p = p[len(part):]
		d.rest = d.tokenizer.extend(d.rest, part)
		start := 0
		for !d.tokenizer.left {
			at := bytes.Index(d.rest[searched:], d.delimiter)
			if at < 0 {
				break
			}
			end := searched + at
			searched = end + len(d.delimiter)
			if d.include {
				end = searched
			}
			d.emit(d.rest[start:end])
			start = searched
		}
		d.rest = append(d.rest[:0], d.rest[start:]...)
		// Wait for the rest of a partial delimiter.
		if len(d.rest) >= d.tokenizer.longestSegment()+len(d.delimiter) {
			d.tokenizer.failTooLong("a segment of the output is")
			d.rest = nil
		}
	}
}

func (d *delimited) close() {
	if d.afterReturn && d.include {
		d.emitRest()
	}
	if !d.tokenizer.left {
		// The end of the stream ends a segment, an empty one after a delimiter.
		d.emitRest()
	}
	d.rest = nil
}

// keep adds to the incomplete segment.
func (d *delimited) keep(p []byte) bool {
	if len(d.rest)+len(p) > d.tokenizer.longestSegment() {
		d.tokenizer.failTooLong("a segment of the output is")
		d.rest = nil
		return false
	}
	d.rest = d.tokenizer.extend(d.rest, p)
	return true
}

// extend appends to a segment. Long segments grow in few large steps: with the small ones of append, the
// old buffers would take several times the memory of the segment. The system provides memory only once it
// is written to.
func (t *Tokenizer) extend(segment, p []byte) []byte {
	const step = 16
	if needed := len(segment) + len(p); needed > cap(segment) && needed > largestKeptBuffer {
		larger := make([]byte, len(segment), max(needed, min(step*needed, t.longestSegment()+2*longestPart)))
		copy(larger, segment)
		segment = larger
	}
	return append(segment, p...)
}

func (d *delimited) emitRest() {
	d.emit(d.rest)
	if cap(d.rest) > largestKeptBuffer {
		d.rest = nil
	}
	d.rest = d.rest[:0]
}

func (d *delimited) emit(segment []byte) {
	if len(segment) > d.tokenizer.longestSegment() {
		d.tokenizer.failTooLong("a segment of the output is")
		return
	}
	d.tokenizer.examine(segment)
}

func (t *Tokenizer) longestSegment() int {
	if t.options.LongestSegment > 0 {
		return t.options.LongestSegment
	}
	return defaultLongestSegment
}
