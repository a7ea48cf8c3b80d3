package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rmctl/rmctl/internal/ranges"
)

// Kinds of messages. Receivers ignore those that they do not know.
const (
	kindHello      = "hello"      // first in both directions
	kindProof      = "proof"      // of the end that dialed
	kindPing       = "ping"       // after some time without another message
	kindMembers    = "members"    // up: all relays at and below the sender
	kindList       = "list"       // down: of a client, answered with members
	kindAsk        = "ask"        // down
	kindPart       = "part"       // up, any number for each ask
	kindDone       = "done"       // up, after the last part
	kindCancel     = "cancel"     // down: the answer is not needed
	kindLaunch     = "launch"     // down
	kindLaunched   = "launched"   // up
	kindListen     = "listen"     // down: accept further relays
	kindListening  = "listening"  // up
	kindRedirect   = "redirect"   // down: connect to another relay
	kindRegister   = "register"   // of a process to the relay of its host
	kindRegistered = "registered" // the relay knows it
	kindOpened     = "opened"     // to a process: what follows passes to rmctl
	kindRefused    = "refused"    // to a process: there is no stream
	kindBye        = "bye"        // up: the sender ends as planned
)

// Bounds of received messages.
const (
	mostLineBytes      = 8 << 20
	mostHandshakeBytes = 4 << 10
	mostNoiseLines     = 1000
	mostMembers        = 1 << 16
	mostNameBytes      = 1 << 10 // of a node, a namespace, a kind
	mostProblemBytes   = 2 << 10
	mostLaunches       = 1 << 14
)

// A message is one line of the protocol.
type message struct {
	Kind string `json:"type"`
	ID   string `json:"id,omitempty"` // of the question or launch

	Role   string `json:"role,omitempty"` // of the end that dialed
	Nonce  string `json:"nonce,omitempty"`
	Proof  string `json:"proof,omitempty"`
	Insist bool   `json:"insist,omitempty"` // no redirect works

	Members []Member `json:"members,omitempty"`
	Height  int      `json:"height,omitempty"` // of the tree below the sender

	Topic      string            `json:"topic,omitempty"` // kind of the question
	Ranks      *string           `json:"ranks,omitempty"`
	Body       json.RawMessage   `json:"body,omitempty"`
	Timeout    int64             `json:"timeout,omitempty"` // in milliseconds
	Namespace  string            `json:"namespace,omitempty"`
	Nodes      []string          `json:"nodes,omitempty"`
	Problem    string            `json:"problem,omitempty"`
	Launches   []Launch          `json:"launches,omitempty"`
	FromNodes  bool              `json:"fromNodes,omitempty"`
	Problems   map[string]string `json:"problems,omitempty"` // by node
	Addresses  []string          `json:"addresses,omitempty"`
	Registered *RankProcess      `json:"registered,omitempty"`
}

// encode returns a message as a line.
func encode(m message) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		return nil, err
	}
	if line.Len() > mostLineBytes {
		return nil, fmt.Errorf("message of %d bytes is longer than %d", line.Len(), mostLineBytes)
	}
	return line.Bytes(), nil
}

// decode reads a line, and checks what other parts rely on.
func decode(line []byte) (message, error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return message{}, fmt.Errorf("invalid message: %w", err)
	}
	if problem := m.check(); problem != "" {
		return message{}, errors.New("invalid message: " + problem)
	}
	if m.Problem != "" {
		m.Problem = OneLine(m.Problem)
	}
	return m, nil
}

// check returns the problem of a message, or "".
func (m message) check() string {
	switch {
	case m.Kind == "":
		return "no type"
	case longest(m.Kind, m.ID, m.Topic, m.Namespace, m.Role, m.Nonce, m.Proof) > mostNameBytes:
		return "a name is too long"
	case max(len(m.Members), len(m.Nodes), len(m.Problems)) > mostMembers:
		return "too many nodes"
	case len(m.Launches) > mostLaunches:
		return "too many launches"
	case m.Timeout < 0 || m.Timeout > mostTimeout.Milliseconds():
		return "timeout out of range"
	case m.Height < 0 || m.Height > mostHeight:
		return "too many levels of relays"
	}
	if m.Ranks != nil && *m.Ranks != "" {
		if _, isSet := ranges.Parse(*m.Ranks); !isSet {
			return "invalid ranks"
		}
	}
	return ""
}

func longest(texts ...string) int {
	most := 0
	for _, text := range texts {
		most = max(most, len(text))
	}
	return most
}

// ranks returns the ranks that a message names, and whether it names any set.
func (m message) ranks() (set ranges.Set, isNamed bool) {
	if m.Ranks == nil {
		return nil, false
	}
	set, _ = ranges.Parse(*m.Ranks)
	return set, true
}

// groupText is a Group as messages hold it.
type groupText struct {
	Namespace string `json:"namespace,omitempty"`
	Variable  string `json:"variable,omitempty"`
	Ranks     string `json:"ranks"`
}

// MarshalJSON implements [json.Marshaler].
func (g Group) MarshalJSON() ([]byte, error) {
	return json.Marshal(groupText{g.Namespace, g.Variable, g.Ranks.String()})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (g *Group) UnmarshalJSON(data []byte) error {
	var text groupText
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	parsed, isSet := ranges.Parse(text.Ranks)
	if !isSet && text.Ranks != "" {
		return fmt.Errorf("invalid ranks %.40q", text.Ranks)
	}
	if parsed.Count() > mostRanks {
		return errors.New("too many ranks")
	}
	*g = Group{text.Namespace, text.Variable, parsed}
	return nil
}
