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

// match tries the mark at the begin of a text. It returns how long the mark is
// there and what it says.
func (m *mark) match(text []byte) (how fit, length int, process job.Process) {
	at := 0
	for _, piece := range m.pieces {
		if piece.Field == "" {
			end, how := literalAt(text, at, piece.Text)
			if how != fitsAll {
				return how, 0, process
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
			return fitsNot, 0, process
		case at == len(text):
			return fitsPart, 0, process
		case at == begin || !setField(&process, piece.Field, string(text[begin:at])):
			return fitsNot, 0, process
		}
	}
	return fitsAll, at, process
}

// literalAt compares a text with what stands at an offset. A line end may be
// that of a terminal.
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

// setField sets what a field of a mark says about a process, and reports false for an
// invalid number.
func setField(p *job.Process, field processmark.Field, text string) bool {
	if !field.IsNumber() {
		if field == processmark.Node {
			p.Node = text
		}
		return true
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return false
	}
	value := int(number)
	switch field {
	case processmark.Rank:
		p.Rank = value
	case processmark.PID:
		p.PID = value
	case processmark.ExitCode:
		p.ExitCode = &value
	case processmark.Signal:
		p.Signal = &value
	case processmark.Status:
		setStatus(p, value)
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

// A markFilter finds marks in a stream, and hands on what stands between them.
type markFilter struct {
	marks []*mark
	held  []byte // the end of the stream, which may be the begin of a mark
	text  func(text []byte)
	found func(m *mark, written []byte, process job.Process)
}

// write takes the next part of the stream.
func (f *markFilter) write(p []byte) {
	if len(f.held) > 0 {
		p = append(f.held, p...)
		f.held = nil
	}
	for len(p) > 0 {
		at, m, length, process := f.next(p)
		if at > 0 {
			f.text(p[:at])
		}
		if m == nil {
			f.held = bytes.Clone(p[at:])
			return
		}
		f.found(m, p[at:at+length], process)
		p = p[at+length:]
	}
}

// next finds the first mark of a text. Without one it returns where the begin of
// one may be, which is the end of the text if there is none.
func (f *markFilter) next(p []byte) (at int, m *mark, length int, process job.Process) {
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
			how, size, said := candidate.match(p[from:])
			if how == fitsAll {
				at, m, length, process = from, candidate, size, said
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
		return partly, nil, 0, job.Process{}
	}
	return at, m, length, process
}

// indexOrPart returns where a text first stands, or where the end of p begins
// that is the begin of the text; -1 if there is neither.
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

// close hands on what was held.
func (f *markFilter) close() {
	if len(f.held) > 0 {
		held := f.held
		f.held = nil
		f.text(held)
	}
}

// nobody is the source of what no process printed.
const nobody = -1

// A markedStream takes the marks out of one stream of a command. Marks of output
// say whose the text is that follows; the others are sought in the text of each
// process by itself, since what two of them print may be mixed.
type markedStream struct {
	outputs markFilter
	records []*mark
	sources map[int]*markFilter
	source  int    // who prints at the moment
	pending []byte // a mark that is to be shown together with what follows it

	// What came out of the last write.
	shown   []byte // for users
	unowned []byte // for parsers: what the command itself printed
	learned []job.Process
	printed []ownedText

	ended *job.Process // the job, once a mark said how it ended
}

// An ownedText is what a process printed.
type ownedText struct {
	rank int
	text []byte
}

// newMarkedStream returns nil where there are no marks.
func newMarkedStream(marks []*mark) *markedStream {
	if len(marks) == 0 {
		return nil
	}
	s := &markedStream{source: nobody, sources: map[int]*markFilter{}}
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

// write takes the next part of the stream; shown and the others then hold what
// came of it.
func (s *markedStream) write(p []byte) {
	s.reset()
	s.outputs.write(p)
}

// close takes the end of the stream.
func (s *markedStream) close() {
	s.reset()
	s.outputs.close()
	for _, rank := range slices.Sorted(maps.Keys(s.sources)) {
		s.sources[rank].close()
	}
}

func (s *markedStream) reset() { s.shown, s.unowned, s.learned, s.printed = nil, nil, nil, nil }

// beginOutput makes the process of a mark the source of what follows.
func (s *markedStream) beginOutput(m *mark, written []byte, process job.Process) {
	s.source, s.pending = process.Rank, nil
	s.learned = append(s.learned, process)
	if m.shown {
		s.pending = bytes.Clone(written)
	}
}

// addText reads text that follows a mark of output, or stands before any. With
// the end of a line what a mark says of it ends.
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

// filter returns that of what the source prints.
func (s *markedStream) filter() *markFilter {
	if s.source >= maximumProcesses {
		s.source = nobody
	}
	rank := s.source
	if s.sources[rank] == nil {
		s.sources[rank] = &markFilter{
			marks: s.records,
			text:  func(text []byte) { s.deliver(rank, text) },
			found: func(m *mark, written []byte, process job.Process) {
				s.learned = append(s.learned, process)
				if m.isJob && (process.ExitCode != nil || process.Signal != nil) {
					s.ended = &process
				}
				if m.shown {
					s.deliver(rank, written)
				}
			},
		}
	}
	return s.sources[rank]
}

// deliver passes text of a source on to users, parsers or its process.
func (s *markedStream) deliver(rank int, text []byte) {
	s.shown = append(append(s.shown, s.pending...), text...)
	s.pending = nil
	if rank == nobody {
		s.unowned = append(s.unowned, text...)
		return
	}
	s.printed = append(s.printed, ownedText{rank, bytes.Clone(text)})
}
