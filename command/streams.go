package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/tokenizer"
)

// streams are the two outputs of a process on their way to parsers, caller and
// error report.
type streams struct {
	stdout, stderr stream
	lock           sync.Mutex // parsers of one command write to the same attributes
	progress       func()
	ready          bool // the parsers are compiled
	processes      *processTable
	ended          *job.Process // the job's end according to a mark
	spooled        *spool
	input          io.Closer // the file that is the standard input; nil for none
}

// A stream is one output of a process.
type stream struct {
	all    *streams
	parser io.WriteCloser // nil without a parser
	marked *markedStream  // removes marks of processes; or nil
	copy   io.Writer      // the caller of an attached job, or nil
	tail   tail
	early  []byte // output before the parsers were ready
	err    error  // of the parser

	unmatched, blank int64 // counted by a parser of targets
}

// openStreams prepares the streams, not yet their parsers.
func (r *run) openStreams() *streams {
	s := &streams{}
	s.stdout.all, s.stderr.all = s, s
	s.stdout.tail.limit = r.Command.StreamBufferLimit
	s.stderr.tail.limit = r.Command.StreamBufferLimit
	if r.Attach != nil {
		s.stdout.copy, s.stderr.copy = r.Attach.Stdout, r.Attach.Stderr
		s.progress = r.progress(s.recent)
	}
	if len(r.invocation.marks) > 0 {
		s.processes = newProcessTable()
		s.stdout.marked, s.stderr.marked = newMarkedStream(r.invocation.marks, false), newMarkedStream(r.invocation.marks, true)
	}
	return s
}

// compileParsers compiles the parsers of the streams. For a command that runs to its end,
// standard output is parsed after standard error, so that facts from standard output win.
func (r *run) compileParsers(ctx context.Context, s *streams) error {
	stdout := r.Command.StdoutParser
	if r.Command.RedirectStderr && r.Command.RedirectParser != nil {
		stdout = r.Command.RedirectParser
	}
	ofStdout, err := r.compile(stdout)
	if err != nil {
		return err
	}
	if ofStdout, err = r.outputReader(ctx, ofStdout); err != nil {
		return err
	}
	ofStderr, err := r.compile(r.Command.StderrParser)
	if err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.stdout.parser, s.stderr.parser = ofStdout, ofStderr
	if r.Attach == nil && ofStdout != nil && ofStderr != nil {
		s.spooled = &spool{}
	}
	s.ready = true
	for _, each := range []*stream{&s.stdout, &s.stderr} {
		each.parse(each.early)
		each.early = nil
	}
	return nil
}

// outputReader returns the reader of standard output, or the parser of a command without one.
func (r *run) outputReader(ctx context.Context, parser io.WriteCloser) (io.WriteCloser, error) {
	if r.open != nil {
		return r.open()
	}
	if r.Command.Read == nil {
		return parser, nil
	}
	return r.newOutputReader(ctx)
}

func (r *run) compile(parser *config.Parser) (io.WriteCloser, error) {
	if parser == nil {
		return nil, nil
	}
	options := tokenizer.Options{Expressions: r.Expressions, Types: r.Types, Origins: r.Origins}
	if r.rows != nil {
		options.Rows = r.rows.handOut
	}
	if r.Trace != nil {
		options.Trace = func(event tokenizer.TraceEvent) { r.Trace(parser, event) }
	}
	compiled, err := options.Compile(parser, r.Scope.Environment, r.Scope.Job)
	if err != nil {
		return nil, err
	}
	return compiled, nil
}

// Write receives output of the process. A parser's error does not stop the process, which
// would block on a full pipe; it is kept until the end.
func (s *stream) Write(p []byte) (int, error) {
	if s.marked == nil {
		return len(p), s.deliver(p, p)
	}
	s.marked.write(p)
	return len(p), s.deliverMarked()
}

// deliverMarked delivers the results of the marked stream.
func (s *stream) deliverMarked() error {
	s.all.lock.Lock()
	s.all.learn(s.marked)
	s.all.lock.Unlock()
	return s.deliver(s.marked.shown, s.marked.unowned)
}

// deliver writes output to the caller, and the command's own part of it to the parser.
func (s *stream) deliver(shown, own []byte) error {
	if s.copy != nil && len(shown) > 0 {
		if _, err := s.copy.Write(shown); err != nil {
			return fmt.Errorf("passing on output: %w", err)
		}
	}
	s.all.lock.Lock()
	defer s.all.lock.Unlock()
	_, _ = s.tail.Write(shown) // never fails
	if s.all.ready {
		s.parse(own)
	} else {
		s.early = append(s.early, own...)
	}
	return nil
}

// learn applies marks about processes. The caller holds the lock.
func (s *streams) learn(from *markedStream) {
	for _, process := range from.learned {
		s.processes.learn(process)
	}
	s.ended = cmp.Or(from.ended, s.ended)
	for _, printed := range from.printed {
		s.processes.printed(printed.from, printed.text)
	}
}

// changedProcesses returns those that have changed since it was last called.
func (s *streams) changedProcesses() []job.Process {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.processes.collectChanged()
}

// parse passes output to the parser, or keeps it until the parser's turn.
func (s *stream) parse(p []byte) {
	if s.parser == nil || s.err != nil || len(p) == 0 {
		return
	}
	if s.all.spooled != nil && s == &s.all.stdout {
		_, s.err = s.all.spooled.Write(p)
		return
	}
	if s.all.progress == nil {
		_, s.err = s.parser.Write(p)
		return
	}
	// Line by line, so that no state is missed if two arrive together.
	for line := range bytes.Lines(p) {
		if _, s.err = s.parser.Write(line); s.err != nil {
			return
		}
		s.all.progress()
	}
}

// recent returns the end of the output. The caller holds the lock.
func (s *streams) recent() string {
	return s.stdout.tail.String() + s.stderr.tail.String()
}

// finish ends the parsers and returns the error of the one for stdout, else of
// the one for stderr, else that of writing the rest.
func (s *streams) finish() error {
	markedErr := s.finishMarks()
	s.lock.Lock()
	defer s.lock.Unlock()
	s.stderr.close()
	if s.spooled != nil && s.stdout.err == nil {
		s.stdout.err = s.spooled.copyTo(s.stdout.parser)
	}
	s.stdout.close()
	if s.progress != nil {
		s.progress()
	}
	return cmp.Or(s.stdout.err, s.stderr.err, markedErr)
}

// finishMarks delivers text that was withheld as a possible mark.
func (s *streams) finishMarks() error {
	for _, each := range []*stream{&s.stdout, &s.stderr} {
		if each.marked == nil {
			continue
		}
		each.marked.close()
		if err := each.deliverMarked(); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) close() {
	if s.parser == nil {
		return
	}
	if err := s.parser.Close(); s.err == nil {
		s.err = err
	}
	if counting, isTokenizer := s.parser.(*tokenizer.Tokenizer); isTokenizer {
		counted := counting.Totals()
		s.unmatched, s.blank = counted.Unmatched, counted.Blank
	}
	s.parser = nil
}

// printed returns the ends of the outputs.
func (s *streams) printed() (stdout, stderr string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.stdout.tail.String(), s.stderr.tail.String()
}

// readNothing replaces the reader of standard output by one that has read nothing.
func (r *run) readNothing(ctx context.Context, s *streams) error {
	if r.Command.Read == nil && r.open == nil {
		return nil
	}
	r.hasNone = true
	unread, err := r.outputReader(ctx, nil)
	if err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.stdout.parser, s.stdout.err, s.spooled = unread, nil, nil
	return nil
}

func (s *streams) discard() {
	if s.input != nil {
		_ = s.input.Close() // it was only read
	}
	if s.spooled != nil {
		s.spooled.discard()
	}
}

// A tail keeps the end of a text for error reports.
type tail struct {
	limit int // bytes; not positive for defaultTail
	kept  []byte
	cut   bool
}

const defaultTail = 16 << 10

// Write keeps the end of p; it never fails. The text grows to twice its limit, so that
// not every call moves it.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*t.bound() {
		t.shorten()
	}
	return len(p), nil
}

func (t *tail) bound() int {
	if t.limit > 0 {
		return t.limit
	}
	return defaultTail
}

func (t *tail) shorten() {
	if excess := len(t.kept) - t.bound(); excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
		t.cut = true
	}
}

// String returns the kept text. If the beginning is lost it starts with a whole line if
// possible, otherwise with a whole character.
func (t *tail) String() string {
	t.shorten()
	text := t.kept
	if !t.cut {
		return string(text)
	}
	if newline := bytes.IndexByte(text, '\n'); newline >= 0 && newline+1 < len(text) {
		return string(text[newline+1:])
	}
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return string(text)
}

// A spool buffers a stream: a small one in memory, a large one in a file.
type spool struct {
	memory bytes.Buffer
	file   *os.File
	size   int64
}

const (
	spoolMemory = 1 << 20
	// A command that never stops printing must not fill the disk until its time is up.
	spoolLimit = 1 << 30
)

var errTooMuchOutput = fmt.Errorf("the command printed more than %d bytes", int64(spoolLimit))

// Write keeps p, unless that is too much altogether.
func (s *spool) Write(p []byte) (int, error) {
	if s.size += int64(len(p)); s.size > spoolLimit {
		return 0, errTooMuchOutput
	}
	if s.file == nil && s.memory.Len()+len(p) <= spoolMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		file, err := os.CreateTemp("", "rmctl-output-*")
		if err != nil {
			return 0, fmt.Errorf("keeping the command's output: %w", err)
		}
		s.file = file
		// The file has no name, so that it disappears with this process.
		if err := os.Remove(file.Name()); err != nil {
			return 0, fmt.Errorf("keeping the command's output: %w", err)
		}
	}
	return s.file.Write(p)
}

func (s *spool) copyTo(w io.Writer) error {
	if _, err := w.Write(s.memory.Bytes()); err != nil {
		return err
	}
	if s.file == nil {
		return nil
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading the command's output again: %w", err)
	}
	_, err := io.Copy(w, s.file)
	return err
}

func (s *spool) discard() {
	if s.file != nil {
		_ = s.file.Close() // nothing depends on it any more
	}
}
