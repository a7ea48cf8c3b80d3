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
	"time"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/execution"
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

// elsewhere is an ensemble that rmctl on the login node of a target runs.
type elsewhere struct {
	service  *Service
	recorded barrier.Ensemble
}

// SubmitAt submits the text of a request on the login node of a target, whose rmctl runs the ensemble.
func (s *Service) SubmitAt(ctx context.Context, target string, text []byte, flags ...string) (id string, err error) {
	targets, err := s.Client.Targets()
	if err != nil {
		return "", err
	}
	found, err := targets.Find(target)
	if err != nil {
		return "", err
	}
	store, err := s.Client.Store(ctx)
	if err != nil {
		return "", err
	}
	var submitted coalloc.Status
	arguments := append([]string{"submit", "-"}, flags...)
	if err := s.callJSON(ctx, found.Name, arguments, text, &submitted); err != nil {
		return "", err
	}
	if submitted.ID == "" || len(submitted.ID) > 64 || strings.ContainsFunc(submitted.ID, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) {
		return "", &callError{found.Name, 0, errors.New("rmctl names no ensemble that it submitted")}
	}
	recorded := barrier.Ensemble{ID: submitted.ID, Name: submitted.Name, At: found.Name, State: barrier.Submitting, Created: time.Now()}
	if err := store.Journal().Create(ctx, recorded, nil); err != nil {
		return submitted.ID, fmt.Errorf("ensemble %s runs at %s, but is not on record here: %w", submitted.ID, found.Name, err)
	}
	return submitted.ID, nil
}

// callJSON runs a command at a target and decodes the document that it prints.
func (s *Service) callJSON(ctx context.Context, target string, arguments []string, stdin []byte, document any) error {
	stdout := execution.NewHead(longestAnswer)
	err := s.call(ctx, target, arguments, stdin, stdout)
	if err != nil {
		return err
	}
	if document == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(stdout.String()), document); err != nil {
		return &callError{target, 0, fmt.Errorf("rmctl prints no document: %w", err)}
	}
	return nil
}

// call runs a command at a target. The error has what the other rmctl said.
func (s *Service) call(ctx context.Context, target string, arguments []string, stdin []byte, stdout io.Writer) error {
	if s.Run == nil {
		return fmt.Errorf("running rmctl at %s: %w", target, errors.ErrUnsupported)
	}
	stderr := execution.NewHead(longestComplaint)
	call := Call{Arguments: append([]string{"--json", "coalloc"}, arguments...), Stdout: stdout, Stderr: stderr}
	if stdin != nil {
		call.Stdin = bytes.NewReader(stdin)
	}
	err := s.Run(ctx, target, call)
	exit, isExit := errors.AsType[*ExitError](err)
	if err == nil || !isExit {
		return err
	}
	return &callError{target, exit.Code, complaint(stderr.String(), exit)}
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
	received := &receivedError{message: strings.TrimPrefix(strings.Join(texts, "\n"), "\n")}
	for _, known := range knownErrors() {
		if strings.Contains(received.message, known.Error()) {
			received.causes = append(received.causes, known)
		}
	}
	if exit.Code == 2 {
		return &UsageError{received}
	}
	return received
}

func (e *elsewhere) do(ctx context.Context, stdin []byte, document any, arguments ...string) error {
	return e.service.callJSON(ctx, e.recorded.At, arguments, stdin, document)
}

// Status implements [coalloc.Control]. It records the end of the ensemble here, too.
func (e *elsewhere) Status(ctx context.Context) (coalloc.Status, error) {
	var status coalloc.Status
	if err := e.do(ctx, nil, &status, "status", e.recorded.ID); err != nil {
		return coalloc.Status{}, err
	}
	status.ID, status.At = e.recorded.ID, e.recorded.At
	return status, e.note(ctx, status)
}

// estimateStarts sets what rmctl at the target says of the expected start of jobs that wait.
func (e *elsewhere) estimateStarts(ctx context.Context, s *coalloc.Status) {
	var explained explanation
	err := e.do(ctx, nil, &explained, "explain", e.recorded.ID)
	for i := range s.Parts {
		p := &s.Parts[i]
		if p.State != coalloc.PartPending {
			continue
		}
		if err != nil {
			p.StartProblem = err.Error()
		}
		for _, each := range explained.Parts {
			if each.Label == p.Label {
				p.ExpectedStart, p.StartProblem = each.ExpectedStart, each.StartProblem
			}
		}
	}
}

// note records the state of the ensemble.
func (e *elsewhere) note(ctx context.Context, status coalloc.Status) error {
	if status.State == e.recorded.State {
		return nil
	}
	store, err := e.service.Client.Store(ctx)
	if err != nil {
		return err
	}
	e.recorded.State, e.recorded.Reason, e.recorded.Ended = status.State, status.Reason, status.Ended
	return store.Journal().Save(ctx, barrier.Change{Ensemble: e.recorded})
}

// Add implements [coalloc.Control].
func (e *elsewhere) Add(ctx context.Context, parts ...coalloc.Part) error {
	text, err := (&coalloc.Request{Parts: parts}).TOML()
	if err != nil {
		return err
	}
	return e.do(ctx, text, nil, "add", e.recorded.ID, "-")
}

// Delete implements [coalloc.Control].
func (e *elsewhere) Delete(ctx context.Context, labels ...string) error {
	return e.do(ctx, nil, nil, append([]string{"delete", "--", e.recorded.ID}, labels...)...)
}

// Substitute implements [coalloc.Control].
func (e *elsewhere) Substitute(ctx context.Context, label string, part coalloc.Part) error {
	text, err := (&coalloc.Request{Parts: []coalloc.Part{part}}).TOML()
	if err != nil {
		return err
	}
	return e.do(ctx, text, nil, "substitute", "--", e.recorded.ID, label, "-")
}

// Commit implements [coalloc.Control].
func (e *elsewhere) Commit(ctx context.Context, now bool) error {
	return e.do(ctx, nil, nil, "commit", e.recorded.ID, "--now="+strconv.FormatBool(now))
}

// Cancel implements [coalloc.Control].
func (e *elsewhere) Cancel(ctx context.Context) error {
	return e.do(ctx, nil, nil, "cancel", e.recorded.ID)
}

// past returns what has happened so far.
func (e *elsewhere) past(ctx context.Context, after int) (events []coalloc.EnsembleEvent, err error) {
	err = e.events(ctx, after, false, func(event coalloc.EnsembleEvent) error {
		events = append(events, event)
		return nil
	})
	return events, err
}

// Events implements [coalloc.Control].
func (e *elsewhere) Events(ctx context.Context, after int, observe func(coalloc.EnsembleEvent) error) error {
	return e.events(ctx, after, true, observe)
}

func (e *elsewhere) events(ctx context.Context, after int, follow bool, observe func(coalloc.EnsembleEvent) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader, writer := io.Pipe()
	var running sync.WaitGroup
	var failed error
	running.Go(func() {
		words := []string{"events", e.recorded.ID, "--after=" + strconv.Itoa(after), "--follow=" + strconv.FormatBool(follow)}
		failed = e.service.call(ctx, e.recorded.At, words, nil, writer)
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
