package schemas

import (
	"fmt"
	"strings"
)

// A lineCounter finds the line and column of offsets. It looks at every byte
// once as long as the offsets ascend.
type lineCounter struct {
	text      string
	counted   int // offset up to which line breaks were counted
	line      int // from 1, the one that counted is on
	lineStart int // its offset
}

// of returns where an offset is, both from 1, the column in bytes.
func (c *lineCounter) of(offset int) (line, column int) {
	if offset < c.lineStart {
		return placeOf(c.text, offset)
	}
	for c.counted < offset {
		length := strings.IndexByte(c.text[c.counted:offset], '\n')
		if length < 0 {
			c.counted = offset
			break
		}
		c.counted += length + 1
		c.line, c.lineStart = c.line+1, c.counted
	}
	return c.line, offset - c.lineStart + 1
}

// placeOf returns the line and column of one offset, such as that of an error.
func placeOf(text string, offset int) (line, column int) {
	counter := lineCounter{text: text, line: 1}
	return counter.of(offset)
}

func (r *documentReader) syntaxError(offset int, format string, arguments ...any) *DocumentError {
	line, column := placeOf(r.source, offset)
	return syntaxErrorAt(line, column, format, arguments...)
}

func (r *documentReader) limitError(offset int, format string, arguments ...any) *DocumentError {
	err := r.syntaxError(offset, format, arguments...)
	err.Code = "xml-limit"
	return err
}

func syntaxErrorAt(line, column int, format string, arguments ...any) *DocumentError {
	return &DocumentError{Line: line, Column: column, Code: "xml-syntax", Reason: fmt.Sprintf(format, arguments...)}
}

// withHelp adds what to do.
func (e *DocumentError) withHelp(help string) *DocumentError {
	e.Help = help
	return e
}
