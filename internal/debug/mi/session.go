package mi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

// A CommandError is gdb's answer to a failed command.
type CommandError struct{ Message string }

// Error implements error.
func (e CommandError) Error() string { return e.Message }

// mostLines bounds the lines that answer one command.
const mostLines = 1 << 16

// A Session is a running gdb. It is for one goroutine.
type Session struct {
	*child
	token   int
	printed bytes.Buffer // text for people, up to longestLine
	ended   error        // why the session has ended
}

// Start starts a debugger: a path, or a name in PATH; empty is gdb.
func Start(debugger string) (*Session, error) {
	started, err := start(debugger)
	if err != nil {
		return nil, err
	}
	return &Session{child: started}, nil
}

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

// Close ends the debugger, which detaches before.
func (s *Session) Close() { s.close(s.ended != nil, s.discard) }
