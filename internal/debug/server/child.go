package server

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/execution"
)

const (
	// scopeFile has the kernel's restriction of debuggers to descendants, root or nobody.
	scopeFile = "/proc/sys/kernel/yama/ptrace_scope"
	// lateOutput bounds how long to wait for the output of processes that outlive the program.
	lateOutput = time.Second
)

// A plan is how to start a program.
type plan struct {
	path        string
	words       []string
	directory   string
	environment []string
	files       []uintptr
	isWrapped   bool // another program becomes it
}

// planOf returns how to start a program. If the kernel lets debuggers attach to descendants only, a wrapper
// permits others before it becomes the program.
func (o Options) planOf(program debug.Program) (plan, error) {
	if len(program.Arguments) == 0 || program.Arguments[0] == "" {
		return plan{}, errors.New("it names no program")
	}
	name := program.Arguments[0]
	if program.Directory != "" && strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(program.Directory, name)
	}
	path, err := o.Find(name)
	if err != nil {
		return plan{}, err
	}
	p := plan{path: path, words: program.Arguments, directory: program.Directory, environment: o.Environment}
	scope, err := os.ReadFile(o.scopeFile())
	if len(o.Permit) > 0 && err == nil && bytes.Equal(bytes.TrimSpace(scope), []byte("1")) {
		p.words = slices.Concat(o.Permit, []string{path}, p.words)
		p.path, p.isWrapped = o.Permit[0], true
	}
	return p, nil
}

// withShell returns the plan for a script without a first line that names its shell.
func (p plan) withShell() plan {
	p.words = append([]string{"sh", p.path}, p.words[1:]...)
	p.path = "/bin/sh"
	return p
}

// A child is a program that this process started.
type child struct {
	pid        int
	executable string
	before     guard.Status  // when it was started
	ended      chan struct{} // closed once it has ended and all that it printed was passed on
	status     syscall.WaitStatus
	streams    []*stream
}

// startChild starts a program that is stopped before its first instruction.
func (o Options) startChild(program debug.Program, guard *guard.Guard, print func(stream, text string)) (*child, error) {
	p, err := o.planOf(program)
	if err != nil {
		return nil, startError(program, err)
	}
	c := &child{executable: p.path, ended: make(chan struct{})}
	if p.isWrapped {
		c.executable = p.words[len(o.Permit)]
	}
	for _, each := range []struct {
		name string
		to   *os.File
	}{{debug.StreamOutput, o.Output}, {debug.StreamErrors, o.Errors}} {
		s, err := newStream(each.to, func(text string) { print(each.name, text) }, o.isQuiet)
		if err != nil {
			c.closeStreams()
			return nil, startError(program, err)
		}
		c.streams = append(c.streams, s)
	}
	p.files = []uintptr{0, c.streams[0].far.Fd(), c.streams[1].far.Fd()}
	started := make(chan error)
	go c.run(p, guard.AddProgram, started) // until the end of the program
	if err := <-started; err != nil {
		c.closeStreams()
		return nil, startError(program, err)
	}
	return c, nil
}

// run starts the program and waits for its end in one thread: the program ends with its thread.
func (c *child) run(p plan, hold func(pid int) error, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	c.pid, err = forkStopped(p, hold)
	if errors.Is(err, syscall.ENOEXEC) {
		c.executable = "/bin/sh"
		c.pid, err = forkStopped(p.withShell(), hold)
	}
	if err != nil {
		started <- err
		return
	}
	c.before = statusOf(c.pid)
	var copying sync.WaitGroup
	for _, s := range c.streams {
		_ = s.far.Close() // the child has it
		copying.Go(s.copy)
	}
	started <- nil
	c.status, _ = wait(c.pid, 0) // nobody else waits for it
	c.drain(&copying)
	close(c.ended)
}

// drain waits until all that the program printed was passed on.
func (c *child) drain(copying *sync.WaitGroup) {
	for _, s := range c.streams {
		_ = s.near.SetReadDeadline(time.Now().Add(lateOutput)) // if it is closed, nothing is read
	}
	copying.Wait()
	for _, s := range c.streams {
		_ = s.near.Close() // nothing was written
	}
}

func startError(program debug.Program, err error) error {
	name := strings.Join(program.Arguments[:min(1, len(program.Arguments))], "")
	var failure *fs.PathError
	if errors.As(err, &failure) {
		err = failure.Err
	}
	return fmt.Errorf("starting %.200q: %w", name, err)
}

// statusOf returns the status of a process that was not stopped by its user.
func statusOf(pid int) guard.Status {
	status, _ := guard.ReadStatus(pid)
	status.State = 'R'
	return status
}

func (c *child) closeStreams() {
	for _, s := range c.streams {
		_ = s.far.Close()  // nothing was written
		_ = s.near.Close() // as above
	}
}

// wait waits for a change of a child, as the options say.
func wait(pid, options int) (status syscall.WaitStatus, err error) {
	for {
		if _, err = syscall.Wait4(pid, &status, options, nil); !errors.Is(err, syscall.EINTR) {
			return status, err
		}
	}
}

// A stream passes output of the program on.
type stream struct {
	near, far *os.File
	to        *os.File
	print     func(text string)
	isQuiet   func() bool // nothing goes to the file now
	rest      []byte      // of a character whose end was not read yet
}

func newStream(to *os.File, print func(text string), isQuiet func() bool) (*stream, error) {
	near, far, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{near: near, far: far, to: to, print: print, isQuiet: isQuiet}, nil
}

func (s *stream) copy() {
	source := execution.NewLateReader(s.near)
	buffer := make([]byte, mostChunk)
	for {
		count, err := source.Read(buffer)
		if count > 0 {
			s.pass(buffer[:count])
			if failure := s.write(buffer[:count]); failure != nil {
				_ = s.near.Close() // writes of the program fail, as they would without a server
				err = failure
			}
		}
		if err != nil {
			s.print(string(s.rest))
			return
		}
	}
}

func (s *stream) write(data []byte) error {
	if s.isQuiet() {
		return nil
	}
	_, err := s.to.Write(data)
	return err
}

// pass prints the characters that are complete.
func (s *stream) pass(data []byte) {
	data = append(s.rest, data...)
	end := completeCharacters(data)
	s.print(string(data[:end]))
	s.rest = append([]byte(nil), data[end:]...)
}
