package reader

import "bytes"

// An outputLine is a line of the output.
type outputLine struct {
	text    []byte // without the line break; only the beginning of a line that is too long
	number  int    // from 1
	isCut   bool   // the output ends before the line break
	tooLong bool
}

// isBlank reports whether the line has only white space.
func (l outputLine) isBlank() bool { return len(bytes.TrimSpace(l.text)) == 0 && !l.tooLong }

// A lineSplitter splits output into lines, independent of the sizes of writes.
type lineSplitter struct {
	longestLine int // in bytes; longer lines are truncated
	// handle is called for each complete line. The text is valid only during the call.
	handle func(outputLine) error

	number  int    // of complete lines
	begun   []byte // the incomplete line
	tooLong bool   // the incomplete line is too long
}

// Write passes on the lines that are complete.
func (s *lineSplitter) Write(p []byte) (int, error) {
	rest := p
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			s.keep(rest)
			return len(p), nil
		}
		line := rest[:end]
		if len(s.begun) > 0 || s.tooLong || len(line) > s.longestLine {
			s.keep(line)
			line = s.begun
		}
		if err := s.pass(line, false); err != nil {
			return 0, err
		}
		rest = rest[end+1:]
	}
}

// keep keeps a part of an incomplete line.
func (s *lineSplitter) keep(part []byte) {
	switch {
	case s.tooLong:
	case len(s.begun)+len(part) > s.longestLine:
		beginning := min(s.longestLine, longestExcerpt)
		part = part[:min(len(part), max(0, beginning-len(s.begun)))]
		s.begun = append(bytes.Clone(s.begun[:min(len(s.begun), beginning)]), part...)
		s.tooLong = true
	default:
		s.begun = append(s.begun, part...)
	}
}

// pass passes on a line.
func (s *lineSplitter) pass(text []byte, isCut bool) error {
	s.number++
	line := outputLine{text: text, number: s.number, isCut: isCut, tooLong: s.tooLong}
	s.begun, s.tooLong = emptied(s.begun), false
	return s.handle(line)
}

// finish passes on the last line if it has no line break.
func (s *lineSplitter) finish() error {
	if len(s.begun) == 0 && !s.tooLong {
		return nil
	}
	return s.pass(s.begun, true)
}

// emptied returns the empty buffer, or none if a very long record has enlarged it.
func emptied(buffer []byte) []byte {
	const usual = 1 << 20
	if cap(buffer) > usual {
		return nil
	}
	return buffer[:0]
}
