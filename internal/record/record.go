// Package record records the commands that run on a connection, and writes them as cases
// and flows, with placeholders for names of persons and places.
package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/remote"
)

// The limits of a recorder: bytes of one stream, and number of commands, about a day of
// waiting.
const (
	MaxOutput   = 16 << 20
	maxInput    = 1 << 20
	MaxCommands = 10_000
)

// A Recorder is a connection that records the input and output of its commands, and passes
// everything on to the connection that it wraps. Its methods may be called concurrently.
type Recorder struct {
	remote.Connection

	lock     sync.Mutex
	recorded []*recording
	attached int
	dropped  int
}

// New returns a recorder that wraps a connection.
func New(connection remote.Connection) *Recorder { return &Recorder{Connection: connection} }

// A Recorded is a recorded command.
type Recorded struct {
	Command     *config.Command        // nil for one that ran before or after another, or for no definition
	Key         string                 // of the job's attribute; for a submission its tag; empty for none
	Job         string                 // the scheduler's id of the job that it was run for; empty for none
	Before      *attribute.Environment // the attributes before it, without the job's; nil as Command
	Arguments   []string
	Directory   string
	Environment map[string]string // variables set for it, in addition to those of the place
	Stdin       []byte
	Stdout      []byte
	Stderr      []byte
	Cut         []string // truncated streams
	Exit        int      // 128 plus the signal that ended it; -1 if unknown
	Missing     bool     // there was no such program
	Failure     error    // it could not be started, or its end is unknown
	Started     time.Time
	Duration    time.Duration
}

// Commands returns the commands in the order in which they started. It includes running
// ones with their output so far and an exit code of -1.
func (r *Recorder) Commands() []Recorded {
	r.lock.Lock()
	defer r.lock.Unlock()
	commands := make([]Recorded, 0, len(r.recorded))
	for _, one := range r.recorded {
		commands = append(commands, one.snapshot())
	}
	return commands
}

// CommandsOf returns the recorded commands of a definition, including those that ran
// before and after them, whose definition is unknown.
func (r *Recorder) CommandsOf(definition *config.Definition) []Recorded {
	return slices.DeleteFunc(r.Commands(), func(one Recorded) bool { return one.Command != nil && !isOf(definition, one.Command) })
}

func isOf(definition *config.Definition, wanted *config.Command) bool {
	isNeeded := func(c *config.Command) bool {
		return c == wanted || slices.Contains(slices.Collect(maps.Values(c.Needed())), wanted)
	}
	return slices.ContainsFunc(definition.Commands, func(c *config.Command) bool {
		return isNeeded(c) || slices.ContainsFunc(c.Fallbacks, isNeeded)
	})
}

// Attached returns the number of commands that were attached to the terminal. They are not
// recorded: what a person types and reads is private.
func (r *Recorder) Attached() int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.attached
}

// Dropped returns the number of commands beyond the limit, which were not recorded.
func (r *Recorder) Dropped() int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.dropped
}

// Start starts a process and records it unless it is attached to the terminal.
func (r *Recorder) Start(ctx context.Context, started remote.Command) (remote.Handle, error) {
	if started.Foreground {
		r.lock.Lock()
		r.attached++
		r.lock.Unlock()
		return r.Connection.Start(ctx, started)
	}
	one := newRecording(ctx, started)
	if !r.keep(one) {
		return r.Connection.Start(ctx, started)
	}
	process, err := r.Connection.Start(ctx, one.listening(started))
	if err != nil {
		one.failed(err)
		return nil, err
	}
	return &recordedProcess{Handle: process, recording: one}, nil
}

func (r *Recorder) keep(one *recording) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.recorded) >= MaxCommands {
		r.dropped++
		return false
	}
	r.recorded = append(r.recorded, one)
	return true
}

// A recording is a command while it runs.
type recording struct {
	lock   sync.Mutex
	done   Recorded
	stdin  captured
	stdout captured
	stderr captured
}

func newRecording(ctx context.Context, started remote.Command) *recording {
	one := &recording{stdin: captured{limit: maxInput}, stdout: captured{limit: MaxOutput}, stderr: captured{limit: MaxOutput}}
	one.done = Recorded{
		Arguments: started.Arguments, Directory: started.Directory, Environment: started.Environment,
		Exit: -1, Started: time.Now(),
	}
	request, known := command.Started(ctx)
	if !known {
		return one
	}
	one.done.Command, one.done.Key = request.Command, request.Scope.Job
	one.done.Before = request.Scope.Environment.Clone()
	if job := one.done.Before.Variable(request.Scope.Job); job != nil && request.Scope.Job != "" {
		one.done.Job = job.Text(attribute.FieldName)
		one.done.Before.Remove(request.Scope.Job)
	}
	return one
}

// listening returns the command with recorded streams. Streams with the same writer share
// a pipe, to keep their order.
func (r *recording) listening(started remote.Command) remote.Command {
	merged := started.Stdout != nil && started.Stderr != nil && sameWriter(started.Stdout, started.Stderr)
	started.Stdout = r.stdout.before(started.Stdout)
	if merged {
		started.Stderr = started.Stdout
	} else {
		started.Stderr = r.stderr.before(started.Stderr)
	}
	if started.Stdin != nil {
		started.Stdin = io.TeeReader(started.Stdin, &r.stdin)
	}
	return started
}

func sameWriter(a, b io.Writer) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

func (r *recording) failed(err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.done.Failure, r.done.Missing = err, errors.Is(err, remote.ErrCommandNotFound)
	r.done.Duration = time.Since(r.done.Started)
}

func (r *recording) ended(code int, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.done.Duration == 0 {
		r.done.Exit, r.done.Duration = code, time.Since(r.done.Started)
		if code < 0 {
			r.done.Failure = err
		}
	}
}

func (r *recording) snapshot() Recorded {
	r.lock.Lock()
	defer r.lock.Unlock()
	now := r.done
	for _, stream := range []struct {
		name     string
		captured *captured
		to       *[]byte
	}{{"stdin", &r.stdin, &now.Stdin}, {"stdout", &r.stdout, &now.Stdout}, {"stderr", &r.stderr, &now.Stderr}} {
		var cut bool
		if *stream.to, cut = stream.captured.bytes(); cut {
			now.Cut = append(now.Cut, stream.name)
		}
	}
	return now
}

// recordedProcess records how the process ended.
type recordedProcess struct {
	remote.Handle
	recording *recording
}

func (p *recordedProcess) Wait() (int, error) {
	code, err := p.Handle.Wait()
	p.recording.ended(code, err)
	return code, err
}

// captured keeps the beginning of a stream.
type captured struct {
	lock  sync.Mutex
	kept  bytes.Buffer
	limit int
	cut   bool
}

// Write keeps p up to the limit; it never fails.
func (h *captured) Write(p []byte) (int, error) {
	h.lock.Lock()
	defer h.lock.Unlock()
	room := min(len(p), h.limit-h.kept.Len())
	h.kept.Write(p[:room])
	h.cut = h.cut || room < len(p)
	return len(p), nil
}

// before returns a writer that captures what it passes to next, which may be nil.
func (h *captured) before(to io.Writer) io.Writer {
	if to == nil {
		return h
	}
	return io.MultiWriter(h, to)
}

func (h *captured) bytes() ([]byte, bool) {
	h.lock.Lock()
	defer h.lock.Unlock()
	return bytes.Clone(h.kept.Bytes()), h.cut
}
