// Package remote runs commands and accesses files on this host and others.
//
// A [Connection] does so on one host. The conformance suite in remotetest ensures that all
// implementations behave the same.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/timezone"
)

// A Connection is one host where commands run and files live. Its methods may
// be called concurrently. Relative paths are relative to Home.
type Connection interface {
	// Start starts a process. Cancelling ctx afterwards ends it: a request to
	// terminate (SIGTERM), a grace period, then a kill, to its whole process
	// group; with a terminal to all processes of its session, which in the
	// middle of the grace period are hung up on (SIGHUP), as
	// interactive shells do not heed requests. An error is a *StartError; it matches ErrCommandNotFound when
	// there is no such program, fs.ErrNotExist when there is no such
	// directory, fs.ErrPermission when either may not be used, ErrUnreachable
	// when the host cannot be reached, and the context's error when ctx was
	// done before.
	Start(ctx context.Context, command Command) (Handle, error)

	// Stat, Open, WriteFile, MkdirAll, Chmod and Remove are what their namesakes of
	// package os are. Errors for absent files match fs.ErrNotExist.
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
	Open(ctx context.Context, path string) (File, error)
	// WriteFile writes a file so that no reader sees a part of it, replacing
	// what was there.
	WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error
	MkdirAll(ctx context.Context, path string, mode fs.FileMode) error
	Chmod(ctx context.Context, path string, mode fs.FileMode) error
	Remove(ctx context.Context, path string) error

	// Listen accepts connections of processes of the host, to a free port of its
	// loopback interface, which Addr returns. It ends with Close, and when ctx is done.
	// Accepted connections outlive it; their directions end one by one, with
	// CloseWrite as of *net.TCPConn. All users of the host reach the port: who
	// connected is for the caller to find out. The error is a *ListenError if the
	// host does not allow it.
	Listen(ctx context.Context) (net.Listener, error)

	// Info describes the host.
	Info() Info
	// Close ends the connection, and may be called again. Wait then returns
	// ErrUnreachable for a process of another machine.
	Close() error
}

// Info describes the host behind a connection.
type Info struct {
	Transport string // local, ssh or openssh
	User      string
	Host      string
	Home      string // absolute; where commands run when they name no directory
	System    string // name of the operating system, as uname -s prints it in lower case; may be empty
	Arch      string // may be empty
	Version   string // of the operating system; may be empty
	// Zone is the time zone, a name such as Asia/Tokyo or the offset from UTC such as
	// +0900; empty where that is the one of this machine, or not known.
	Zone string
}

// Location returns the time zone of the host, or that of this machine if it is not known.
// It may read a file, so callers that need it often keep it.
func (i Info) Location() *time.Location {
	if zone, isKnown := timezone.Load(i.Zone); isKnown {
		return zone
	}
	return time.Local
}

// A Command is a process to start. No shell sees it.
type Command struct {
	Arguments          []string          // the program first; looked up in the host's PATH unless it holds a slash
	Directory          string            // relative to Home; empty for Home itself
	Environment        map[string]string // added to, or with ReplaceEnvironment instead of, the host's own
	Unset              []string          // variables removed from the host's own environment
	ReplaceEnvironment bool
	Keep               []string  // with ReplaceEnvironment, variables of the host's own environment that stay
	Stdin              io.Reader // nil for no input; a Read under way when the process ends is not waited for
	Stdout             io.Writer // nil to discard
	Stderr             io.Writer // nil to discard; the same as Stdout to merge them in order
	Foreground         bool      // on this machine, leave the process in this process's group, so that terminal signals reach it
	Terminal           *Terminal // not nil to run on a pseudo-terminal of its own; Foreground means nothing then
	ForwardX11         bool      // let its X11 clients reach this machine's display; nothing to do for a process of this machine
}

// A Terminal describes the pseudo-terminal that a process gets. The process
// leads a session of its own. What it prints, errors included, goes to Stdout,
// and so does the echo of Stdin. The end of Stdin is typed as the end-of-file
// character (^D), after an unfinished line twice, so that a program that reads
// lines sees it. One that edits lines itself, as interactive shells do, sees it
// only when the last line was finished.
type Terminal struct {
	Type    string      // of what shows it, the value of TERM unless Environment has one; "dumb" if empty
	Size    Size        // at the start
	Resized <-chan Size // further sizes, until it is closed or the process has ended; may be nil
}

// Size is the size of a terminal, in characters, at most 65535 each.
type Size struct{ Columns, Rows int }

// A Handle controls a process that was started.
type Handle interface {
	// Wait waits until the process has ended and all its output was written,
	// and returns its exit code. A process that ended by a signal has code 128
	// plus its number. Output of processes that outlive it is waited for a
	// short time only. It may be called more than once.
	//
	// With an error the code is -1 if it is not known. A known code with an
	// error means that the process ran, but that reading Stdin or writing
	// Stdout or Stderr failed: those errors are wrapped. When the connection is
	// lost the code is -1 and the error matches ErrUnreachable: what became of
	// the process is not known. When the host does not answer a cancellation
	// within the grace period and some time more, Wait returns -1, too.
	Wait() (code int, err error)
	// Terminate ends the process as cancelling the context of Start does.
	Terminate()
	// Signal sends one signal to the process group. It is no error if the process has
	// ended.
	Signal(signal syscall.Signal) error
}

// A File is an open file for reading.
type File interface {
	io.Reader
	io.Seeker
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Errors that callers distinguish.
var (
	ErrCommandNotFound = errors.New("command not found")
	ErrUnreachable     = errors.New("cannot connect")
	ErrNobodyToAsk     = errors.New("no terminal for prompts")
)

// A StartError says which program could not be started, and why.
type StartError struct {
	Program   string
	Directory string
	Err       error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("starting %q: %v", e.Program, e.Err)
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }
