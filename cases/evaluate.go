package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/tokenizer"
)

// evaluation is how a definition's command is tried on a recorded answer.
type evaluation struct {
	definition *config.Definition
	types      map[string]tokenizer.Factory // tokenizers that the definition may name
	// expressions, if set, keeps compiled expressions for further runs.
	expressions *tokenizer.Expressions
	trace       func(parser *config.Parser, event tokenizer.TraceEvent) // called with each step of the parsers; may be nil
	step        func(which *config.Command, step reader.Step)           // called for each record of a command with a reader; may be nil
}

// An Answer is what a definition makes of a case.
type Answer struct {
	Expectation
	Arguments []string // the command line that the definition would run
	HasReader bool     // a reader reads the output, instead of parsers
	Err       error    // why the status is ERROR
}

// Same reports whether two answers are the same, as JSON shows them.
func (a *Answer) Same(b *Answer) bool {
	expected := a.Reduced(nil)
	found, err := differences(&expected, b.Reduced(nil))
	return err == nil && len(found) == 0 && slices.Equal(a.Arguments, b.Arguments)
}

// run runs the case's command with the recorded answer in place of a scheduler's.
// It ignores the case's expectation. An error means that the case does not
// fit the definition, or that ctx was done; what the definition makes of the
// answer, be it an error, is in the Answer.
func (e evaluation) run(ctx context.Context, c *Case) (*Answer, error) {
	selected, err := selectCommand(e.definition, c.Command)
	if err != nil {
		return nil, err
	}
	before, key, err := environment(e.definition, selected.Element, c)
	if err != nil {
		return nil, err
	}
	selected = asStarted(selected, before)
	env := before.Clone()
	reading, err := e.reading(selected, c, env)
	if err != nil {
		return nil, err
	}
	request := command.Request{
		Command: selected, Scope: config.Scope{Environment: env, Job: key}, Outcomes: e.definition.Outcomes,
		Timeout: -1, Types: e.types, Expressions: e.expressions, Trace: e.trace, Reading: reading,
	}
	if selected.Element == config.OnNodes {
		return nodeAnswer(request, c.Job)
	}
	var rows []command.Row
	if selected.Read != nil && isListing(selected.Purpose()) {
		request.Rows = func(row command.Row) { rows = append(rows, row) }
	}
	result, runErr := runCase(ctx, c, request)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	answer := &Answer{Err: runErr, HasReader: selected.Read != nil}
	if answer.Status, err = statusOf(result, runErr); err != nil {
		return nil, fmt.Errorf("running %s: %w", c.Command, err)
	}
	if result.Invocation != nil {
		answer.Arguments = result.Invocation.Arguments
	}
	if key != "" {
		answer.Job = jobOf(before.Lookup(key), env.Lookup(key))
	}
	if runErr == nil && answer.Job == nil && result.Answer != nil && result.Answer.Absence != nil {
		answer.Absence = result.Answer.Absence.String()
	}
	answer.Attributes, answer.Discovered, err = changes(before, env, key)
	answer.addRows(rows)
	return answer, err
}

// statusOf returns how a command ended. Its error is not caused by a command of the definition.
func statusOf(result *command.Result, runErr error) (Status, error) {
	status := Status{State: statusOK, Outcome: result.Outcome}
	if runErr == nil {
		return status, nil
	}
	var failed *command.Error
	if !errors.As(runErr, &failed) {
		return status, runErr
	}
	status.State, status.Failure, status.Message = statusError, failed.Failure, runErr.Error()
	return status, nil
}

// nodeAnswer returns what an x:on-nodes would run for a job. It prints nothing that the
// definition reads.
func nodeAnswer(request command.Request, id string) (*Answer, error) {
	isFor, err := inspect.IsForJob(request.Command, request.Reading.IDs.Clean(id))
	if err != nil {
		return nil, err
	}
	if !isFor {
		answer := &Answer{Err: fmt.Errorf("%s is not for job %s", request.Command.Name, id)}
		answer.Status.State, answer.Status.Message = statusError, answer.Err.Error()
		return answer, nil
	}
	jobPart, taskPart, _ := request.Reading.IDs.Split(id)
	request.Scope.Environment.SetVariable("job.id.job", jobPart)
	request.Scope.Environment.SetVariable("job.id.task", taskPart)
	invocation, err := request.Resolve()
	if err != nil {
		return nil, err
	}
	answer := &Answer{Arguments: invocation.Arguments}
	answer.Status.State, answer.Processes = statusOK, invocation.Processes
	answer.Over, answer.NoSignals = request.Command.Over, request.Command.NoSignals
	return answer, nil
}

// asStarted returns a command as it runs with or without a terminal.
func asStarted(c *config.Command, before *attribute.Environment) *config.Command {
	if c.Element.IsInteractive() && before.Text(terminalAttribute) != "true" {
		return inspect.WithoutTerminal(c)
	}
	return c
}

// isListing reports whether a command lists elements.
func isListing(of config.CommandElement) bool {
	return of == config.ListJobs || of == config.ListEnded || of == config.ListNodes || of == config.ListQueues
}

// addRows adds the rows of a listing.
func (a *Answer) addRows(rows []command.Row) {
	if len(rows) == 0 {
		return
	}
	a.Discovered = map[string]Changed{}
	for _, row := range rows {
		facts := map[string]any{}
		for name, value := range row.Facts.All() {
			if value != "" {
				facts[name] = value
			}
		}
		a.Discovered[row.ID] = Changed{map[string]any{"value": facts}}
	}
}

// nowOfCases is when cases are tried: tasks that are missing in before.json have been so for long.
var nowOfCases = time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC)

// reading returns what a reader of the command knows about the job of a case.
func (e evaluation) reading(selected *config.Command, c *Case, env *attribute.Environment) (command.Reading, error) {
	ids, err := reader.NewIDs(e.definition.IDs)
	reading := command.Reading{IDs: ids, Job: c.Job, Memory: reader.ParseMemory(env.Text("job.tasks")), Now: nowOfCases}
	if selected.Purpose() == config.FindJob {
		reading.Tag = env.Text("job.tag")
	}
	if e.step != nil {
		reading.Step = func(step reader.Step) { e.step(selected, step) }
	}
	return reading, err
}

// runCase runs a command with the recorded answer of a case.
func runCase(ctx context.Context, c *Case, request command.Request) (*command.Result, error) {
	invocation, err := request.Resolve()
	if err != nil {
		return &command.Result{}, err
	}
	connection := &recorded{answer: c, arguments: invocation.Arguments, joined: joinedBy(request, c)}
	return command.Run(ctx, connection, request, invocation)
}

// joinedBy returns what the commands that a command needs have printed, by their command
// lines.
func joinedBy(request command.Request, c *Case) map[string][]byte {
	printed := map[string][]byte{}
	for name, of := range request.Command.Needed() {
		request.Command = of
		if invocation, err := request.Resolve(); err == nil {
			printed[lineOf(invocation.Arguments)] = c.Joined[name]
		}
	}
	return printed
}

// lineOf returns a command line as a key.
func lineOf(arguments []string) string { return strings.Join(arguments, "\x00") }

// selectCommand returns the command that a case is of.
func selectCommand(definition *config.Definition, name string) (*config.Command, error) {
	command, _, err := definition.Select(name)
	return command, err
}

// newJob stands for the job of a case that names no other key for it. It is no
// id, so that none is made up where a definition confuses the two.
const newJob = "00000000-0000-4000-8000-000000000000"

// environment returns the attributes before the command and the key of the job
// among them, empty for a command that acts on none. Some of them are the
// definition's own, so that nobody may change them.
func environment(definition *config.Definition, element config.CommandElement, c *Case) (*attribute.Environment, string, error) {
	env := initialEnvironment(definition, c)
	key := ""
	if element.ActsOnJob() {
		key = newJob
	}
	if c.Before != nil {
		c.Before.Define(env)
		if key != "" && c.Before.Job != "" {
			key = c.Before.Job
		}
	}
	if key == "" || env.Lookup(key) != nil {
		return env, key, nil
	}
	env.SetVariable(key, nil)
	if element.IsSubmit() {
		return env, key, nil
	}
	ids, err := reader.NewIDs(definition.IDs)
	if err != nil {
		return nil, "", err
	}
	var id, short attribute.Value
	if c.Job != "" {
		id, short = ids.Clean(c.Job), c.Job
	}
	if ofJob, _, isID := ids.Split(c.Job); isID {
		short = ofJob
	}
	job := env.Variable(key)
	err = errors.Join(job.Set(attribute.FieldName, id), job.Set(attribute.FieldDefault, short))
	return env, key, err
}

// initialEnvironment returns the attributes of the definition and what is known of the place.
func initialEnvironment(definition *config.Definition, c *Case) *attribute.Environment {
	env := attribute.NewEnvironment()
	for _, defined := range definition.Attributes {
		a := defined.Attribute
		if initial := a.Field(attribute.FieldDefault); a.Value() == nil && initial != nil {
			a = a.Clone()
			a.SetValue(initial)
		}
		env.Define(a.Name(), a)
	}
	for name, value := range (Place{}).Attributes() {
		env.SetVariable(name, value)
	}
	if definition.HasReaders() {
		env.SetVariable(command.MarkAttribute, markIn(c.Arguments))
	}
	return env
}

// recorded is a connection on which one command gives a recorded answer. What
// runs before and after it succeeds and prints nothing.
type recorded struct {
	remote.Connection
	answer    *Case
	arguments []string          // of the command
	joined    map[string][]byte // what other commands print, by their command lines
}

// Start answers.
func (r *recorded) Start(_ context.Context, start remote.Command) (remote.Handle, error) {
	if text, isJoined := r.joined[lineOf(start.Arguments)]; isJoined {
		return answerWith(&Case{Stdout: text}, start)
	}
	// A command that runs for a batch gets the ids in its arguments.
	if isBatch := r.joined != nil && r.answer.Joined[config.BatchIDs] != nil; !isBatch && !slices.Equal(r.arguments, start.Arguments) {
		return ended(0), nil
	}
	return answerWith(r.answer, start)
}

// answerWith writes what was recorded instead of starting a process.
func answerWith(c *Case, start remote.Command) (remote.Handle, error) {
	if c.Missing {
		return nil, &remote.StartError{Program: start.Arguments[0], Directory: start.Directory, Err: remote.ErrCommandNotFound}
	}
	for _, stream := range []struct {
		to   io.Writer
		text []byte
	}{{start.Stdout, c.Stdout}, {start.Stderr, c.Stderr}} {
		if stream.to == nil || len(stream.text) == 0 {
			continue
		}
		if _, err := stream.to.Write(stream.text); err != nil {
			return nil, err
		}
	}
	return ended(c.Exit), nil
}

// ended is a process that has ended with an exit code.
type ended int

// Wait returns the code.
func (p ended) Wait() (int, error) { return int(p), nil }

// Terminate does nothing: the process has ended.
func (ended) Terminate() {}

// Signal reaches nobody: the process has ended.
func (ended) Signal(syscall.Signal) error { return nil }
