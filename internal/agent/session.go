package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// A session serves one client. The goroutine of run owns all fields except channels and counters.
type session struct {
	options Options
	begun   time.Time
	life    context.Context
	end     context.CancelCauseFunc
	work    sync.WaitGroup // commands of the scheduler, and watch

	commands  chan received
	unhandled chan struct{}     // semaphore for commands that run has not received yet
	changed   chan struct{}     // signals a newer snapshot of the model
	outcomes  chan func() error // completions of commands, called by run
	outgoing  chan proxy.Frame
	closing   chan struct{} // closed when the session is about to end; no more changes are sent
	expired   chan struct{} // closed when the connection must end, even with unsent data
	close     func()        // closes closing now and expired some time later
	workers   chan struct{} // semaphore for commands of the scheduler

	protocol  proxy.AgentState
	peer      peer
	ids       *ids
	names     submissionNames
	sent      *model.Manager  // state known to the client; nil before the first announcement
	isHidden  map[string]bool // ids of jobs that a returning client knows already
	defined   map[string]bool // attributes with a definition that was sent
	lastEvent int64           // last event sent in this announcement; negative without one
	renewed   []string        // ids of jobs with processes to announce again
	printer   printer

	submissions map[string]*submitted // unanswered submissions by tag
	early       map[string]string     // ids of jobs announced before the model has them, by tag
}

func newSession(ctx context.Context, o Options) *session {
	s := &session{options: o, begun: time.Now(), commands: make(chan received, mostUnhandled), unhandled: make(chan struct{}, mostUnhandled), changed: make(chan struct{}), outcomes: make(chan func() error),
		outgoing: make(chan proxy.Frame), closing: make(chan struct{}), expired: make(chan struct{}), workers: make(chan struct{}, mostWorkers),
		peer: peer{old: o.Old}, defined: map[string]bool{}, printer: printer{jobs: map[string]bool{}}, lastEvent: -1, submissions: map[string]*submitted{}, early: map[string]string{}}
	s.life, s.end = context.WithCancelCause(context.WithoutCancel(ctx))
	s.close = sync.OnceFunc(func() {
		close(s.closing)
		time.AfterFunc(quitLimit, func() { close(s.expired) })
	})
	return s
}

// Limits for commands that wait during an announcement, so that QUIT can be read meanwhile.
const (
	mostUnhandled = 16
	bytesOfPart   = 64 << 10
)

// A received is a command with its weight in the semaphore.
type received struct {
	proxy.Command
	parts int
}

// Reasons for the end of a session.
var (
	errQuit = errors.New("the client quit")
	errSlow = errors.New("the client did not read the last updates in time")

	errClosing = errors.New("the session is about to end") // the next command or outcome has the reason
)

// read reads commands. The end of the stream counts as QUIT.
func (s *session) read(r io.Reader) {
	reader := proxy.NewReader(r)
	unread := 0
	for {
		frame, err := reader.Read()
		if broken, isFrame := errors.AsType[*proxy.FrameError](err); isFrame && !broken.Ends && unread < mostUnread {
			unread++
			s.options.Log.Warn("a frame of the client cannot be read", "error", broken)
			continue
		}
		if err != nil {
			s.trace(proxy.Line{Closed: true})
			if errors.Is(err, io.EOF) {
				err = errQuit
			}
			s.close()
			s.pass(func() error { return err })
			return
		}
		s.trace(proxy.Line{Frame: frame})
		command := proxy.ParseCommand(frame)
		if command.ID == proxy.Quit {
			s.close()
		}
		if !s.enqueue(command, frame) {
			return
		}
	}
}

// enqueue queues a command. It waits while the queue is full and reports false if the session ends
// meanwhile.
func (s *session) enqueue(command proxy.Command, frame proxy.Frame) bool {
	size := 0
	for _, argument := range frame.Arguments {
		size += len(argument)
	}
	parts := min(1+size/bytesOfPart, mostUnhandled)
	for range parts {
		select {
		case s.unhandled <- struct{}{}:
		case <-s.life.Done():
			return false
		}
	}
	s.commands <- received{command, parts}
	return true
}

// pass makes the goroutine of run call a function.
func (s *session) pass(outcome func() error) {
	select {
	case s.outcomes <- outcome:
	case <-s.life.Done():
	}
}

// watch signals changes of the model. While updates are sent it stays silent: the next comparison
// includes all changes.
func (s *session) watch() {
	last := s.options.Model.Snapshot()
	for {
		next, err := s.options.Model.Next(s.life, last)
		if err != nil {
			return
		}
		last = next
		select {
		case s.changed <- struct{}{}:
		case <-s.life.Done():
			return
		}
	}
}

// write sends frames.
func (s *session) write(w io.Writer, written chan<- struct{}) {
	defer close(written)
	writer := proxy.NewWriter(w)
	for frame := range s.outgoing {
		if err := writer.Write(frame); err != nil {
			s.end(fmt.Errorf("sending to the client: %w", err))
			return
		}
	}
	s.trace(proxy.Line{FromAgent: true, Closed: true})
}

// send sends updates. It waits for a client that does not read.
func (s *session) send(updates ...proxy.Update) error {
	for _, update := range updates {
		if err := s.deliver(update.Frame(), nil); err != nil {
			return err
		}
	}
	return nil
}

// deliver passes a frame to the writer unless the session is closing.
func (s *session) deliver(frame proxy.Frame, closing <-chan struct{}) error {
	select {
	case s.outgoing <- frame:
		s.trace(proxy.Line{FromAgent: true, Frame: frame})
	case <-closing:
		return errClosing
	case <-s.expired:
		return errSlow
	case <-s.life.Done():
		return context.Cause(s.life)
	}
	return nil
}

func (s *session) trace(line proxy.Line) {
	if s.options.Trace == nil {
		return
	}
	if err := s.options.Trace(line); err != nil {
		s.options.Log.Warn("writing the trace", "error", err)
	}
}

// run serves the client until the session ends.
func (s *session) run() error {
	for {
		var err error
		select {
		case command := <-s.commands:
			for range command.parts {
				<-s.unhandled
			}
			err = s.handle(command.Command)
		case outcome := <-s.outcomes:
			err = outcome()
		case <-s.changed:
			err = s.follow()
		case <-s.life.Done():
			err = context.Cause(s.life)
		}
		switch {
		case errors.Is(err, errQuit):
			return nil
		case err != nil && !errors.Is(err, errClosing):
			return err
		}
	}
}

// shutDown ends the session as QUIT does.
func (s *session) shutDown() error {
	replies, _ := s.protocol.Receive(proxy.Command{ID: proxy.Quit})
	return cmp.Or(s.send(replies...), errQuit)
}

// handle executes or starts a command.
func (s *session) handle(command proxy.Command) error {
	if refusal := s.refuse(command); refusal != "" {
		return s.send(command.Refuse(codeInit, refusal))
	}
	if command.ID == proxy.StopEvents {
		if err := s.suspend(); err != nil {
			return err
		}
	}
	replies, isAccepted := s.protocol.Receive(command)
	if isAccepted && command.ID == proxy.Init {
		s.begin(command)
	}
	if err := s.send(replies...); err != nil || !isAccepted {
		return err
	}
	switch command.ID {
	case proxy.ModelDefinition:
		s.define(command)
	case proxy.StartEvents:
		return s.startEvents(command)
	case proxy.StopEvents:
		return s.settle()
	case proxy.SubmitJob:
		return s.submit(command)
	case proxy.TerminateJob, proxy.ChangeJob, proxy.MoveJob:
		return s.operate(command)
	case proxy.FilterEvents:
		return s.answer(command, errors.New("events cannot be filtered"))
	case proxy.Quit:
		return errQuit
	}
	return nil
}

// Error codes of the agents of Eclipse PTP.
const (
	codeProtocol = 2
	codeInit     = 1200
	codeSubmit   = 1202
	codeJob      = 1203
)

// highestBase leaves room for ids of elements.
const highestBase = 1 << 62

// refuse returns the reason to refuse an INIT that the protocol allows.
func (s *session) refuse(command proxy.Command) string {
	if command.ID != proxy.Init || s.ids != nil {
		return ""
	}
	text, _ := command.Attributes.Value("baseId")
	base, err := strconv.ParseUint(text, 10, 64)
	if err == nil && base > highestBase {
		return fmt.Sprintf("base ID %d is too large", base)
	}
	return ""
}

// begin starts a session. Each client without a session name gets a new one.
func (s *session) begin(command proxy.Command) {
	text, _ := command.Attributes.Value("baseId")
	base, _ := strconv.ParseUint(text, 10, 64) // valid, otherwise INIT would be refused
	s.ids = newIDs(base)
	key, isNamed := command.Attributes.Value(proxy.SessionAttribute)
	if !isNamed || key == "" {
		key = uuid.NewString()
	}
	s.peer.isOwn = isNamed
	s.names = newSubmissionNames(key, s.options.Manager)
}

// answer completes a command with OK or an error.
func (s *session) answer(command proxy.Command, err error) error {
	if !s.protocol.Complete(command.Transaction) {
		return nil
	}
	if err == nil {
		return s.send(proxy.Update{Change: proxy.OK, Transaction: command.Transaction})
	}
	return s.send(command.Refuse(codeOf(command), err.Error()))
}

func codeOf(command proxy.Command) int {
	switch command.ID {
	case proxy.SubmitJob:
		return codeSubmit
	case proxy.TerminateJob, proxy.ChangeJob, proxy.MoveJob:
		return codeJob
	}
	return codeProtocol
}

// perform runs a function in another goroutine, then calls done in that of run. The function continues
// even if the client quits.
func (s *session) perform(do func(context.Context), done func() error) {
	ctx := context.WithoutCancel(s.life)
	s.work.Go(func() {
		s.workers <- struct{}{}
		do(ctx)
		<-s.workers
		s.pass(done)
	})
}
