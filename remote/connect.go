package remote

import (
	"context"
	"fmt"
)

// ConnectReason says why a place cannot be reached, in one word that scripts
// and users can branch on.
type ConnectReason string

// The reasons there are.
const (
	UnknownHost      ConnectReason = "unknown-host"      // its name means no address
	Refused          ConnectReason = "refused"           // nobody listens on the port, or the network says no
	NoAnswer         ConnectReason = "no-answer"         // nothing came back in time
	UnknownHostKey   ConnectReason = "unknown-host-key"  // not in known_hosts, and nobody accepted it
	ChangedHostKey   ConnectReason = "changed-host-key"  // known_hosts has another one: never accepted
	NotAuthenticated ConnectReason = "not-authenticated" // no way to prove who the user is was left
	BadConfiguration ConnectReason = "bad-configuration" // of ssh: unreadable, or asks for what cannot be done
	BadProtocol      ConnectReason = "bad-protocol"      // what answers does not speak as it should
	Disconnected     ConnectReason = "disconnected"      // it was there, and is gone
)

// A ConnectError says why a place cannot be reached, or no longer. It matches
// ErrUnreachable.
type ConnectError struct {
	Host   string // as the user calls it
	Reason ConnectReason
	Help   string // what the user can do; may be empty
	Err    error
}

func (e *ConnectError) Error() string {
	text := fmt.Sprintf("connecting to %s: %v", e.Host, e.Err)
	if e.Reason == Disconnected {
		text = fmt.Sprintf("the connection to %s was lost: %v", e.Host, e.Err)
	}
	if e.Help != "" {
		text += "\n" + e.Help
	}
	return text
}

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// Is reports that a ConnectError is an ErrUnreachable.
func (e *ConnectError) Is(target error) bool { return target == ErrUnreachable }

// A Prompter asks the user what a connection needs to know: a password, the
// answer of a second factor, whether a host's key is the right one.
type Prompter interface {
	// Ask returns what the user answered, without a line break. ErrNobodyToAsk
	// means that there is no user, or none who answers.
	Ask(ctx context.Context, question Question) (answer string, err error)
}

// A Question is one that a connection asks while it is made.
type Question struct {
	Host   string // which asks; its texts are not to be trusted
	Text   string // may hold several lines; control characters are to be made visible
	Secret bool   // the answer is not to be shown, logged or kept
}
