package remote

import (
	"context"
	"fmt"
)

// ConnectReason is the reason why a host cannot be reached, for scripts and users to
// branch on.
type ConnectReason string

// The reasons.
const (
	UnknownHost      ConnectReason = "unknown-host"      // the name has no address
	Refused          ConnectReason = "refused"           // no server on the port, or the network refuses
	NoAnswer         ConnectReason = "no-answer"         // no answer in time
	UnknownHostKey   ConnectReason = "unknown-host-key"  // not in known_hosts, and not accepted
	ChangedHostKey   ConnectReason = "changed-host-key"  // known_hosts has another key; never accepted
	NotAuthenticated ConnectReason = "not-authenticated" // all methods to authenticate failed
	BadConfiguration ConnectReason = "bad-configuration" // ssh_config is unreadable or asks for something unsupported
	BadProtocol      ConnectReason = "bad-protocol"      // the other side violates the protocol
	Disconnected     ConnectReason = "disconnected"      // the connection was lost
)

// A ConnectError reports a host that cannot be reached, or no longer. It matches
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

// Unwrap returns the cause, and ErrUnreachable.
func (e *ConnectError) Unwrap() []error { return []error{ErrUnreachable, e.Err} }

// A Prompter asks the user for a password, a second factor, or whether a host's key is
// right.
type Prompter interface {
	// Ask returns the user's answer without a line break. ErrNobodyToAsk means that no
	// user is there to answer.
	Ask(ctx context.Context, question Question) (answer string, err error)
}

// A Question is asked while a connection is made.
type Question struct {
	Host   string // that asks, and may be hostile
	Text   string // may have several lines; the prompter escapes control characters
	Secret bool   // the answer must not be shown, logged or kept
}
