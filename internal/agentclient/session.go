// Package agentclient is the client's side of the proxy protocol. A session starts an agent, keeps a
// model up to date from its events, and submits and operates jobs. DESIGN.md describes how it handles
// agents that violate the protocol.
package agentclient

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

// Limits of waiting.
const (
	answerLimit  = 30 * time.Second       // default for each answer
	quitPatience = 500 * time.Millisecond // after QUIT, before the agent is terminated
)

// Features between two rmctl ends.
const (
	featureDetails    = "details"    // states and attributes of the model
	featureOperations = "operations" // hold, release, suspend, resume, move
	featureResume     = "resume"     // a returning client sends the last event it saw
)

// baseID is the first id of elements.
const baseID = 1 << 24

// Options configure the agent to start.
type Options struct {
	Connection  remote.Connection
	Agent       []string          // program and arguments; TCP appends --proxy, --host and --port
	Directory   string            // of the agent's process; empty for the home directory
	Environment map[string]string // added to the host's environment
	Proxy       string            // Stdio, also if empty, or TCP

	// Listen returns a listener that the agent's machine can connect to, with TCP.
	Listen func(ctx context.Context) (net.Listener, error)
	// CheckPeer returns an error if a connected process is not the agent; nil accepts any.
	CheckPeer func(ctx context.Context, conn net.Conn) error

	Session  string           // id of this client, the same in all its sessions; generated if empty
	Resume   *State           // from the previous session; may be nil
	Manager  string           // id of the resource manager in a new model; "agent" if empty
	Features []string         // permitted features; nil for all
	Trace    func(proxy.Line) // called for each message; may be nil
	Log      *slog.Logger     // receives the agent's lines, bounded and printable; may be nil
	Limit    time.Duration    // for each answer; 0 for 30 seconds
}

// A Session is a connection to an agent and the model that it keeps up to date. Its methods
// may be called concurrently.
type Session struct {
	options Options
	state   *State
	report  *reporter
	stream  *stream
	queue   *queue
	life    context.Context
	cancel  context.CancelCauseFunc
	work    sync.WaitGroup // reads and writes

	outgoing  chan proxy.Command
	announced chan struct{} // signals the start of an announcement
	listed    chan struct{} // closed when the first announcement looks complete
	done      chan struct{}
	err       error // read after done

	canResume atomic.Bool // whether the agent leaves out jobs that had ended before the last event

	mu        sync.Mutex
	protocol  proxy.ClientState
	waiting   map[uint32]chan proxy.Update // for answers
	isQuiting bool
}

// Start starts an agent and a session with it. It returns once it has requested events; [Session.Listed]
// waits for them. Errors are *EndedError. The session ends with [Session.Close], or abruptly when ctx is
// done.
func Start(ctx context.Context, options Options) (*Session, error) {
	options.Session = cmp.Or(options.Session, uuid.NewString())
	options.Limit = cmp.Or(options.Limit, answerLimit)
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	s := &Session{options: options, state: options.Resume, report: &reporter{log: options.Log}, queue: newQueue(),
		outgoing: make(chan proxy.Command), announced: make(chan struct{}, 1), listed: make(chan struct{}), done: make(chan struct{}),
		waiting: map[uint32]chan proxy.Update{}}
	if s.state == nil {
		s.state = newState(cmp.Or(options.Manager, "agent"))
	}
	s.life, s.cancel = context.WithCancelCause(ctx)
	s.state.begin(options.Session, s.report)
	stream, err := s.options.connect(s.life, s.report)
	if err != nil {
		err = &EndedError{err, s.report.last(quotedLines)}
		s.state.end(err.Error())
		s.cancel(err)
		return nil, err
	}
	s.stream = stream
	s.work.Go(s.read)
	s.work.Go(s.write)
	go s.run()
	if err := s.open(ctx); err != nil {
		s.cancel(err)
		<-s.done
		if _, isEnded := errors.AsType[*EndedError](err); !isEnded {
			err = &EndedError{err, s.report.last(quotedLines)}
		}
		return nil, err
	}
	return s, nil
}

// quotedLines is the number of the agent's lines quoted in an error.
const quotedLines = 5

// open performs the initial exchange of a session.
func (s *Session) open(ctx context.Context) error {
	attributes := proxy.Attributes{{ID: "version", Value: proxy.Version}, {ID: "baseId", Value: strconv.Itoa(baseID)},
		{ID: proxy.SessionAttribute, Value: s.options.Session}}
	if _, err := s.ask(ctx, proxy.Init, attributes); err != nil {
		return err
	}
	if _, err := s.ask(ctx, proxy.ModelDefinition, nil); err != nil {
		return err
	}
	wanted := s.options.Features
	if wanted == nil {
		wanted = []string{featureDetails, featureOperations, featureResume}
	}
	s.state.agree(wanted)
	return s.startEvents(ctx)
}

// startEvents requests events. The answer comes when they stop.
func (s *Session) startEvents(ctx context.Context) error {
	last := s.state.announce()
	var attributes proxy.Attributes
	if features := s.Features(); len(features) > 0 {
		attributes = append(attributes, proxy.Attribute{ID: proxy.FeaturesAttribute, Value: strings.Join(features, ",")})
	}
	if last > 0 {
		attributes = append(attributes, proxy.Attribute{ID: proxy.LastEventAttribute, Value: strconv.FormatUint(last, 10)})
	}
	s.mu.Lock()
	command, err := s.protocol.Begin(proxy.StartEvents, attributes)
	s.mu.Unlock()
	s.canResume.Store(last > 0)
	if err != nil {
		return err
	}
	execution.Offer(s.announced, struct{}{})
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Limit, &NoAnswerError{command.Name(), s.options.Limit})
	defer cancel()
	return s.send(ctx, command)
}

// send passes a command to the goroutine that writes.
func (s *Session) send(ctx context.Context, command proxy.Command) error {
	select {
	case s.outgoing <- command:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.done:
		return s.ended()
	}
}

// ask sends a command and waits for its answer. The error is a *RefusedError, a *NoAnswerError, that of
// ctx, or the reason for the end of the session.
func (s *Session) ask(ctx context.Context, id proxy.CommandID, attributes proxy.Attributes) (proxy.Update, error) {
	answer := make(chan proxy.Update, 1)
	s.mu.Lock()
	command, err := s.protocol.Begin(id, attributes)
	if err == nil {
		s.waiting[command.Transaction] = answer
	}
	s.mu.Unlock()
	if err != nil {
		return proxy.Update{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Limit, &NoAnswerError{command.Name(), s.options.Limit})
	defer cancel()
	if err = s.send(ctx, command); err == nil {
		select {
		case update := <-answer:
			return update, refusal(command, update)
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-s.done:
			select {
			case update := <-answer: // the agent disconnected after it
				return update, refusal(command, update)
			default:
				err = s.ended()
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, command.Transaction)
	s.protocol.Abandon(command.Transaction)
	return proxy.Update{}, err
}

// read reads what the agent sends.
func (s *Session) read() {
	reader := proxy.NewReader(s.stream)
	for {
		frame, err := reader.Read()
		if err != nil {
			if err = s.tolerate(err); err != nil {
				s.trace(proxy.Line{FromAgent: true, Closed: true})
				s.queue.close(err)
				return
			}
			continue
		}
		s.trace(proxy.Line{FromAgent: true, Frame: frame})
		update, err := proxy.ParseUpdate(frame)
		if broken, isFrame := errors.AsType[*proxy.FrameError](err); isFrame {
			if s.broken(broken); !broken.Ends {
				continue // agents send such events about single jobs
			}
			s.queue.close(err)
			return
		}
		if !s.queue.put(update, weightOf(frame, update)) {
			return
		}
	}
}

// tolerate returns nil if the session can continue after an invalid frame.
func (s *Session) tolerate(err error) error {
	if broken, isFrame := errors.AsType[*proxy.FrameError](err); isFrame {
		s.broken(broken)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.protocol.Tolerate(err)
}

// broken counts and logs invalid frames.
func (s *Session) broken(err *proxy.FrameError) {
	if s.report.count(oddEvent, 1); !err.Ends {
		s.report.line(err.Error())
	}
}

// weightOf returns the approximate memory of a frame, and more for an event about many elements: a frame
// of 60 bytes can take 0.1 s, and commands wait for all queued events.
func weightOf(frame proxy.Frame, update proxy.Update) int {
	weight := 100
	for _, argument := range frame.Arguments {
		weight += len(argument) + 50
	}
	for _, group := range update.Groups {
		weight += 8 * group.IDs.Len()
	}
	return weight
}

// write writes commands.
func (s *Session) write() {
	writer := proxy.NewWriter(s.stream)
	for {
		select {
		case command := <-s.outgoing:
			frame := command.Frame()
			s.trace(proxy.Line{Frame: frame})
			if err := writer.Write(frame); err != nil {
				s.writeFailed(err)
				return
			}
		case <-s.queue.stopped:
			return
		}
	}
}

// writeFailed ends the session unless the agent has ended: then its last messages give the reason.
func (s *Session) writeFailed(err error) {
	if !errors.Is(err, io.ErrClosedPipe) {
		s.cancel(err)
	}
}

func (s *Session) trace(line proxy.Line) {
	if s.options.Trace != nil {
		s.options.Trace(line)
	}
}

// ended returns why the session ended; call it after done.
func (s *Session) ended() error {
	if s.err == nil {
		return &EndedError{Cause: errClosed}
	}
	return s.err
}

// Model returns the model, which has one resource manager. Callers must not change it.
func (s *Session) Model() *model.Model { return s.state.model }

// Manager returns the id of the resource manager.
func (s *Session) Manager() string { return s.state.manager }

// Ended returns the last state of a removed job that had ended. The newest 10,000 are kept.
func (s *Session) Ended(job string) (*model.Element, bool) { return s.state.ended.get(job) }

// Definitions returns the agent's definitions of attributes in order of arrival.
func (s *Session) Definitions() []proxy.Definition {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return slices.Clone(s.state.definitions)
}

// Features returns the features that both ends support, none unless the agent is rmctl.
func (s *Session) Features() []string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return slices.Clone(s.state.features)
}

// Report returns the anomalies so far.
func (s *Session) Report() Report {
	s.mu.Lock()
	discarded, unknown := s.protocol.Discarded, s.protocol.Unknown
	s.mu.Unlock()
	report := s.report.snapshot()
	for what, count := range map[string]int{oddTransaction: discarded, oddUnknown: unknown} {
		if count > 0 {
			report.Oddities = append(report.Oddities, Oddity{what, count})
		}
	}
	return report
}

// Done returns a channel that is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session ended; nil while it runs, and after Close.
func (s *Session) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// State returns the state for this client's next session, once this one has ended.
func (s *Session) State() *State {
	<-s.done
	return s.state
}

// Listed waits until the agent has announced its elements. An rmctl agent reports that once its scheduler
// has listed its jobs or cannot list them; Listed waits 30 seconds for it. Other agents count as finished
// when they have sent nothing for a moment.
func (s *Session) Listed(ctx context.Context) error {
	select {
	case <-s.listed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return s.ended()
	}
}
