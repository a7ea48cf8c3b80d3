package rms_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
	"github.com/rmctl/rmctl/tokenizer"
)

// An exchange is one command of a definition, the job it is run for, and what
// the scheduler answered.
type exchange struct {
	selector, job  string
	stdout, stderr string
	exit           int
	programs       map[string]string // what programs of joins print, by name
}

// A reading is what a definition makes of exchanges.
type reading struct {
	State   string
	Facts   map[string]string
	Outcome config.OutcomeKind
	Error   bool
}

// jobFacts are the attributes that the engine reads after a status query.
var jobFacts = []string{
	"job.native", "job.exitCode", "job.signal", "job.reason", "job.queue", "job.name", "job.nodes",
	"job.submitted", "job.started", "job.ended", "job.outputPath", "job.errorPath",
}

// shippedDefinition loads a definition of this folder.
// It is read and checked once for all tests: none of them changes it.
func shippedDefinition(t testing.TB, name string) *config.Definition {
	load, _ := shippedDefinitions.LoadOrStore(name, sync.OnceValues(func() (*config.Definition, config.Diagnostics) {
		source, _ := rms.Source(name)
		return check.Load(name+".xml", source, check.ReadBase)
	}))
	definition, problems := load.(func() (*config.Definition, config.Diagnostics))()
	require.Empty(t, problems)
	return definition
}

var shippedDefinitions sync.Map // by name: what loads a definition once

// caseFolders returns the folders of the cases below root.
func caseFolders(t testing.TB, root string) []string {
	folders, err := cases.Find(root)
	require.NoError(t, err)
	return folders
}

// recordedExchange reads the exchange of a case.
func recordedExchange(t testing.TB, folder string) exchange {
	recorded, err := cases.Read(folder)
	require.NoError(t, err)
	return exchange{
		selector: recorded.Command, job: recorded.Job,
		stdout: string(recorded.Stdout), stderr: string(recorded.Stderr), exit: recorded.Exit,
	}
}

// expectedState returns the state that a case expects, and the scheduler's word for it.
func expectedState(t testing.TB, folder string) (detail, native string) {
	recorded, err := cases.Read(folder)
	require.NoError(t, err)
	require.NotNil(t, recorded.Expected, folder)
	if job := recorded.Expected.Job; job != nil {
		detail = string(job.Detail)
	}
	native, _ = recorded.Expected.Attributes["job.native"].Value().(string)
	return detail, native
}

// expressions keeps what was compiled, which takes longer than reading a short output.
var expressions tokenizer.Expressions

// replayMark is the mark of the queries that are replayed.
const replayMark = "@0123456789abcdef"

// replay runs commands of a definition against recorded answers and returns
// what the last one left. They run one after the other in one environment, as a
// status command and its fallbacks do.
func replay(t testing.TB, definition *config.Definition, exchanges ...exchange) reading {
	const key = "5d3c8f0e-query"
	env := definedEnvironment(definition)
	env.SetVariable(key, nil)
	job := env.Variable(key)
	var got reading
	for _, e := range exchanges {
		selected, _, err := definition.Select(e.selector)
		require.NoError(t, err)
		var id attribute.Value // none while a job is being submitted
		if e.job != "" {
			id = e.job
		}
		require.NoError(t, job.Set(attribute.FieldName, id))
		require.NoError(t, job.Set(attribute.FieldDefault, id))
		env.SetVariable(command.MarkAttribute, replayMark)

		ids, err := reader.NewIDs(definition.IDs)
		require.NoError(t, err)
		request := command.Request{
			Command: selected, Scope: config.Scope{Environment: env, Job: key}, Outcomes: definition.Outcomes, Expressions: &expressions,
			Reading: command.Reading{IDs: ids, Job: e.job},
		}
		invocation, err := request.Resolve()
		require.NoError(t, err)
		result, err := command.Run(t.Context(), answering{exchange: e}, request, invocation)
		var failed *command.Error
		require.True(t, err == nil || errors.As(err, &failed), "%v", err)
		if e.job != "" && config.CommandElement(e.selector).IsCore() {
			require.Contains(t, invocation.Arguments, e.job, "the job is one argument")
		}
		got = reading{Outcome: result.Outcome, Error: err != nil}
	}
	got.State = attribute.Text(job.Value())
	for _, fact := range jobFacts {
		if text := env.Text(fact); text != "" {
			if got.Facts == nil {
				got.Facts = map[string]string{}
			}
			got.Facts[fact] = text
		}
	}
	return got
}

// definedEnvironment returns the environment at the start of a session.
func definedEnvironment(definition *config.Definition) *attribute.Environment {
	env := attribute.NewEnvironment()
	for _, defined := range definition.Attributes {
		a := defined.Clone()
		if a.Value() == nil {
			a.SetValue(a.Field(attribute.FieldDefault))
		}
		env.Define(a.Name(), a)
	}
	return env
}

// answering is a connection on which every command gives the answer of one
// exchange.
type answering struct {
	remote.Connection
	exchange
}

func (a answering) Start(_ context.Context, start remote.Command) (remote.Handle, error) {
	return a.answer(start)
}

// answer writes the recorded output instead of starting a process.
func (e exchange) answer(start remote.Command) (remote.Handle, error) {
	if joined, isJoined := e.programs[start.Arguments[0]]; isJoined {
		e.stdout = joined
	}
	for _, stream := range []struct {
		to   io.Writer
		text string
	}{{start.Stdout, e.stdout}, {start.Stderr, e.stderr}} {
		if stream.to == nil {
			continue
		}
		if _, err := io.WriteString(stream.to, stream.text); err != nil {
			return nil, err
		}
	}
	return endedProcess(e.exit), nil
}

// An endedProcess is a process that has ended with an exit code.
type endedProcess int

func (p endedProcess) Wait() (int, error)        { return int(p), nil }
func (endedProcess) Terminate()                  {}
func (endedProcess) Signal(syscall.Signal) error { return nil }
