package proxy

import (
	"fmt"
	"strings"
)

// Error codes of the agents of Eclipse PTP.
const (
	codeProtocol = 2
	codeInit     = 1200
)

// Bounds of the commands that a client may send before their answers.
const (
	mostOpen      = 1000
	mostOpenBytes = 16 << 20 // of their attributes
)

// An AgentState is the agent's side of a session: what a command may do, and what is answered
// at once. The zero value is a session before INIT. Its methods must not be called at the
// same time.
type AgentState struct {
	Discarded int // commands with the transaction of an open one, or after QUIT

	isInitialized, isDefined, isEnded bool

	open      map[uint32]openCommand // by transaction
	openBytes int
	events    uint32 // the transaction of StartEvents
}

// An openCommand is a command without an answer.
type openCommand struct {
	id    CommandID
	bytes int
}

// Receive applies a command. It returns the updates to send at once, and reports whether the
// caller must carry out the command:
//
//   - Init, StopEvents, Quit: replies has the answer. After Quit the caller closes the connection.
//   - StartEvents: the caller sends the model and its changes, until StopEvents or Quit.
//   - all others: the caller sends the answer and calls Complete.
func (s *AgentState) Receive(c Command) (replies []Update, isAccepted bool) {
	if _, isOpen := s.open[c.Transaction]; isOpen || s.isEnded {
		s.Discarded++
		return nil, false
	}
	if code, reason := s.refuses(c); reason != "" {
		return []Update{c.Refuse(code, reason)}, false
	}
	switch c.ID {
	case Init:
		s.isInitialized = true
		return []Update{{Change: OK, Transaction: c.Transaction}}, true
	case StopEvents:
		return append(s.endEvents(), Update{Change: OK, Transaction: c.Transaction}), true
	case Quit:
		s.isEnded = true
		return append(s.endEvents(), Update{Change: ShutDown, Transaction: c.Transaction}), true
	case ModelDefinition:
		s.isDefined = true
	case StartEvents:
		s.events = c.Transaction
	}
	if s.open == nil {
		s.open = map[uint32]openCommand{}
	}
	opened := openCommand{c.ID, c.Attributes.size()}
	s.open[c.Transaction] = opened
	s.openBytes += opened.bytes
	return nil, true
}

// refuses returns why the session does not allow a command.
func (s *AgentState) refuses(c Command) (code int, reason string) {
	switch {
	case c.ID == Quit:
		return 0, ""
	case c.ID == Init:
		return codeInit, s.refusesInit(c)
	case c.ID == UnknownCommand:
		return codeProtocol, fmt.Sprintf("unknown command %04x", c.Code)
	case !s.isInitialized:
		return codeProtocol, c.Name() + " before INIT"
	case c.ID == StopEvents:
		return 0, ""
	case len(s.open) >= mostOpen:
		return codeProtocol, fmt.Sprintf("%d commands are not answered yet", mostOpen)
	case s.openBytes > 0 && s.openBytes+c.Attributes.size() > mostOpenBytes:
		return codeProtocol, "commands with more than 16 MiB are not answered yet"
	case c.ID == ModelDefinition:
		return 0, ""
	case !s.isDefined:
		return codeProtocol, c.Name() + " before MODEL_DEF"
	}
	if _, isOpen := s.Events(); isOpen && c.ID == StartEvents {
		return codeProtocol, "events have been started already"
	}
	return 0, ""
}

// refusesInit returns why the session cannot be initialized.
func (s *AgentState) refusesInit(c Command) string {
	version, _ := c.Attributes.Value("version")
	base, _ := c.Attributes.Value("baseId")
	_, isNumber := parseNumber(base)
	switch {
	case s.isInitialized:
		return "Proxy already initialized"
	case !strings.HasPrefix(version, "2.") && !strings.HasPrefix(version, "4."):
		return fmt.Sprintf("version %q is not supported, only %s", excerpt(version), Version)
	case base == "":
		return "No base ID supplied"
	case !isNumber:
		return fmt.Sprintf("base ID %q is not a number", excerpt(base))
	}
	return ""
}

// endEvents completes StartEvents.
func (s *AgentState) endEvents() []Update {
	transaction, isOpen := s.Events()
	if !isOpen {
		return nil
	}
	s.complete(transaction)
	return []Update{{Change: OK, Transaction: transaction}}
}

// complete closes a command.
func (s *AgentState) complete(transaction uint32) {
	s.openBytes -= s.open[transaction].bytes
	delete(s.open, transaction)
}

// Events returns the transaction that changes of the model carry, and whether the client
// wants them now.
func (s *AgentState) Events() (transaction uint32, isOpen bool) {
	opened, isOpen := s.open[s.events]
	return s.events, isOpen && opened.id == StartEvents
}

// Complete closes a command that the caller answers, and reports whether it was open:
// after Quit none is, and no answer may be sent.
func (s *AgentState) Complete(transaction uint32) bool {
	opened, isOpen := s.open[transaction]
	if !isOpen || opened.id == StartEvents || s.isEnded {
		return false
	}
	s.complete(transaction)
	return true
}
