package command

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/processmark"
	"github.com/rmctl/rmctl/job"
)

// A mark is a text in an output that describes a process, its references resolved.
type mark struct {
	pieces []processmark.Piece
	output bool
	shown  bool
	isJob  bool
}

// A statement is the content of a mark.
type statement struct {
	job.Process
	stream string // that the process printed to; empty if unknown
}

// longestField bounds a field of a mark, in bytes: the name of a machine at most.
const longestField = 255

// resolveMarks resolves the marks of a command; empty ones are left out.
func resolveMarks(s config.Scope, marks []*config.ProcessMark) ([]*mark, error) {
	var resolved []*mark
	for _, m := range marks {
		text, err := s.Environment.Resolve(m.Text, s.Job)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Position, err)
		}
		if text == "" {
			continue
		}
		shown, err := s.Environment.Resolve(m.Shown, s.Job)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Position, err)
		}
		pieces, err := processmark.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: the mark %q can never be found: %w", m.Position, text, err)
		}
		resolved = append(resolved, &mark{pieces: pieces, output: m.Output, shown: shown == "true", isJob: m.IsJob})
	}
	return resolved, nil
}

// A fit is how far a mark fits a text.
type fit int

const (
	fitsNot  fit = iota
	fitsPart     // so far, and the text ends before the mark does
	fitsAll
)

// match matches the mark at the beginning of a text. It returns the length of the mark and its
// content.
func (m *mark) match(text []byte) (how fit, length int, said statement) {
	at := 0
	for _, piece := range m.pieces {
		if piece.Field == "" {
			end, how := literalAt(text, at, piece.Text)
			if how != fitsAll {
				return how, 0, said
			}
			at = end
			continue
		}
		begin := at
		for at < len(text) && at-begin <= longestField && piece.Field.Takes(text[at]) {
			at++
		}
		switch {
		case at-begin > longestField:
			return fitsNot, 0, said
		case at == len(text):
			return fitsPart, 0, said
		case at == begin || !said.set(piece.Field, string(text[begin:at])):
			return fitsNot, 0, said
		}
	}
	return fitsAll, at, said
}

// literalAt compares a literal with the text at an offset. A line end may be \r\n.
func literalAt(text []byte, at int, literal string) (end int, how fit) {
	for i := range len(literal) {
		if literal[i] == '\n' && at < len(text) && text[at] == '\r' {
			at++
		}
		switch {
		case at == len(text):
			return at, fitsPart
		case text[at] != literal[i]:
			return at, fitsNot
		}
		at++
	}
	return at, fitsAll
}

// set sets a field from a mark, and reports false for an invalid number.
func (s *statement) set(field processmark.Field, text string) bool {
	switch field {
	case processmark.Node:
		s.Node = text
		return true
	case processmark.Stream:
		s.stream = text
		return true
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return false
	}
	value := int(number)
	switch field {
	case processmark.Rank:
		s.Rank = value
	case processmark.PID:
		s.PID = value
	case processmark.ExitCode:
		s.ExitCode = &value
	case processmark.Signal:
		s.Signal = &value
	case processmark.Status:
		setStatus(&s.Process, value)
	}
	return true
}

// setStatus sets how a process has ended from the status that a shell prints.
func setStatus(p *job.Process, status int) {
	const signalled = 128
	if status > signalled {
		signal := status - signalled
		p.Signal = &signal
		return
	}
	p.ExitCode = &status
}

// A markFilter finds marks in a stream, and passes on the text between them.
type markFilter struct {
	marks []*mark
	held  []byte // the end of the stream, which may be the begin of a mark
	text  func(text []byte)
	found func(m *mark, written []byte, said statement)
}

// write processes the next part of the stream.
func (f *markFilter) write(p []byte) {
	if len(f.held) > 0 {
		p = append(f.held, p...)
		f.held = nil
	}
	for len(p) > 0 {
		at, m, length, said := f.next(p)
		if at > 0 {
			f.text(p[:at])
		}
		if m == nil {
			f.held = bytes.Clone(p[at:])
			return
		}
		f.found(m, p[at:at+length], said)
		p = p[at+length:]
	}
}

// next finds the first mark of a text. Without one it returns where one may
// begin, or the end of the text.
func (f *markFilter) next(p []byte) (at int, m *mark, length int, said statement) {
	at = len(p)
	partly := len(p)
	for _, candidate := range f.marks {
		begin := candidate.pieces[0].Text
		for from := 0; from < at; {
			found := indexOrPart(p[from:], begin)
			if found < 0 || from+found >= at {
				break
			}
			from += found
			how, size, matched := candidate.match(p[from:])
			if how == fitsAll {
				at, m, length, said = from, candidate, size, matched
				break
			}
			if how == fitsPart {
				partly = min(partly, from)
				break
			}
			from++
		}
	}
	if m == nil || partly < at {
		return partly, nil, 0, statement{}
	}
	return at, m, length, said
}

// indexOrPart returns the first index of a text in p, or of the end of p that is the beginning
// of the text; -1 if there is neither.
func indexOrPart(p []byte, text string) int {
	first := text[0]
	for from := 0; ; {
		found := bytes.IndexByte(p[from:], first)
		if found < 0 {
			return -1
		}
		from += found
		if _, how := literalAt(p[from:], 0, text); how != fitsNot {
			return from
		}
		from++
	}
}

// close passes on the withheld text.
func (f *markFilter) close() {
	if len(f.held) > 0 {
		held := f.held
		f.held = nil
		f.text(held)
	}
}

// A source is a process and the stream that it prints to.
type source struct {
	rank    int
	isError bool // to standard error
}

// nobody is the source of text that no process printed.
var nobody = source{rank: -1}

func (s source) compare(other source) int {
	if s.rank == other.rank && s.isError != other.isError {
		if s.isError {
			return 1
		}
		return -1
	}
	return s.rank - other.rank
}

// A markedStream removes the marks from one stream of a command. Marks of output name the
// process that prints the following text. Other marks are searched in the text of each process
// separately, since outputs of processes may be interleaved.
type markedStream struct {
	outputs markFilter
	records []*mark
	sources map[source]*markFilter
	source  source // the source of the current text
	isError bool   // the stream is standard error
	pending []byte // a mark to be shown together with the following text

	// The results of the last write.
	shown   []byte // for users
	unowned []byte // for parsers: the command's own output
	learned []job.Process
	printed []ownedText

	ended *job.Process // the job, once a mark has its end
}

// An ownedText is the text that one process printed.
type ownedText struct {
	from source
	text []byte
}

// newMarkedStream returns nil without marks.
func newMarkedStream(marks []*mark, isError bool) *markedStream {
	if len(marks) == 0 {
		return nil
	}
	s := &markedStream{source: nobody, sources: map[source]*markFilter{}, isError: isError}
	for _, m := range marks {
		if m.output {
			s.outputs.marks = append(s.outputs.marks, m)
		} else {
			s.records = append(s.records, m)
		}
	}
	s.outputs.text = s.addText
	s.outputs.found = s.beginOutput
	return s
}

// write processes the next part of the stream and sets shown and the other results.
func (s *markedStream) write(p []byte) {
	s.reset()
	s.outputs.write(p)
}

// close ends the stream.
func (s *markedStream) close() {
	s.reset()
	s.outputs.close()
	for _, from := range slices.SortedFunc(maps.Keys(s.sources), source.compare) {
		s.sources[from].close()
	}
}

func (s *markedStream) reset() { s.shown, s.unowned, s.learned, s.printed = nil, nil, nil, nil }

// beginOutput makes the process of a mark the source of the following text. The mark may name
// the stream: on a terminal both are one.
func (s *markedStream) beginOutput(m *mark, written []byte, said statement) {
	s.source, s.pending = source{said.Rank, s.isError || said.stream == "stderr"}, nil
	s.learned = append(s.learned, said.Process)
	if m.shown {
		s.pending = bytes.Clone(written)
	}
}

// addText reads text that follows a mark of output, or precedes all marks. A mark applies
// until the end of the line.
func (s *markedStream) addText(text []byte) {
	if s.source == nobody {
		s.filter().write(text)
		return
	}
	line := len(text)
	if newline := bytes.IndexByte(text, '\n'); newline >= 0 {
		line = newline + 1
	}
	s.filter().write(text[:line])
	if line > 0 && text[line-1] == '\n' {
		s.source = nobody
	}
	if line < len(text) {
		s.filter().write(text[line:])
	}
}

// filter returns the filter of a source.
func (s *markedStream) filter() *markFilter {
	if s.source.rank >= maximumProcesses {
		s.source = nobody
	}
	from := s.source
	if s.sources[from] == nil {
		s.sources[from] = &markFilter{
			marks: s.records,
			text:  func(text []byte) { s.deliver(from, text) },
			found: func(m *mark, written []byte, said statement) {
				s.learned = append(s.learned, said.Process)
				if m.isJob && (said.ExitCode != nil || said.Signal != nil) {
					s.ended = &said.Process
				}
				if m.shown {
					s.deliver(from, written)
				}
			},
		}
	}
	return s.sources[from]
}

// deliver passes text of a source on to users, parsers or its process.
func (s *markedStream) deliver(from source, text []byte) {
	s.shown = append(append(s.shown, s.pending...), text...)
	s.pending = nil
	if from == nobody {
		s.unowned = append(s.unowned, text...)
		return
	}
	s.printed = append(s.printed, ownedText{from, bytes.Clone(text)})
}
