package ensembles

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/peer"
)

// longestComplaint bounds what is read of the standard error of rmctl on another host.
const longestComplaint = 64 << 10

// A Call is a command line of rmctl on another host, without its name.
type Call struct {
	Arguments      []string
	Stdin          io.Reader // nil for nothing
	Stdout, Stderr io.Writer
}

// A callError is the failure of rmctl on another host.
type callError struct {
	Target   string
	ExitCode int
	err      error
}

// Error names the target.
func (e *callError) Error() string { return e.Target + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *callError) Unwrap() error { return e.err }

// An ExitError is the exit code of rmctl on another host.
type ExitError struct{ Code int }

// Error implements error.
func (e *ExitError) Error() string { return fmt.Sprintf("rmctl exits with %d", e.Code) }

// far runs commands of rmctl at a target on an ensemble there, each once.
type far struct {
	service *Service
	target  string
	id      string
}

// do runs a command and decodes the document that it prints, unless document is nil.
func (f far) do(ctx context.Context, stdin []byte, document any, arguments ...string) error {
	stdout := execution.NewHead(longestAnswer)
	err := f.call(ctx, arguments, stdin, stdout)
	if err != nil || document == nil {
		return err
	}
	if err := json.Unmarshal([]byte(stdout.String()), document); err != nil {
		return &callError{f.target, 0, fmt.Errorf("rmctl prints no document: %w", err)}
	}
	return nil
}

// call runs a command. The error contains the message of the other rmctl.
func (f far) call(ctx context.Context, arguments []string, stdin []byte, stdout io.Writer) error {
	if f.service.Run == nil {
		return fmt.Errorf("running rmctl at %s: %w", f.target, errors.ErrUnsupported)
	}
	stderr := execution.NewHead(longestComplaint)
	call := Call{Arguments: append([]string{"--json", "coalloc"}, arguments...), Stdout: stdout, Stderr: stderr}
	if stdin != nil {
		call.Stdin = bytes.NewReader(stdin)
	}
	err := f.service.Run(ctx, f.target, call)
	exit, isExit := errors.AsType[*ExitError](err)
	if err == nil || !isExit {
		return err
	}
	return &callError{f.target, exit.Code, complaint(stderr.String(), exit)}
}

// complaint returns the error that rmctl printed as JSON. Errors of ensembles keep their identity.
func complaint(printed string, exit *ExitError) error {
	var texts []string
	for line := range strings.Lines(printed) {
		var said struct{ Error, Hint string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Error != "" {
			texts = append(texts, strings.TrimSuffix(said.Error+"\n"+said.Hint, "\n"))
		}
	}
	if len(texts) == 0 {
		texts = append(texts, strings.TrimSpace(printed), exit.Error())
	}
	received := &peer.ReceivedError{Message: strings.TrimPrefix(strings.Join(texts, "\n"), "\n")}
	for _, known := range knownErrors() {
		if strings.Contains(received.Message, known.Error()) {
			received.Causes = append(received.Causes, known)
		}
	}
	if exit.Code == 2 {
		return &UsageError{received}
	}
	return received
}

// Delete deletes parts.
func (f far) Delete(ctx context.Context, labels ...string) error {
	return f.do(ctx, nil, nil, append([]string{"delete", "--", f.id}, labels...)...)
}

// Commit commits the ensemble.
func (f far) Commit(ctx context.Context, now bool) error {
	return f.do(ctx, nil, nil, "commit", "--now="+strconv.FormatBool(now), "--", f.id)
}

// Cancel cancels the ensemble.
func (f far) Cancel(ctx context.Context) error { return f.do(ctx, nil, nil, "cancel", "--", f.id) }

// past returns what has happened so far.
func (f far) past(ctx context.Context, after int) (events []coalloc.EnsembleEvent, err error) {
	err = f.events(ctx, after, false, func(event coalloc.EnsembleEvent) error {
		events = append(events, event)
		return nil
	})
	return events, err
}

// events calls observe with events until the connection is lost, or the end of the ensemble if it is to follow it.
func (f far) events(ctx context.Context, after int, follow bool, observe func(coalloc.EnsembleEvent) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader, writer := io.Pipe()
	var running sync.WaitGroup
	var failed error
	running.Go(func() {
		failed = f.call(ctx, []string{"events", "--after=" + strconv.Itoa(after), "--follow=" + strconv.FormatBool(follow), "--", f.id}, nil, writer)
		writer.Close() // never fails
	})
	lines := bufio.NewReader(reader)
	for {
		var event coalloc.EnsembleEvent
		err := readLine(lines, longestText, &event)
		if err == nil {
			err = observe(event)
		}
		if err == nil {
			continue
		}
		reader.CloseWithError(io.ErrClosedPipe)
		if errors.Is(err, io.EOF) {
			running.Wait()
			return failed
		}
		cancel()
		running.Wait()
		return err
	}
}
