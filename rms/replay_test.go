package rms_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
)

// Recorded cases stand in testdata/pbs and testdata/slurm, a folder for each:
// command (a selector), job (the id it was run for), stdout, stderr, exit and
// expected.json. What is empty may be left out, but for exit.

// An exchange is one command of a definition, the job it is run for, and what
// the scheduler answered.
type exchange struct {
	selector, job  string
	stdout, stderr string
	exit           int
}

// An expectation is what a definition makes of an exchange. What a case's
// expected.json does not mention must be unset.
type expectation struct {
	State   string             `json:"state,omitempty"`
	ID      string             `json:"id,omitempty"` // as submission found it
	ShortID string             `json:"shortId,omitempty"`
	Facts   map[string]string  `json:"facts,omitempty"`
	Queues  []string           `json:"queues,omitempty"`
	Version string             `json:"version,omitempty"` // of the scheduler
	Outcome config.OutcomeKind `json:"outcome,omitempty"`
	Error   bool               `json:"error,omitempty"`
}

// jobFacts are the attributes that the engine reads after a status query.
var jobFacts = []string{
	"job.native", "job.exitCode", "job.signal", "job.reason", "job.queue", "job.name", "job.nodes",
	"job.submitted", "job.started", "job.ended", "job.outputPath", "job.errorPath",
}

// shippedDefinition loads a definition of this folder.
func shippedDefinition(t testing.TB, name string) *config.Definition {
	source, ok := rms.Source(name)
	require.True(t, ok)
	definition, problems := config.Load(name+".xml", source)
	require.Empty(t, problems)
	return definition
}

// caseFolders returns the folders of the cases below root.
func caseFolders(t testing.TB, root string) []string {
	folders, err := filepath.Glob(filepath.Join(root, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	return folders
}

// recordedExchange reads the exchange of a case.
func recordedExchange(t testing.TB, folder string) exchange {
	exit, err := strconv.Atoi(caseLine(t, folder, "exit"))
	require.NoError(t, err)
	return exchange{
		selector: caseLine(t, folder, "command"), job: caseLine(t, folder, "job"),
		stdout: caseFile(t, folder, "stdout"), stderr: caseFile(t, folder, "stderr"), exit: exit,
	}
}

// recordedExpectation reads what is expected of a case.
func recordedExpectation(t testing.TB, folder string) expectation {
	decoder := json.NewDecoder(strings.NewReader(caseFile(t, folder, "expected.json")))
	decoder.DisallowUnknownFields()
	var expected expectation
	require.NoError(t, decoder.Decode(&expected), folder)
	return expected
}

// caseFile returns the text of a case's file, empty if the case has none.
func caseFile(t testing.TB, folder, name string) string {
	content, err := os.ReadFile(filepath.Join(folder, name))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	return string(content)
}

func caseLine(t testing.TB, folder, name string) string {
	return strings.TrimSpace(caseFile(t, folder, name))
}

// replay runs commands of a definition against recorded answers and returns
// what the last one left. They run one after the other in one environment, as a
// status command and its fallbacks do.
func replay(t testing.TB, definition *config.Definition, exchanges ...exchange) expectation {
	const key = "5d3c8f0e-query"
	env := definedEnvironment(definition)
	env.SetVariable(key, nil)
	job := env.Variable(key)
	var got expectation
	for _, e := range exchanges {
		selector, err := config.ParseSelector(e.selector)
		require.NoError(t, err)
		selected, err := definition.Select(selector)
		require.NoError(t, err)
		var id attribute.Value // none while a job is being submitted
		if e.job != "" {
			id = e.job
		}
		require.NoError(t, job.Set(attribute.FieldName, id))

		runner := command.Runner{Connection: answering{exchange: e}}
		result, err := runner.Run(t.Context(), command.Request{
			Command: selected, Scope: command.Scope{Environment: env, Job: key}, Outcomes: definition.Outcomes,
		})
		var failed *command.Error
		require.True(t, err == nil || errors.As(err, &failed), "%v", err)
		if arguments := result.Invocation.Arguments; e.job != "" {
			require.Equal(t, e.job, arguments[len(arguments)-1], "the job is one argument")
		}
		got = expectation{Outcome: result.Outcome, Error: err != nil}
		if selected.Element.IsSubmit() {
			got.ID = job.Name()
		}
	}
	got.State, got.ShortID = attribute.Text(job.Value()), attribute.Text(job.Field(attribute.FieldDefault))
	got.Version = env.Text(definition.Name + ".version")
	for _, fact := range jobFacts {
		if text := env.Text(fact); text != "" {
			if got.Facts == nil {
				got.Facts = map[string]string{}
			}
			got.Facts[fact] = text
		}
	}
	if queues := env.Lookup("queues"); queues != nil {
		got.Queues, _ = queues.Value().([]string)
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

func (a answering) Start(_ context.Context, start remote.Command) (remote.Process, error) {
	return a.answer(start)
}

// answer writes the recorded output instead of starting a process.
func (e exchange) answer(start remote.Command) (remote.Process, error) {
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

func (p endedProcess) Wait() (int, error) { return int(p), nil }
func (endedProcess) Terminate()           {}
