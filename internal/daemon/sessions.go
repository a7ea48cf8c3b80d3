package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/execution"
)

// Bounds of sessions.
const (
	mostSessions = 64
	mostNames    = 8
	longestName  = 256
)

// sessions are the sessions that the process hosts.
type sessions struct {
	ctx    context.Context
	hoster Hoster
	log    *slog.Logger

	mutex     sync.Mutex
	byName    map[string]*session
	isLeaving bool // for another build
	hosted    sync.WaitGroup
}

// session is one hosted session.
type session struct {
	*execution.Run
	sessions     *sessions
	ring         *ring
	clients      waiters      // attached, and able to answer prompts
	instructions instructions // of all clients

	input       *io.PipeReader
	inputWriter *io.PipeWriter

	hasTerminal bool
	yields      bool

	// Of the mutex of sessions.
	names    []string
	since    time.Time
	attached int
}

func newSessions(ctx context.Context, o Options) *sessions {
	return &sessions{ctx: ctx, hoster: o.Hoster, log: o.Log, byName: map[string]*session{}}
}

// close ends all sessions and waits for their ends.
func (s *sessions) close() {
	for _, one := range s.living() {
		one.Terminate()
	}
	s.hosted.Wait()
}

func (s *sessions) count() int { return len(s.living()) }

// isKept reports whether a session keeps the process from making room for another build.
func (s *sessions) isKept() bool {
	return slices.ContainsFunc(s.living(), func(one *session) bool { return !one.yields })
}

// yield ends the sessions that the next process starts again, and refuses further ones.
func (s *sessions) yield() {
	s.mutex.Lock()
	s.isLeaving = true
	s.mutex.Unlock()
	for _, one := range s.living() {
		if one.yields {
			one.Terminate()
		}
	}
}

// begin starts sessions that no client asked for.
func (s *sessions) begin(launches []Launch) {
	for _, launch := range launches {
		_, host, err := s.start(request{Name: launch.Name, Launch: launch.Request, Yields: launch.Yields})
		if errors.Is(err, ErrSessionExists) { // a client was faster
			continue
		}
		if err != nil {
			s.log.Warn("starting a session failed", "session", launch.Name, "error", err)
			continue
		}
		host()
	}
}

// living returns the sessions, oldest first.
func (s *sessions) living() []*session {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var living []*session
	for _, one := range s.byName {
		if !slices.Contains(living, one) {
			living = append(living, one)
		}
	}
	slices.SortFunc(living, func(a, b *session) int { return a.since.Compare(b.since) })
	return living
}

func (s *sessions) find(name string) (*session, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if found := s.byName[name]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%q: %w", name, ErrNoSession)
}

// name gives a session a name.
func (s *sessions) name(one *session, name string) error {
	if name == "" || len(name) > longestName || !utf8.ValidString(name) {
		return fmt.Errorf("invalid session name %q: use 1 to %d bytes of UTF-8", name, longestName)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch known := s.byName[name]; {
	case known == one:
		return nil
	case one.yields && s.isLeaving:
		return ErrLeaving
	case known != nil:
		return fmt.Errorf("%q: %w", name, ErrSessionExists)
	case len(one.names) >= mostNames:
		return fmt.Errorf("a session has at most %d names", mostNames)
	case len(s.byName) >= mostSessions*mostNames:
		return errors.New("too many sessions")
	}
	s.byName[name] = one
	one.names = append(one.names, name)
	return nil
}

// start makes a session, which runs once host is called.
func (s *sessions) start(request request) (one *session, host func(), err error) {
	if s.hoster == nil {
		return nil, nil, errors.New("the background process hosts no sessions")
	}
	if err := s.ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrLeaving, err)
	}
	if s.count() >= mostSessions {
		return nil, nil, fmt.Errorf("limit of %d sessions reached", mostSessions)
	}
	ctx, run := execution.NewRun(s.ctx)
	one = &session{Run: run, sessions: s, ring: newRing(slowPatience), since: time.Now(), instructions: newInstructions(), hasTerminal: request.Terminal != nil, yields: request.Yields}
	one.input, one.inputWriter = io.Pipe()
	err = s.name(one, request.Name)
	if err != nil {
		run.Terminate()
		return nil, nil, err
	}
	hosted := Hosted{
		Stdin: one.input, Stdout: ringWriter{one.ring, streamOutput}, Stderr: ringWriter{one.ring, streamErrors},
		Terminal: request.Terminal.unpack(one.instructions.resized), Signals: one.instructions.signals, Prompter: &one.clients,
		Known: func(names ...string) error {
			for _, further := range names {
				if err := s.name(one, further); err != nil {
					return err
				}
			}
			return nil
		},
	}
	return one, func() { s.hosted.Go(func() { one.host(ctx, request.Launch, hosted) }) }, nil
}

// host runs the session to its end.
func (o *session) host(ctx context.Context, request []byte, hosted Hosted) {
	code, err := o.sessions.hoster(ctx, request, hosted)
	o.sessions.log.Info("session ended", "code", code)
	o.sessions.mutex.Lock()
	for _, name := range o.names {
		delete(o.sessions.byName, name)
	}
	o.sessions.mutex.Unlock()
	o.inputWriter.CloseWithError(io.ErrClosedPipe) // never fails
	o.input.CloseWithError(io.ErrClosedPipe)
	o.End(code, err)
	o.ring.finish()
}

// info describes the session.
func (o *session) info() SessionInfo {
	o.sessions.mutex.Lock()
	defer o.sessions.mutex.Unlock()
	return SessionInfo{Names: slices.Clone(o.names), Since: o.since, Attached: o.attached, Terminal: o.hasTerminal}
}

// count adds to the clients that are attached.
func (o *session) count(clients int) {
	o.sessions.mutex.Lock()
	defer o.sessions.mutex.Unlock()
	o.attached += clients
}

func (s *sessions) list(_ context.Context, c *conversation) error {
	list := []SessionInfo{}
	for _, one := range s.living() {
		list = append(list, one.info())
	}
	return c.answer(list)
}

// launch starts a session, and attaches the client to it.
func (s *sessions) launch(ctx context.Context, c *conversation) error {
	if c.request.Attach {
		return c.attach(ctx, func() (*session, func(), error) { return s.start(c.request) })
	}
	_, host, err := s.start(c.request)
	if err != nil {
		return err
	}
	host()
	return c.answer()
}

func (s *sessions) attach(ctx context.Context, c *conversation) error {
	return c.attach(ctx, func() (*session, func(), error) {
		one, err := s.find(c.request.Name)
		return one, func() {}, err
	})
}

// longestInput is how many bytes Send takes.
const longestInput = 1 << 20

// send writes the client's input to a session.
func (s *sessions) send(ctx context.Context, c *conversation) error {
	one, err := s.find(c.request.Name)
	if err != nil {
		return err
	}
	if len(c.request.Content) > longestInput {
		return fmt.Errorf("the input is longer than %d bytes", longestInput)
	}
	// A session that does not read must not hold up the end of a client that left.
	written := make(chan error, 1)
	s.hosted.Go(func() {
		_, err := one.inputWriter.Write(c.request.Content)
		written <- err
	})
	select {
	case err := <-written:
		if err != nil {
			return fmt.Errorf("the session accepts no more input: %w", err)
		}
		return c.answer()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endOne ends a session and waits until it has ended.
func (s *sessions) endOne(ctx context.Context, c *conversation) error {
	one, err := s.find(c.request.Name)
	if err != nil {
		return err
	}
	one.Terminate()
	select {
	case <-one.Done:
		return c.answer()
	case <-ctx.Done():
		return ctx.Err()
	}
}
