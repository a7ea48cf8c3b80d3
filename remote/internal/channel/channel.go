// Package channel turns SSH channels, which run one command line each, into a
// [remote.Connection]. Packages ssh and openssh share it. DESIGN.md describes how.
package channel

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/rmctl/rmctl/remote"
)

// A Dialer opens channels on one host. Its methods may be called concurrently.
type Dialer interface {
	// Open runs one command line in the user's login shell, whichever that is.
	// Errors that the host causes match remote.ErrUnreachable; ErrTooManyChannels
	// reports that an open channel has to end first, ErrNoSubsystem that the host does
	// not offer a subsystem.
	Open(ctx context.Context, line string, options Options) (Channel, error)
	// Listen is that of remote.Connection. The listener ends with the connection, too.
	Listen(ctx context.Context) (net.Listener, error)
	// Ended returns a channel that is closed once an idle connection has ended; nil if
	// that cannot be noticed.
	Ended() <-chan struct{}
	// Close ends the connection with all its channels.
	Close() error
}

// Options of a channel.
type Options struct {
	Terminal   *remote.Terminal // not nil for a pseudo-terminal; its Resized is for the caller to follow
	ForwardX11 bool
	Subsystem  bool // the line is the name of a service, such as "sftp"
}

// A Channel is one running command line. Closing it ends the streams of what runs at
// the other end, and nothing else there.
type Channel interface {
	// Stdin takes what the command reads; closing it is the end of its input.
	Stdin() io.WriteCloser
	// Stdout and Stderr have to be read to their ends, at the same time. With a
	// pseudo-terminal there is nothing in Stderr.
	Stdout() io.Reader
	Stderr() io.Reader
	// Resize sends the size of the pseudo-terminal.
	Resize(size remote.Size) error
	// Signal asks the host to send a signal. Not every server does.
	Signal(signal syscall.Signal) error
	// Wait returns the exit code, 128 plus the number for a signal, once the
	// outputs were read to their ends. A connection that was lost is a
	// *remote.ConnectError with the code -1.
	Wait() (code int, err error)
	Close() error
}

// Errors that callers distinguish.
var (
	ErrTooManyChannels = errors.New("the host opens no further channel now")
	ErrNoSubsystem     = errors.New("the host does not offer that subsystem")
)
