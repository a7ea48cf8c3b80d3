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

const pbsCases = "../testdata/pbs"

// A pbsExpectation is what a case's expected.json says that the definition
// makes of the output. What is not mentioned must be unset.
type pbsExpectation struct {
	State   string             `json:"state"`
	ID      string             `json:"id"` // as submission found it
	ShortID string             `json:"shortId"`
	Facts   map[string]string  `json:"facts"`
	Queues  []string           `json:"queues"`
	Outcome config.OutcomeKind `json:"outcome"`
	Error   bool               `json:"error"`
}

// A recorded connection answers every command with the same output.
type recorded struct {
	remote.Connection
	stdout, stderr []byte
	exit           int
	arguments      []string
}

type recordedProcess int

func (p recordedProcess) Wait() (int, error) { return int(p), nil }
func (recordedProcess) Terminate()           {}

func (r *recorded) Start(_ context.Context, start remote.Command) (remote.Process, error) {
	r.arguments = start.Arguments
	for stream, text := range map[io.Writer][]byte{start.Stdout: r.stdout, start.Stderr: r.stderr} {
		if stream == nil {
			continue
		}
		if _, err := stream.Write(text); err != nil {
			return nil, err
		}
	}
	return recordedProcess(r.exit), nil
}

func TestPBSReadsRecordedOutputs(t *testing.T) {
	definition := pbsDefinition(t)
	folders, err := os.ReadDir(pbsCases)
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			replayPBS(t, definition, filepath.Join(pbsCases, folder.Name()))
		})
	}
}

func replayPBS(t *testing.T, definition *config.Definition, folder string) {
	var expected pbsExpectation
	require.NoError(t, json.Unmarshal(read(t, folder, "expected.json"), &expected))
	exit, err := strconv.Atoi(line(t, folder, "exit"))
	require.NoError(t, err)
	connection := &recorded{stdout: read(t, folder, "stdout"), stderr: read(t, folder, "stderr"), exit: exit}

	got := runPBS(t, definition, line(t, folder, "command"), optionalLine(t, folder, "job"), connection)
	require.Equal(t, expected, got)
}

// runPBS runs one command of the definition against a recorded answer and
// returns what it left.
func runPBS(t *testing.T, definition *config.Definition, selector, job string, connection *recorded) pbsExpectation {
	parsed, err := config.ParseSelector(selector)
	require.NoError(t, err)
	selected, err := definition.Select(parsed)
	require.NoError(t, err)

	env := pbsEnvironment(definition)
	const key = "0b0f3c1e-query"
	env.SetVariable(key, nil)
	subject := env.Variable(key)
	var name attribute.Value // none while a job is being submitted
	if job != "" {
		name = job
	}
	require.NoError(t, subject.Set(attribute.FieldName, name))
	runner := command.Runner{Connection: connection}
	result, err := runner.Run(t.Context(), command.Request{
		Command: selected, Scope: command.Scope{Environment: env, Job: key}, Outcomes: definition.Outcomes,
	})
	if err != nil {
		var failed *command.Error
		require.True(t, errors.As(err, &failed), "%v", err)
	}
	if job != "" {
		require.Equal(t, job, connection.arguments[len(connection.arguments)-1], "the job is one argument")
	}

	got := pbsExpectation{
		State: attribute.Text(subject.Value()), ShortID: attribute.Text(subject.Field(attribute.FieldDefault)),
		Outcome: result.Outcome, Error: err != nil,
	}
	if selected.Element.IsSubmit() {
		got.ID = subject.Name()
	}
	for _, defined := range definition.Attributes {
		name := defined.Name()
		if text := env.Text(name); publicFact(name) && text != "" {
			if got.Facts == nil {
				got.Facts = map[string]string{}
			}
			got.Facts[name] = text
		}
	}
	if selected.Element == config.StartUpCommand {
		got.Queues = []string{}
		if queues, ok := env.Lookup("queues").Value().([]string); ok {
			got.Queues = queues
		}
	}
	return got
}

// publicFact tells the facts of a job from the attributes that only the
// definition's own tests look at.
func publicFact(name string) bool {
	switch name {
	case "job.native", "job.exitCode", "job.signal", "job.reason", "job.queue", "job.name", "job.nodes",
		"job.submitted", "job.started", "job.ended":
		return true
	}
	return false
}

func pbsDefinition(t testing.TB) *config.Definition {
	source, ok := rms.Source("pbs")
	require.True(t, ok)
	definition, problems := config.Load("pbs.xml", source)
	require.Empty(t, problems)
	return definition
}

func pbsEnvironment(definition *config.Definition) *attribute.Environment {
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

func read(t testing.TB, folder, name string) []byte {
	content, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return content
}

func line(t testing.TB, folder, name string) string {
	return strings.TrimSpace(string(read(t, folder, name)))
}

func optionalLine(t testing.TB, folder, name string) string {
	if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
		return ""
	}
	return line(t, folder, name)
}
