package daemon

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/remote"
)

// A Hoster runs a session in the background process until the session's process
// has ended, and returns the exit code; with an error the code is -1 if it is not
// known. The session outlives the client that started it: clients attach to it,
// detach, send input and end it meanwhile. Cancelling ctx ends the process as
// cancelling that of remote.Connection.Start does. Request is what the client
// gave to Start; only the hoster understands it.
type Hoster func(ctx context.Context, request []byte, session Hosted) (code int, err error)

// Hosted holds the streams of a session's process.
type Hosted struct {
	// Stdin is the input from attached clients and Send, in order of arrival. It ends at the
	// request of a client, and with the session.
	Stdin io.Reader
	// Stdout and Stderr go to every attached client. The last output, ringBytes of both
	// together, is kept for clients that attach later. Writes wait for slow attached clients,
	// but not for ever, and never while no client is attached.
	Stdout, Stderr io.Writer
	// Terminal is nil when the client that started the session asked for none.
	// Resized has the size of the client that sent one last.
	Terminal *remote.Terminal
	// Signals that clients send.
	Signals <-chan syscall.Signal
	// Prompter asks a client that is attached: the one that came first, then
	// the next if that one leaves or has nobody to ask.
	Prompter remote.Prompter
	// Known gives the session further names under which clients find it, such
	// as the id of its job once that is known. A name that a living session
	// has already is an error.
	Known func(names ...string) error
}

// ringBytes is how much of a session's last output is kept for clients that
// attach later.
const ringBytes = 256 << 10

// A Launch asks for a new session.
type Launch struct {
	Name     string           // under which clients find it; unique among living sessions, required
	Request  []byte           // for the hoster
	Terminal *remote.Terminal // not nil for a session on a terminal of that type and first size; Resized does not matter
	// Yields says that the session ends when the process makes room for another build, which starts it again:
	// see Options.Begin. Other sessions keep the process.
	Yields bool
}

// An Attachment is what a client attaches to a session. The zero value only
// watches for the end.
type Attachment struct {
	Stdin    io.Reader // nil to send no input; a Read under way at the end is not waited for
	EndInput bool      // the end of Stdin is the end of the session's input
	Stdout   io.Writer // nil to discard
	Stderr   io.Writer // nil to discard

	Size     remote.Size           // of the client's terminal; zero if it has none
	Resized  <-chan remote.Size    // further sizes; may be nil
	Signals  <-chan syscall.Signal // to send on; may be nil
	Prompter remote.Prompter       // answers the prompts of the session; nil without a user
}

// SessionInfo describes a living session.
type SessionInfo struct {
	Names    []string  `json:"names"` // the one it was started with first
	Since    time.Time `json:"since"`
	Attached int       `json:"attached"` // clients
	Terminal bool      `json:"terminal"` // whether the process has a terminal
}

// Errors that callers distinguish.
var (
	ErrNoSession     = errors.New("there is no such session")
	ErrSessionExists = errors.New("a session of that name is running")
	ErrLeaving       = errors.New("the background process is being replaced")
	errSessionsLive  = errors.New("the background process hosts sessions")
	ErrDetached      = errors.New("detached; the session continues")
	ErrTooSlow       = errors.New("detached: output was not read for too long; the session continues")
)

// A GoneError reports that the background process ended, or was killed, in the
// middle of something.
type GoneError struct{ Err error }

// Error implements error.
func (e *GoneError) Error() string { return "the background process has ended: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *GoneError) Unwrap() error { return e.Err }
