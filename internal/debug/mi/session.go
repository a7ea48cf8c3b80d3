package mi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Errors of a session.
var (
	ErrCrashed = errors.New("the debugger crashed")
	ErrHangs   = errors.New("the debugger did not answer in time")
)

// A MissingError reports that there is no such debugger.
type MissingError struct{ Name string }

// Error implements error.
func (e MissingError) Error() string { return "debugger not found: " + e.Name }

// A CommandError is what gdb answers to a command that fails.
type CommandError struct{ Message string }

// Error implements error.
func (e CommandError) Error() string { return e.Message }

const (
	longestLine = 16 << 20
	mostLines   = 1 << 16 // that answer one command
	closeWithin = 2 * time.Second
)

// arguments are the arguments of gdb. With them, gdb runs no files of the user or of the program,
// fetches nothing from the network, and never prompts. It ignores settings that it does not know.
var arguments = []string{
	"--interpreter=mi", "-nx", "-q",
	"-iex", "set debuginfod enabled off",
	"-iex", "set auto-load safe-path $debugdir:$datadir/auto-load",
	"-iex", "set auto-load local-gdbinit off",
	"-iex", "set confirm off",
	"-iex", "set pagination off",
	"-iex", "set width 0",
	"-iex", "set print frame-info short-location",
	"-iex", "set print frame-arguments none",
	"-iex", "set source open off",
	"-iex", "set index-cache enabled off",
	"-iex", "set history save off",
	"-iex", "set stop-on-solib-events 0",
}

// A Session is a running gdb. It is for one goroutine.
type Session struct {
	command *exec.Cmd
	input   *os.File
	output  *os.File
	lines   *bufio.Reader
	token   int
	printed bytes.Buffer // text for people, up to longestLine
	ended   error        // why the session has ended
}

// Start starts a debugger: a path, or a name in PATH; empty is gdb.
func Start(debugger string) (*Session, error) {
	if debugger == "" {
		debugger = "gdb"
	}
	path, err := exec.LookPath(debugger)
	if err != nil {
		return nil, MissingError{debugger}
	}
	childInput, input, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("could not start %s: %w", debugger, err)
	}
	defer childInput.Close()
	output, childOutput, err := os.Pipe()
	if err != nil {
		_ = input.Close()
		return nil, fmt.Errorf("could not start %s: %w", debugger, err)
	}
	defer childOutput.Close()
	command := exec.Command(path, arguments...) //nolint:noctx // Close ends it
	command.Stdin, command.Stdout, command.Dir = childInput, childOutput, "/"
	command.Env = environment()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		_, _ = input.Close(), output.Close()
		return nil, fmt.Errorf("could not start %s: %w", debugger, err)
	}
	return &Session{command: command, input: input, output: output, lines: bufio.NewReaderSize(output, 32<<10)}, nil
}

// environment returns the variables of gdb: only a few, because variables of users change its output.
func environment() []string {
	variables := []string{"LC_ALL=C", "TERM=dumb", "HOME=/nonexistent", "PYTHONNOUSERSITE=1"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "TMPDIR"} {
		if value, isSet := os.LookupEnv(name); isSet {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

// PID returns the process of the debugger, which leads a process group.
func (s *Session) PID() int { return s.command.Process.Pid }

// Err returns why the session has ended, or nil.
func (s *Session) Err() error { return s.ended }

// call sends commands at once, and returns their results in order, each with its error. The session
// ends if the debugger does.
func (s *Session) call(ctx context.Context, commands ...string) ([]Value, []error) {
	values, errs := make([]Value, len(commands)), make([]error, len(commands))
	if err := s.exchange(ctx, commands, values, errs); err != nil {
		s.ended = err
		for i := range errs {
			errs[i] = err
		}
	}
	return values, errs
}

func (s *Session) exchange(ctx context.Context, commands []string, values []Value, errs []error) error {
	if s.ended != nil {
		return s.ended
	}
	if ctx.Err() != nil {
		return s.reason(ctx, ctx.Err())
	}
	stop := context.AfterFunc(ctx, func() {
		_, _ = s.input.SetWriteDeadline(time.Unix(1, 0)), s.output.SetReadDeadline(time.Unix(1, 0))
	})
	defer stop()
	first := s.token
	s.token += len(commands)
	var text strings.Builder
	for i, command := range commands {
		text.WriteString(strconv.Itoa(first+i) + command + "\n")
	}
	if _, err := s.input.WriteString(text.String()); err != nil {
		return s.reason(ctx, err)
	}
	s.printed.Reset()
	for answered, lines := 0, 0; answered < len(commands); lines++ {
		line, err := s.readLine()
		if err != nil {
			return s.reason(ctx, err)
		}
		if lines > mostLines*len(commands) {
			return fmt.Errorf("%w: it prints without end", ErrHangs)
		}
		record, err := ParseRecord(line)
		if err != nil {
			continue // text for people
		}
		if s.apply(record, record.Token-first, values, errs) {
			answered++
		}
	}
	return nil
}

// apply keeps a record, and reports whether it is the result of a command.
func (s *Session) apply(record Record, index int, values []Value, errs []error) bool {
	if record.Kind == '~' && s.printed.Len() < longestLine {
		s.printed.WriteString(record.Text)
	}
	if record.Kind != '^' || index < 0 || index >= len(values) {
		return false
	}
	values[index] = record.Results
	if record.Class == "error" {
		errs[index] = CommandError{record.Results.Get("msg").Text}
	}
	return true
}

// readLine reads a line without its line break.
func (s *Session) readLine() (string, error) {
	var line []byte
	for {
		part, err := s.lines.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > longestLine {
			return "", errors.New("a line is too long")
		}
		if err == nil {
			return strings.TrimRight(string(line), "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
}

// reason returns why no answer can be read.
func (s *Session) reason(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil:
		if errors.Is(context.Cause(ctx), context.Canceled) {
			return context.Cause(ctx)
		}
		return ErrHangs
	case errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE):
		return ErrCrashed
	}
	return fmt.Errorf("%w: %w", ErrCrashed, err)
}

// Close closes the input of the debugger, upon which gdb detaches and ends. After a while it
// sends a signal to its group.
func (s *Session) Close() {
	_ = s.input.Close()
	ended := make(chan struct{})
	killer := time.AfterFunc(closeWithin, func() { _ = syscall.Kill(-s.PID(), syscall.SIGKILL) })
	if s.ended != nil {
		_ = syscall.Kill(-s.PID(), syscall.SIGKILL)
	}
	go func() {
		defer close(ended)
		_ = s.output.SetReadDeadline(time.Now().Add(closeWithin))
		_, _ = io.Copy(io.Discard, s.output)
	}()
	_ = s.command.Wait()
	killer.Stop()
	_ = s.output.Close()
	<-ended
}
