package openssh

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// keptText bounds the messages that are kept, in bytes. The last ones stay.
const keptText = 8 << 10

// longestLine bounds a message. The rest of a longer one is dropped.
const longestLine = 1 << 10

// lastWords bounds the wait for the last messages of a process: processes that it started
// may hold the pipe open.
const lastWords = 200 * time.Millisecond

// tail keeps the end of a text. It may be used concurrently.
type tail struct {
	mutex sync.Mutex
	text  []byte
	total int // bytes ever written
}

// Write never fails: what is too much drops off the beginning.
func (t *tail) Write(data []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.total += len(data)
	t.text = append(t.text, data...)
	if excess := len(t.text) - keptText; excess > 0 {
		t.text = append(t.text[:0], t.text[excess:]...)
	}
	return len(data), nil
}

// since returns what is kept of the text after a position, and the position of its end.
func (t *tail) since(position int) (string, int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	count := min(t.total-position, len(t.text))
	return string(t.text[len(t.text)-count:]), t.total
}

func (t *tail) String() string {
	text, _ := t.since(0)
	return text
}

// Debugging messages begin with their level.
var debugging = lazyregexp.New(`^debug[123]: `)

// messages are those of one process of ssh itself. They come through a named pipe, because
// programs at the other end can write to the standard error stream, and a file could grow
// without bound.
type messages struct {
	path string
	text tail // without debugging messages

	opened   mark // the channel stands
	finished mark // the command has left an exit code
	killed   mark // a signal ended the command
	accepted mark // the user is authenticated
	entered  mark // nothing is left to do but to serve

	overridden mark         // the server opens forwarded ports to other machines
	freed      atomic.Int32 // channels that have ended

	reader *os.File
	holder *os.File // a writer, so that the pipe does not end before ssh opens it
	ended  chan struct{}
	err    error // of reading; final with ended
}

// A mark is a message that reports an event.
type mark struct {
	pattern *lazyregexp.Regexp
	found   chan struct{} // closed at the first match; only one goroutine matches
}

func newMark(pattern *lazyregexp.Regexp) mark { return mark{pattern, make(chan struct{})} }

func (m mark) match(line string) {
	if !m.isFound() && m.pattern.MatchString(line) {
		close(m.found)
	}
}

func (m mark) isFound() bool { return execution.IsClosed(m.found) }

// The messages of OpenSSH since version 5.4: of mux.c for a channel through a master, and
// of clientloop.c for its own.
var (
	saysOpened   = lazyregexp.New(`^debug\d: (mux_client_request_session: master session id: |(exec|shell|subsystem) request accepted on channel )`)
	saysFinished = lazyregexp.New(`^debug\d: (Received exit status from master |client_input_channel_req: channel \d+ rtype exit-status)`)
	saysKilled   = lazyregexp.New(`^debug\d: client_input_channel_req: channel \d+ rtype exit-signal`)
	saysAccepted = lazyregexp.New(`^Authenticated to `)
	saysEntered  = lazyregexp.New(`^debug\d: Entering interactive session`)
)

// listen makes the pipe and begins to read it.
func listen(path string) (*messages, error) {
	failed := func(err error) (*messages, error) {
		return nil, fmt.Errorf("making a pipe for what ssh says: %w", err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return failed(&os.PathError{Op: "mkfifo", Path: path, Err: err})
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return failed(err)
	}
	holder, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return failed(errors.Join(err, reader.Close()))
	}
	m := &messages{
		path: path, reader: reader, holder: holder, ended: make(chan struct{}),
		opened: newMark(saysOpened), finished: newMark(saysFinished), killed: newMark(saysKilled), accepted: newMark(saysAccepted), entered: newMark(saysEntered),
		overridden: newMark(saysOverridden),
	}
	go m.read()
	return m, nil
}

func (m *messages) read() {
	defer close(m.ended)
	source := bufio.NewReaderSize(execution.NewLateReader(m.reader), longestLine)
	rest := false // of a line that was too long
	for {
		line, err := source.ReadSlice('\n')
		if !rest && len(line) > 0 {
			m.scan(strings.TrimRight(string(line), "\r\n"))
		}
		rest = errors.Is(err, bufio.ErrBufferFull)
		switch {
		case err == nil, rest:
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded):
			return
		default:
			m.err = fmt.Errorf("reading what ssh says: %w", err)
			return
		}
	}
}

func (m *messages) scan(line string) {
	for _, mark := range []mark{m.opened, m.finished, m.killed, m.accepted, m.entered, m.overridden} {
		mark.match(line)
	}
	if saysFreed.MatchString(line) {
		m.freed.Add(1)
	}
	if !debugging.MatchString(line) {
		io.WriteString(&m.text, line+"\n") // a tail takes everything
	}
}

// finish reads what is left once the process has ended, and removes the pipe.
func (m *messages) finish() error {
	err := m.holder.Close()
	if !execution.ClosesWithin(m.ended, lastWords) {
		err = errors.Join(err, m.reader.SetReadDeadline(time.Now()))
		<-m.ended
	}
	return errors.Join(err, m.err, m.reader.Close(), os.Remove(m.path))
}
