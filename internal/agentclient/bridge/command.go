package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/remote"
)

// A request is a command for the agent.
type request struct {
	connection     *Connection
	attempt        *attempt
	session        *agentclient.Session
	command        remote.Command
	stdout, stderr io.Writer
}

// verbs maps the first word of a command to its function.
func (r *request) verb() func(ctx context.Context, arguments []string) error {
	if len(r.command.Arguments) < 2 {
		return nil
	}
	return map[string]func(context.Context, []string) error{
		"definition": r.definition,
		"jobs":       r.jobs,
		"listing":    r.listing,
		"nodes":      r.nodes,
		"queues":     r.queues,
		"machines":   r.machines,
		"manager":    r.itself,
		"processes":  r.processes,
		"submit":     r.submit,
		"terminate":  r.terminate,
		"operate":    r.operate,
		"move":       r.move,
		"session":    r.describe,
		"greeting":   r.greet,
		"oddities":   r.oddities,
		"changes":    r.changes,
		traceVerb:    r.trace,

		knownDefinitionVerb: r.knownDefinition,
	}[r.command.Arguments[1]]
}

// A usageError reports an unknown command or wrong arguments.
type usageError struct{ text string }

// Error implements [error].
func (e *usageError) Error() string { return e.text }

// A handle controls a command for the agent like a process.
type handle struct {
	cancel context.CancelFunc
	done   chan struct{}
	code   int
	err    error
}

// start runs a command. Cancelling ctx ends it.
func start(ctx context.Context, r *request) *handle {
	ctx, cancel := context.WithCancel(ctx)
	h := &handle{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(h.done)
		defer cancel()
		h.code, h.err = r.run(ctx)
	}()
	return h
}

// Wait implements remote.Handle.
func (h *handle) Wait() (int, error) {
	<-h.done
	return h.code, h.err
}

// Terminate implements remote.Handle.
func (h *handle) Terminate() { h.cancel() }

// Signal implements remote.Handle. Signals that end processes end the command.
func (h *handle) Signal(signal syscall.Signal) error {
	switch signal {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL, syscall.SIGHUP, syscall.SIGQUIT:
		h.cancel()
	}
	return nil
}

// exitTerminated is the exit code of a terminated command.
const exitTerminated = 128 + int(syscall.SIGTERM)

// run runs the command and returns its exit code.
func (r *request) run(ctx context.Context) (int, error) {
	do := r.verb()
	if do == nil {
		return r.say(definition.ExitUsage, "the agent has no such command")
	}
	err := do(ctx, r.command.Arguments[2:])
	var (
		usage        *usageError
		refused      *agentclient.RefusedError
		unsupported  *agentclient.UnsupportedError
		unknown      *agentclient.UnknownJobError
		unidentified *agentclient.UnidentifiedError
		unanswered   *agentclient.NoAnswerError
		hasEnded     *endedJobError
		output       *outputError
	)
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &output):
		return 0, fmt.Errorf("writing the output of a command: %w", output.err)
	case ctx.Err() != nil:
		return exitTerminated, nil
	case errors.As(err, &usage):
		return r.say(definition.ExitUsage, usage.text)
	case errors.As(err, &refused), errors.As(err, &unsupported):
		return r.say(definition.ExitRefused, err.Error())
	case errors.As(err, &unknown):
		return r.say(definition.ExitUnknownJob, err.Error())
	case errors.As(err, &hasEnded):
		return r.say(definition.ExitFinished, err.Error())
	case errors.As(err, &unidentified):
		return r.say(definition.ExitDoubtful, err.Error())
	case errors.As(err, &unanswered):
		return r.say(r.withoutAnswer(), err.Error())
	}
	return -1, &LostError{err}
}

// withoutAnswer returns the exit code of a command that the agent did not answer. The agent may have
// submitted the job.
func (r *request) withoutAnswer() int {
	if r.command.Arguments[1] == "submit" {
		return definition.ExitDoubtful
	}
	return definition.ExitTransient
}

// longestMessage bounds the agent's message about a failure.
const longestMessage = 4 << 10

// say ends the command with a message.
func (r *request) say(code int, message string) (int, error) {
	if _, err := fmt.Fprintln(r.stderr, plaintext.Clean(message, longestMessage)); err != nil {
		return code, fmt.Errorf("writing the errors of a command: %w", err)
	}
	return code, nil
}

// An outputError is a failure to write the output of a command.
type outputError struct{ err error }

// Error implements [error].
func (e *outputError) Error() string { return e.err.Error() }

// print writes a line of output.
func (r *request) print(line string) error {
	if _, err := fmt.Fprintln(r.stdout, line); err != nil {
		return &outputError{err}
	}
	return nil
}
