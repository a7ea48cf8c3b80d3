package reader

import "bytes"

// An outputLine is a line of the output.
type outputLine struct {
	text    []byte // without the line break; only the beginning of a line that is too long
	number  int    // from 1
	isCut   bool   // the output ends before the line break
	tooLong bool
}

// isBlank reports whether nothing but white space is in the line.
func (l outputLine) isBlank() bool { return len(bytes.TrimSpace(l.text)) == 0 && !l.tooLong }

// A lineSplitter splits output into lines, however the output is divided among writes.
type lineSplitter struct {
	longestLine int // in bytes; of a longer one only the beginning is kept
	// handle gets each line as soon as it is complete. Its text is valid during the call only.
	handle func(outputLine) error

	number  int    // of complete lines
	begun   []byte // the beginning of the line that is not complete
	tooLong bool   // that line is
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

// keep keeps a part of a line that is not complete.
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

// finish passes on a last line without a line break.
func (s *lineSplitter) finish() error {
	if len(s.begun) == 0 && !s.tooLong {
		return nil
	}
	return s.pass(s.begun, true)
}

// emptied returns an empty buffer. It frees one that an unusually long record has grown.
func emptied(buffer []byte) []byte {
	const usual = 1 << 20
	if cap(buffer) > usual {
		return nil
	}
	return buffer[:0]
}
