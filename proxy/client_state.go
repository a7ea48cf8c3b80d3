package proxy

import (
	"errors"
	"io"
	"slices"
)

// mostUndecodable is how many updates of a session may be undecodable before it ends.
const mostUndecodable = 5

// A clientPhase is how far a session has come.
type clientPhase uint8

const (
	clientBegins      clientPhase = iota // INIT comes next
	clientInitialized                    // INIT is answered; MODEL_DEF comes next
	clientRuns                           // MODEL_DEF is answered
	clientQuits                          // QUIT is sent
	clientEnded                          // the agent shut down
)

// Errors of commands that the session does not allow.
var (
	errNotInitialized = errors.New("the session is not initialized")
	errNotDefined     = errors.New("the agent has not sent its attributes")
	errInitialized    = errors.New("the session is initialized already")
	errStarted        = errors.New("the agent sends events already")
	errQuitting       = errors.New("the session ends")
)

// A ClientState is the client's side of a session: what it may send, and what the updates of
// the agent answer. The zero value is a session before INIT. Its methods must not be called
// at the same time.
type ClientState struct {
	Discarded int // updates with an unknown transaction
	Unknown   int // updates of an unknown kind

	phase       clientPhase
	last        uint32
	open        map[uint32]Command // by transaction
	undecodable int
}

// Begin returns a command to send, with a transaction of its own. It refuses what the
// session does not allow. StartEvents may follow StopEvents before the answer.
func (s *ClientState) Begin(id CommandID, attributes Attributes) (Command, error) {
	if err := s.allows(id); err != nil {
		return Command{}, err
	}
	if s.open == nil {
		s.open = map[uint32]Command{}
	}
	command := Command{ID: id, Transaction: s.free(), Attributes: attributes}
	s.open[command.Transaction] = command
	if id == Quit {
		s.phase = clientQuits
	}
	return command, nil
}

// free returns a transaction that is not open. Peers written in Java need one that is
// positive as a signed number.
func (s *ClientState) free() uint32 {
	for {
		s.last = s.last%(1<<31-1) + 1
		if _, taken := s.open[s.last]; !taken {
			return s.last
		}
	}
}

// allows returns why a command must not be sent now.
func (s *ClientState) allows(id CommandID) error {
	switch {
	case s.phase >= clientQuits:
		return errQuitting
	case id == Quit:
		return nil
	case id == Init && (s.phase != clientBegins || s.count(Init) > 0):
		return errInitialized
	case id == Init:
		return nil
	case s.phase == clientBegins:
		return errNotInitialized
	case id == ModelDefinition:
		return nil
	case s.phase == clientInitialized:
		return errNotDefined
	case id == StartEvents && s.count(StartEvents) > s.count(StopEvents):
		return errStarted
	}
	return nil
}

// count returns how many commands of a kind are open.
func (s *ClientState) count(id CommandID) int {
	number := 0
	for _, command := range s.open {
		if command.ID == id {
			number++
		}
	}
	return number
}

// Receive applies an update to the session. It returns the command that the update completes,
// if any, and reports whether the update belongs to the session; others are counted and must
// be ignored.
func (s *ClientState) Receive(u Update) (answered *Command, belongs bool) {
	command, isOpen := s.open[u.Transaction]
	switch u.Change {
	case Unknown:
		s.Unknown++
		return nil, false
	case Message:
		return nil, true
	case ShutDown:
		s.phase = clientEnded
		return s.complete(command, isOpen && command.ID == Quit), true
	case OK:
		if len(u.Arguments) > 0 {
			return nil, true
		}
	case SubmitError:
		isOpen = isOpen && command.ID == SubmitJob
	case TerminateError:
		isOpen = isOpen && command.ID == TerminateJob
	case Error:
	default:
		return nil, s.take(isOpen && s.asked(command, u))
	}
	if s.take(isOpen) {
		s.advance(command, u.Change)
	}
	return s.complete(command, isOpen), isOpen
}

// asked reports whether an open command asks for such an update.
func (s *ClientState) asked(command Command, u Update) bool {
	return command.ID == StartEvents || command.ID == ModelDefinition && u.Change == Defined
}

// take counts an update that does not belong to the session.
func (s *ClientState) take(belongs bool) bool {
	if !belongs {
		s.Discarded++
	}
	return belongs
}

// complete closes a command.
func (s *ClientState) complete(command Command, isOpen bool) *Command {
	if !isOpen {
		return nil
	}
	delete(s.open, command.Transaction)
	return &command
}

// advance continues the session after an answer.
func (s *ClientState) advance(command Command, change Change) {
	switch {
	case change != OK:
	case command.ID == Init && s.phase == clientBegins:
		s.phase = clientInitialized
	case command.ID == ModelDefinition && s.phase == clientInitialized:
		s.phase = clientRuns
	}
}

// Abandon stops waiting for the answer to a command. One that comes nevertheless is discarded.
func (s *ClientState) Abandon(transaction uint32) { delete(s.open, transaction) }

// Open returns the commands without an answer, in the order of their transactions.
func (s *ClientState) Open() []Command {
	commands := make([]Command, 0, len(s.open))
	for _, command := range s.open {
		commands = append(commands, command)
	}
	slices.SortFunc(commands, func(a, b Command) int { return int(int64(a.Transaction) - int64(b.Transaction)) })
	return commands
}

// Tolerate returns nil if the session continues after an error of [Reader] or [ParseUpdate],
// otherwise the error: the fifth update that cannot be decoded ends the session.
func (s *ClientState) Tolerate(err error) error {
	broken, isFrame := errors.AsType[*FrameError](err)
	if !isFrame || broken.Ends {
		return err
	}
	s.undecodable++
	if s.undecodable >= mostUndecodable {
		return err
	}
	return nil
}

// Closed returns nil if the connection may end now: agents need not answer QUIT. It returns
// [io.ErrUnexpectedEOF] otherwise.
func (s *ClientState) Closed() error {
	if s.phase >= clientQuits {
		return nil
	}
	return io.ErrUnexpectedEOF
}
