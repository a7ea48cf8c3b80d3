// Package command runs one command of a definition: it resolves arguments and environment,
// starts the process over a connection, and feeds its output to the definition's parsers.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/tokenizer"
)

// DefaultTimeout is how long a command may run that names no limit itself.
// Clients of a scheduler whose controller is down retry for some ten seconds.
const DefaultTimeout = 2 * time.Minute

// A Request is one run of a command, which [Request.Resolve] resolves and [Run] runs.
type Request struct {
	Command     *config.Command
	Scope       config.Scope
	Environment job.Environment

	Outcomes []*config.Outcome // classify failures
	Reading  Reading           // of the output of a command with a reader
	Timeout  time.Duration     // for commands that name none; 0 for DefaultTimeout, negative for none
	Attach   *Attachment       // not nil for a job that stays attached to its caller

	Types       map[string]tokenizer.Factory // tokenizers that the definition may name
	Expressions *tokenizer.Expressions       // keeps compiled expressions for further runs; may be nil
	Origins     string                       // see tokenizer.Options

	// Rows, if set, is handed what the parsers construct, a row at a time, while the
	// command prints, in place of the environment, which knows nothing discovered before
	// the command. A row is handed out once nothing that follows can change it: see
	// docs/write/listings.md for when that is. The command waits while Rows is at work.
	// That rows were handed out does not mean that the command succeeds.
	Rows func(Row)

	Trace func(parser *config.Parser, event tokenizer.TraceEvent) // called with each step of the parsers; may be nil

	open func() (closer, error) // returns the reader of standard output that replaces the parsers; nil for most

	isOfBatch bool // the command runs for one batch of ids from the environment
}

// A Result is the result of a command.
type Result struct {
	Invocation *Invocation
	ExitCode   int                // -1 if the end was not seen, or there was no process
	Outcome    config.OutcomeKind // empty if the definition does not classify it
	Stdout     string             // the end of its output
	Stderr     string
	Listed     Listed
	Answer     *reader.Answer // of a command with a reader; nil for any other
	Ended      *job.Process   // the end of the program according to a mark of the job; nil without one
	Unsignaled error          // why a signal could not be passed on; nil if all were
	Started    time.Time
	Duration   time.Duration
}

// Resolve returns the invocation that Run executes. The error is an *Error.
func (r Request) Resolve() (*Invocation, error) {
	invocation, err := Resolve(r.Command, r.Scope, r.Environment)
	if err != nil {
		return nil, &Error{Command: r.Command, Failure: notResolvable, Err: err}
	}
	return invocation, nil
}

// Run runs a command, resolved to an invocation, over a connection to its end. The error
// is an *Error for every failure of the command itself; the result is never nil.
func Run(ctx context.Context, connection remote.Connection, request Request, invocation *Invocation) (*Result, error) {
	result := &Result{Invocation: invocation, Started: time.Now(), ExitCode: -1}
	ctx, cancel := withLimit(ctx, request)
	defer cancel()

	run := &run{Request: request, connection: connection, invocation: invocation, result: result, attached: newAttachedState()}
	if request.Rows != nil {
		run.rows = newRowCounter(request.Rows)
	}
	err := run.doAll(ctx)
	result.Duration = time.Since(result.Started)
	return result, err
}

func withLimit(ctx context.Context, request Request) (context.Context, context.CancelFunc) {
	limit := request.Command.Timeout
	if limit == 0 && request.Attach == nil {
		limit = request.Timeout
		if limit == 0 {
			limit = DefaultTimeout
		}
	}
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("it may run for %s", limit))
}

type run struct {
	Request
	connection remote.Connection
	invocation *Invocation
	result     *Result
	background backgroundCommands
	attached   *attachedState
	rows       *rowCounter        // nil without a receiver of rows
	found      config.OutcomeKind // of the reader: Incomplete, Unreadable or nothing

	hasSucceeded bool // an outcome means success, whatever the exit code
	hasNone      bool // an outcome means that there are no records
}

// doAll runs the command, once or for each batch.
func (r *run) doAll(ctx context.Context) error {
	if r.Command.Batch != nil && !r.isOfBatch {
		return runBatches(ctx, r)
	}
	return r.do(ctx)
}

func (r *run) do(ctx context.Context) error {
	streams := r.openStreams()
	defer streams.discard()
	defer r.background.end()
	process, err := r.startWithParsers(ctx, streams)
	if err != nil {
		return err
	}
	ended := r.whileItRuns(process, streams)
	defer r.concludeProcesses(streams)
	postLaunch := r.simpleCommandsWhileOpen(ctx, process)
	code, waitErr := process.Wait()
	ended()
	r.result.ExitCode = code // which a reader needs to know: it ends an output
	if err := r.classify(ctx, streams); err != nil {
		return r.failure(notResolvable, err)
	}
	parserErr := streams.finish()
	r.finishRows(streams)
	r.result.Stdout, r.result.Stderr = streams.printed()
	r.result.Ended = streams.ended
	if r.result.Outcome == "" && (code == 0 || r.isExpected(code)) {
		r.result.Outcome = r.found
	}
	postErr := postLaunch()
	switch {
	case ctx.Err() != nil:
		return r.contextFailure(ctx)
	case waitErr != nil:
		return r.failure(Lost, waitErr)
	case r.attached.failure() != nil:
		return r.failure(JobFailed, r.attached.failure())
	case code != 0 && !r.isExpected(code):
		return r.failure(BadExit, parserErr)
	case parserErr != nil:
		return r.failure(ParserFailed, parserErr)
	case postErr != nil:
		return r.failure(postLaunchFailed, postErr)
	case !r.staysOpen():
		if err := r.simpleCommands(ctx, r.invocation.PostLaunch); err != nil {
			return r.failure(postLaunchFailed, err)
		}
	}
	return nil
}

// classify finds the meaning of the exit code and the end of the output. If they mean that
// there are no jobs, the output is a message, and no reader gets it.
func (r *run) classify(ctx context.Context, streams *streams) error {
	if slices.Contains(r.Command.Exits, r.result.ExitCode) {
		return nil
	}
	r.result.Stdout, r.result.Stderr = streams.printed()
	switch outcome := classify(r.Outcomes, r.result, r.Expressions); outcome {
	case config.Done:
		r.hasSucceeded = true
	case config.Empty:
		r.hasSucceeded = true
		return r.readNothing(ctx, streams)
	default:
		r.result.Outcome = outcome
	}
	return nil
}

// isExpected reports whether the output counts with an exit code other than 0.
func (r *run) isExpected(code int) bool {
	return r.hasSucceeded || r.Command.IgnoreExitStatus || r.Attach != nil || slices.Contains(r.Command.Exits, code)
}

// startWithParsers starts the process, and the commands before it, when its
// parsers are ready. A query changes nothing, so its parsers are compiled while
// the scheduler works on the answer.
func (r *run) startWithParsers(ctx context.Context, streams *streams) (remote.Handle, error) {
	isQuery := r.Command.Purpose() == config.GetJobStatus
	if !isQuery {
		if err := r.compileParsers(ctx, streams); err != nil {
			return nil, r.failure(notResolvable, err)
		}
	}
	if err := r.simpleCommands(ctx, r.invocation.PreLaunch); err != nil {
		return nil, r.failure(preLaunchFailed, err)
	}
	if !isQuery {
		return r.start(ctx, streams)
	}
	process, err := r.start(ctx, streams)
	if err != nil {
		return nil, err
	}
	if err := r.compileParsers(ctx, streams); err != nil {
		process.Terminate()
		_, waitErr := process.Wait()
		return nil, r.failure(notResolvable, errors.Join(err, waitErr))
	}
	return process, nil
}

func (r *run) start(ctx context.Context, streams *streams) (remote.Handle, error) {
	start := r.invocation.process(r.invocation.Arguments, r.invocation.Directory)
	start.Stdin, start.Stdout, start.Stderr = r.input(), &streams.stdout, &streams.stderr
	if r.invocation.InputFile != "" {
		file, err := r.connection.Open(ctx, r.invocation.InputFile)
		if err != nil {
			return nil, r.failure(NotStarted, fmt.Errorf("opening its standard input: %w", err))
		}
		streams.input, start.Stdin = file, file
	}
	start.Foreground = r.Attach != nil && r.Attach.Signals == nil
	start.Terminal, start.ForwardX11 = r.terminal(), r.Command.ForwardX11
	if r.Attach != nil && streams.stdout.parser == nil && r.invocation.marks == nil {
		start.Stdout = r.Attach.Stdout
	}
	if r.Attach != nil && streams.stderr.parser == nil && r.invocation.marks == nil {
		start.Stderr = r.Attach.Stderr
	}
	if r.Command.RedirectStderr {
		start.Stderr = start.Stdout
	}
	process, err := r.connection.Start(context.WithValue(ctx, startedKey{}, &r.Request), start)
	switch {
	case err == nil:
		return process, nil
	case errors.Is(err, remote.ErrUnreachable):
		return nil, r.failure(Lost, err)
	case ctx.Err() != nil:
		failed := r.contextFailure(ctx)
		failed.Unstarted, failed.Outcome = true, config.Transient
		return nil, failed
	}
	return nil, r.failure(NotStarted, err)
}

// input is the standard input of the process: the definition's input as a separate line, then
// the caller's input.
func (r *run) input() io.Reader {
	if (r.invocation.HasInput || r.readsLate()) && r.waitsForState() {
		text := r.invocation.Input + "\n"
		if !r.invocation.HasInput {
			text = ""
			r.attached.send()
		}
		return &gatedInput{
			state: r.attached, input: bytes.NewReader([]byte(text)), typed: r.Attach.Stdin,
			isTerminal: r.Command.AllocatePTY,
		}
	}
	r.attached.send()
	var parts []io.Reader
	if r.invocation.HasInput {
		parts = append(parts, strings.NewReader(r.invocation.Input+"\n"))
	}
	if r.Attach != nil && r.Attach.Stdin != nil {
		if len(parts) == 0 {
			return r.Attach.Stdin // unchanged, so that it can be a terminal
		}
		parts = append(parts, r.Attach.Stdin)
	}
	if len(parts) == 0 {
		return nil
	}
	return io.MultiReader(parts...)
}

// readsLate reports whether the command gets no input before its job runs: a client of a
// scheduler that does not expect any earlier may hang.
func (r *run) readsLate() bool {
	return r.Attach != nil && r.Command.SpeaksOnErrors && r.Command.KeepOpen && !r.Command.AllocatePTY
}

func (r *run) failure(how Failure, err error) *Error {
	output := r.result.Stderr
	if strings.TrimSpace(output) == "" {
		output = r.result.Stdout
	}
	failed := &Error{
		Command: r.Command, Arguments: r.invocation.Arguments, Failure: how,
		ExitCode: r.result.ExitCode, Outcome: r.result.Outcome, Output: output, Err: err,
	}
	if how == NotStarted && failed.Outcome == "" {
		failed.Outcome = config.Transient
	}
	return failed
}

func (r *run) contextFailure(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		after := time.Since(r.result.Started).Round(time.Millisecond)
		return r.failure(TimedOut, fmt.Errorf("after %s: %w", after, context.Cause(ctx)))
	}
	return r.failure(canceled, context.Cause(ctx))
}

// staysOpen reports whether the command keeps running after its job has started, so that the
// following steps cannot wait for its end.
func (r *run) staysOpen() bool { return r.Command.KeepOpen || r.Attach != nil }

// whileItRuns serves an attached job, and returns a function that stops serving after the end
// of its process.
func (r *run) whileItRuns(process remote.Handle, streams *streams) (ended func()) {
	if !r.waitsForState() {
		r.attached.reach()
	}
	if r.Attach == nil {
		return func() { close(r.attached.ended) }
	}
	if r.Attach.Started != nil {
		streams.lock.Lock()
		r.Attach.Started()
		streams.lock.Unlock()
	}
	var serving sync.WaitGroup
	serving.Go(func() { r.serve(process, streams) })
	return func() {
		close(r.attached.ended)
		serving.Wait()
	}
}
