// Package repeated runs equal commands once: queries for several jobs are often the same.
package repeated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/rmctl/rmctl/remote"
)

// mostKept bounds the output of a command that is kept. One that prints more runs each time.
const mostKept = 64 << 20

// A Connection runs equal commands once. It is meant for a few queries that are to say the
// same: it keeps what they printed for as long as it lives.
type Connection struct {
	remote.Connection
	most int

	mutex sync.Mutex
	runs  map[string]*run
}

// New returns a connection that runs commands over another one.
func New(connection remote.Connection) *Connection {
	return &Connection{Connection: connection, most: mostKept, runs: map[string]*run{}}
}

// A run is a command that was started.
type run struct {
	ended  chan struct{} // closed when all below is known
	isLost bool          // its output is too long to share
	start  error         // why it could not be started, or was ended
	stdout output
	stderr output
	code   int
	err    error
}

// Start starts a process unless an equal one was started before, whose output it then gets
// when that has ended. Commands that read input or have a terminal always start.
func (c *Connection) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	if command.Stdin != nil || command.Terminal != nil || command.Foreground {
		return c.Connection.Start(ctx, command)
	}
	key := keyOf(command)
	for {
		r, isFirst := c.run(key)
		if isFirst {
			return c.first(ctx, command, key, r)
		}
		select {
		case <-r.ended:
		case <-ctx.Done():
			return nil, &remote.StartError{Program: command.Arguments[0], Err: context.Cause(ctx)}
		}
		switch {
		case r.start != nil:
			return nil, r.start
		case !r.isLost:
			return r.again(command), nil
		}
	}
}

// keyOf returns what equal commands have in common.
func keyOf(command remote.Command) string {
	merged := command.Stdout != nil && command.Stdout == command.Stderr
	return fmt.Sprintf("%v %v %q %q %q %q %q", merged, command.ReplaceEnvironment,
		command.Arguments, command.Directory, command.Environment, command.Unset, command.Keep)
}

// run returns the run of a key, and whether it is to be started.
func (c *Connection) run(key string) (r *run, isFirst bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if r = c.runs[key]; r != nil {
		return r, false
	}
	r = &run{ended: make(chan struct{}), stdout: output{most: c.most}, stderr: output{most: c.most}}
	c.runs[key] = r
	return r, true
}

func (c *Connection) forget(key string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.runs, key)
}

// first starts the process.
func (c *Connection) first(ctx context.Context, command remote.Command, key string, r *run) (remote.Handle, error) {
	merged := command.Stdout != nil && command.Stdout == command.Stderr
	command.Stdout = r.stdout.beside(command.Stdout)
	if merged {
		command.Stderr = command.Stdout
	} else {
		command.Stderr = r.stderr.beside(command.Stderr)
	}
	process, err := c.Connection.Start(ctx, command)
	if err != nil {
		r.start = err
		close(r.ended)
		return nil, err
	}
	go func() {
		defer close(r.ended)
		r.code, r.err = process.Wait()
		if ctx.Err() != nil {
			r.start = &remote.StartError{Program: command.Arguments[0], Err: context.Cause(ctx)}
		}
		_, isTooLong := r.stdout.all()
		_, isLost := r.stderr.all()
		if r.isLost = isTooLong || isLost; r.isLost {
			c.forget(key)
		}
	}()
	return &started{process, r}, nil
}

// A started is the process of a run.
type started struct {
	remote.Handle
	run *run
}

// Wait waits for the end of the process.
func (s *started) Wait() (int, error) {
	<-s.run.ended
	return s.run.code, s.run.err
}

// again replays the output of a run.
func (r *run) again(command remote.Command) remote.Handle {
	replayed := &replayed{run: r, written: make(chan struct{})}
	go func() {
		defer close(replayed.written)
		replayed.failure = errors.Join(r.stdout.writeTo(command.Stdout), r.stderr.writeTo(command.Stderr))
	}()
	return replayed
}

// A replayed is a process that replays the output of an earlier one.
type replayed struct {
	run     *run
	written chan struct{}
	failure error
}

// Wait waits until the output is handed out.
func (r *replayed) Wait() (int, error) {
	<-r.written
	return r.run.code, errors.Join(r.run.err, r.failure)
}

// Terminate does nothing: the process has ended.
func (r *replayed) Terminate() {}

// Signal does nothing: the process has ended.
func (r *replayed) Signal(syscall.Signal) error { return nil }

// An output is the output of a process. Processes that outlive it may still write.
type output struct {
	most int

	mutex     sync.Mutex
	kept      []byte
	isTooLong bool
}

// beside returns a writer that keeps a copy of its input and passes it to another one, which
// may be nil.
func (o *output) beside(other io.Writer) io.Writer {
	if other == nil {
		return o
	}
	return io.MultiWriter(o, other)
}

// Write keeps its input unless it is too long. It never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.isTooLong = o.isTooLong || len(o.kept)+len(p) > o.most; o.isTooLong {
		o.kept = nil
	} else {
		o.kept = append(o.kept, p...)
	}
	return len(p), nil
}

// all returns the kept text, and whether text is missing.
func (o *output) all() (text []byte, isTooLong bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.kept, o.isTooLong
}

func (o *output) writeTo(writer io.Writer) error {
	text, _ := o.all()
	if writer == nil || len(text) == 0 {
		return nil
	}
	_, err := writer.Write(text)
	return err
}
