package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/transform"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xpath"
)

// The limits of documents.
const (
	deepest   = 1000    // elements inside each other
	mostNodes = 200_000 // of one record, or outside the records
)

// A structured source reads JSON or XML documents. Since output is pushed and a decoder pulls its input,
// the decoder runs as a coroutine that yields when it needs more.
type structured struct {
	input  io.WriteCloser // for XML, replaces characters that are not allowed
	resume func() (struct{}, bool)
	stop   func()
	feed   *feed
	result error // of the decoder; io.EOF at the end of the output
}

// A feed is the input of the decoder. It keeps the text of the record being read.
type feed struct {
	wait    func() bool // ends the decoder's turn; false if there will be no more input
	begins  string      // characters that can begin a document; empty once one has begun
	longest int         // limit for a record's text in bytes
	chunk   []byte      // not read by the decoder yet

	hasBanner  bool // text precedes the document
	isInBanner bool // the last line before the document is incomplete

	held     []byte // read by the decoder, from offset base
	base     int64
	baseLine int // of the output at base, from 1
}

// newStructuredSource returns the source of documents.
func newStructuredSource(definition *config.Source, none []string, hand func(*Record) error) (source, error) {
	steps, filter, err := parsePath(definition.Each)
	if err != nil {
		return nil, err
	}
	records := &recordBuilder{
		steps: steps, filter: filter, none: none, hand: hand,
		total: newExpression(definition.Total), rest: &xpath.Node{Name: "record"},
	}
	decode, begins := decodeJSON, "{["
	if definition.Kind == config.XML {
		decode, begins = decodeXML, "<"
	}
	s := &structured{feed: &feed{begins: begins, longest: longestRecord, baseLine: 1}, result: io.EOF}
	s.resume, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		s.feed.wait = func() bool { return yield(struct{}{}) }
		records.feed = s.feed
		s.result = decode(s.feed, records)
		if errors.Is(s.result, io.EOF) {
			s.result = records.checkTotal()
		}
	})
	s.input = decoderInput{s}
	if definition.Kind == config.XML {
		s.input = transform.NewWriter(s.input, legible())
	}
	return s, nil
}

// Write passes a part of the output on to the decoder.
func (s *structured) Write(p []byte) (int, error) { return s.input.Write(p) }

// A decoderInput passes output to the decoder of a source.
type decoderInput struct{ *structured }

// Write lets the decoder read a part of the output. Once it has given up, the rest is
// ignored.
func (s decoderInput) Write(p []byte) (int, error) {
	s.feed.chunk = p
	if _, isAlive := s.resume(); !isAlive {
		return len(p), s.failure()
	}
	return len(p), nil
}

// Close does nothing: the decoder ends with its source.
func (decoderInput) Close() error { return nil }

// failure returns an error that fails the whole query.
func (s *structured) failure() error {
	if _, isDamage := asDamage(s.result); isDamage || errors.Is(s.result, io.EOF) {
		return nil
	}
	return s.result
}

// Close ends the output. The error is the damage of the document.
func (s *structured) Close() error {
	err := s.input.Close()
	s.stop()
	if err != nil {
		return err
	}
	if errors.Is(s.result, io.EOF) {
		return nil // the decoder never ran: there was no output
	}
	return s.result
}

// Read gives the decoder the available output and waits for more.
func (f *feed) Read(p []byte) (int, error) {
	for {
		f.skipBanner()
		if len(f.chunk) > 0 && f.begins == "" {
			break
		}
		if !f.wait() {
			return 0, f.end()
		}
	}
	n := copy(p, f.chunk)
	f.chunk = f.chunk[n:]
	f.held = append(f.held, p[:n]...)
	return n, nil
}

// skipBanner skips lines before the document.
func (f *feed) skipBanner() {
	for f.begins != "" && len(f.chunk) > 0 {
		start := bytes.TrimLeft(f.chunk, " \t\r")
		if len(start) > 0 && strings.IndexByte(f.begins, start[0]) >= 0 && !f.isInBanner {
			f.begins, f.chunk = "", start
			return
		}
		line, rest, isWhole := bytes.Cut(f.chunk, []byte{'\n'})
		f.hasBanner = f.hasBanner || len(bytes.TrimSpace(line)) > 0
		f.isInBanner = !isWhole && (f.isInBanner || len(bytes.TrimSpace(line)) > 0)
		f.chunk = rest
		if isWhole {
			f.baseLine++
		}
	}
}

// end returns the error at the end of the output: io.EOF, or an error if it has text but no document.
func (f *feed) end() error {
	if f.begins != "" && f.hasBanner {
		return &DamageError{Line: 1, What: "the output has no document"}
	}
	return io.EOF
}

// release drops what the decoder has read up to an offset.
func (f *feed) release(offset int64) {
	done := f.held[:offset-f.base]
	f.baseLine += bytes.Count(done, []byte{'\n'})
	f.held = append(f.held[:0], f.held[len(done):]...)
	f.base = offset
}

// text returns the text between two offsets and its first line.
func (f *feed) text(from, to int64) (text string, line int) {
	before := f.held[:from-f.base]
	return string(f.held[from-f.base : to-f.base]), f.baseLine + bytes.Count(before, []byte{'\n'})
}

// line returns the line of an offset.
func (f *feed) line(offset int64) int {
	return f.baseLine + bytes.Count(f.held[:offset-f.base], []byte{'\n'})
}

// parsePath reads the path of records: names and * separated by slashes, from the root of
// the document, with a condition at its end.
func parsePath(each config.XPath) (steps []string, filter *expression, err error) {
	path, condition, hasCondition := strings.Cut(each.Text, "[")
	if hasCondition {
		inner, isClosed := strings.CutSuffix(condition, "]")
		if !isClosed {
			return nil, nil, fmt.Errorf("%s: %q ends within a condition", each.Position, each.Text)
		}
		filter = newExpression(config.XPath{Position: each.Position, Text: inner})
	}
	steps = strings.Split(strings.TrimPrefix(path, "/"), "/")
	for _, step := range steps {
		if step != "*" && (step == "" || xpath.FieldName(step) != step) {
			return nil, nil, fmt.Errorf("%s: invalid path %q: use names and * separated by /, with at most one condition at the end", each.Position, each.Text)
		}
	}
	return steps, filter, nil
}

// A recordBuilder builds records from the elements of a document, and, for the total, keeps the elements
// outside records.
type recordBuilder struct {
	steps  []string
	filter *expression
	none   []string
	hand   func(*Record) error
	feed   *feed

	path   []string    // of the open elements, down to a record
	node   *xpath.Node // open element of the record; nil outside of records
	record *Record
	start  int64 // offset of the record
	nodes  int   // of the record

	total     *expression
	rest      *xpath.Node // elements outside the records, for the total
	restNodes int
	count     int // of records
}

// open begins an element at an offset.
func (b *recordBuilder) open(name string, attributes []xpath.Attribute, offset int64) error {
	if len(b.path) >= deepest {
		return b.damage(offset, "the document is nested too deeply")
	}
	b.path = append(b.path, name)
	switch {
	case b.node != nil:
		if b.nodes++; b.nodes > mostNodes {
			return b.damage(offset, "a record has too many fields")
		}
		b.node = b.node.Add(name, "", b.feed.line(offset))
		b.node.Attributes = attributes
	case b.isRecord():
		b.record = &Record{Root: &xpath.Node{Name: "record", Attributes: attributes}}
		b.node, b.start, b.nodes = b.record.Root, offset, 0
		b.count++
	case b.total != nil:
		if b.restNodes++; b.restNodes > mostNodes {
			return b.damage(offset, "the document has too many elements outside its records")
		}
		b.rest = b.rest.Add(name, "", 0)
	}
	return nil
}

// isRecord reports whether the open element matches the path of records.
func (b *recordBuilder) isRecord() bool {
	if len(b.path) != len(b.steps) {
		return false
	}
	for i, step := range b.steps {
		if step != "*" && step != b.path[i] {
			return false
		}
	}
	return true
}

// text adds text to the open element.
func (b *recordBuilder) text(text string) {
	switch {
	case b.node != nil:
		b.node.Text += text
	case b.total != nil && b.rest.Parent != nil:
		b.rest.Text += text
	}
}

// close ends the open element; the input up to an offset is its text.
func (b *recordBuilder) close(offset int64) error {
	isRecord := b.record != nil && b.node == b.record.Root
	switch {
	case isRecord:
		b.record.Raw, b.record.Line = b.feed.text(b.start, offset)
		record := b.record
		b.node, b.record = nil, nil
		if err := b.handOver(record); err != nil {
			return err
		}
	case b.node != nil:
		closed := b.node
		b.node = closed.Parent
		if text := strings.TrimSpace(closed.Text); len(closed.Children) > 0 || b.isNone(text) {
			closed.Text = "" // the blanks between elements
			if len(closed.Children) == 0 && len(closed.Attributes) == 0 && b.isNone(text) {
				b.node.Children = b.node.Children[:len(b.node.Children)-1]
				b.leaveOut(closed.Name)
			}
		}
	case b.total != nil && b.rest.Parent != nil:
		b.rest = b.rest.Parent
	}
	b.path = b.path[:len(b.path)-1]
	if b.node == nil {
		b.feed.release(offset)
	}
	return nil
}

func (b *recordBuilder) isNone(text string) bool { return slices.Contains(b.none, text) }

// leaveOut records a field without a value.
func (b *recordBuilder) leaveOut(name string) {
	if b.node == b.record.Root {
		b.record.WithoutValue = append(b.record.WithoutValue, name)
	}
}

// handOver passes on a record if the condition of the path holds.
func (b *recordBuilder) handOver(record *Record) error {
	if record.Root.Text = strings.TrimSpace(record.Root.Text); len(record.Root.Children) > 0 {
		record.Root.Text = "" // the blanks between elements
	}
	counts, err := b.filter.isTrue(&evaluation{record: record})
	if err != nil {
		record.Damage = err.Error()
	} else if !counts {
		return nil
	}
	return b.hand(record)
}

// damage returns how the document is damaged.
func (b *recordBuilder) damage(offset int64, what string) error {
	return &DamageError{Line: b.feed.line(offset), What: what}
}

// checkTotal compares the number of records with that in the document.
func (b *recordBuilder) checkTotal() error {
	if b.total == nil || b.count == 0 && len(b.rest.Children) == 0 {
		return nil
	}
	said, err := b.total.text(&evaluation{record: &Record{Root: b.documentElement()}})
	if err != nil {
		return &DamageError{What: err.Error()}
	}
	if number, err := strconv.Atoi(strings.TrimSpace(said)); err != nil || number != b.count {
		return &DamageError{What: fmt.Sprintf("the document has %d records instead of %.20q", b.count, said)}
	}
	return nil
}

// documentElement returns the document element, on which the total is evaluated.
func (b *recordBuilder) documentElement() *xpath.Node {
	root := b.rest
	for root.Parent != nil {
		root = root.Parent
	}
	return root
}
