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

// slurmCases holds a folder for each recorded command: command (a selector),
// job (the id it was asked for), stdout, stderr, exit and expected.json. With
// RMCTL_UPDATE=1 the tests write expected.json instead of comparing with it.
const slurmCases = "../testdata/slurm"

// A slurmAnswer is what the definition makes of the output of one command.
type slurmAnswer struct {
	State   string             `json:"state,omitempty"`
	ID      string             `json:"id,omitempty"`      // as submission found it
	ShortID string             `json:"shortId,omitempty"` // as submission found it
	Facts   map[string]string  `json:"facts,omitempty"`
	Queues  []string           `json:"queues,omitempty"`
	Version string             `json:"version,omitempty"`
	Outcome config.OutcomeKind `json:"outcome,omitempty"`
	Error   bool               `json:"error,omitempty"`
}

func TestSlurmReadsRecordedOutputs(t *testing.T) {
	definition := slurmDefinition(t)
	folders, err := os.ReadDir(slurmCases)
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, entry := range folders {
		t.Run(entry.Name(), func(t *testing.T) {
			folder := filepath.Join(slurmCases, entry.Name())
			exit, err := strconv.Atoi(strings.TrimSpace(slurmFile(t, folder, "exit")))
			require.NoError(t, err)
			got := askSlurm(t, definition, slurmQuestion{
				selector: strings.TrimSpace(slurmFile(t, folder, "command")),
				job:      strings.TrimSpace(slurmFile(t, folder, "job")),
				stdout:   slurmFile(t, folder, "stdout"),
				stderr:   slurmFile(t, folder, "stderr"),
				exit:     exit,
			})
			compareWithGolden(t, filepath.Join(folder, "expected.json"), got)
		})
	}
}

func compareWithGolden(t *testing.T, file string, got slurmAnswer) {
	if os.Getenv("RMCTL_UPDATE") == "1" {
		text, err := json.MarshalIndent(got, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o644))
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var expected slurmAnswer
	require.NoError(t, json.Unmarshal(text, &expected))
	require.Equal(t, expected, got)
}

// A slurmQuestion is a command, the job it is run for and what it answers.
type slurmQuestion struct {
	selector, job  string
	stdout, stderr string
	exit           int
}

// Start answers instead of a process.
func (q slurmQuestion) Start(_ context.Context, start remote.Command) (remote.Process, error) {
	_, err := io.WriteString(start.Stdout, q.stdout)
	_, errOfStderr := io.WriteString(start.Stderr, q.stderr)
	return endedProcess(q.exit), errors.Join(err, errOfStderr)
}

type endedProcess int

func (p endedProcess) Wait() (int, error) { return int(p), nil }
func (endedProcess) Terminate()           {}

// answering is a connection on which every command gives the same answer.
type answering struct {
	remote.Connection
	slurmQuestion
}

func (a answering) Start(ctx context.Context, start remote.Command) (remote.Process, error) {
	return a.slurmQuestion.Start(ctx, start)
}

// askSlurm runs commands of the definition against recorded answers, one after
// the other in one environment as the fallbacks of a query do, and returns what
// the last one left.
func askSlurm(t testing.TB, definition *config.Definition, questions ...slurmQuestion) slurmAnswer {
	const key = "5d3c8f0e-query"
	env := slurmEnvironment(definition)
	env.SetVariable(key, nil)
	job := env.Variable(key)
	var selected *config.Command
	var result *command.Result
	var err error
	for _, q := range questions {
		var selector config.Selector
		selector, err = config.ParseSelector(q.selector)
		require.NoError(t, err)
		selected, err = definition.Select(selector)
		require.NoError(t, err)
		var name attribute.Value // none while a job is being submitted
		if q.job != "" {
			name = q.job
		}
		require.NoError(t, job.Set(attribute.FieldName, name))
		runner := command.Runner{Connection: answering{slurmQuestion: q}}
		result, err = runner.Run(t.Context(), command.Request{
			Command: selected, Scope: command.Scope{Environment: env, Job: key}, Outcomes: definition.Outcomes,
		})
		var failed *command.Error
		require.True(t, err == nil || errors.As(err, &failed), "%v", err)
	}

	got := slurmAnswer{
		State: attribute.Text(job.Value()), Version: env.Text("slurm.version"),
		Outcome: result.Outcome, Error: err != nil,
	}
	if selected.Element.IsSubmit() {
		got.ID, got.ShortID = job.Name(), attribute.Text(job.Field(attribute.FieldDefault))
	}
	for _, fact := range slurmFacts {
		if a := env.Lookup(fact); a.Value() != nil {
			if got.Facts == nil {
				got.Facts = map[string]string{}
			}
			got.Facts[strings.TrimPrefix(fact, "job.")] = attribute.Text(a.Value())
		}
	}
	if queues, ok := env.Lookup("queues").Value().([]string); ok {
		got.Queues = queues
	}
	return got
}

// slurmFacts are what the engine clears before a status query and reads after it.
var slurmFacts = []string{
	"job.native", "job.exitCode", "job.signal", "job.reason", "job.queue", "job.name", "job.nodes",
	"job.submitted", "job.started", "job.ended",
}

func slurmDefinition(t testing.TB) *config.Definition {
	source, ok := rms.Source("slurm")
	require.True(t, ok)
	definition, problems := config.Load("slurm.xml", source)
	require.Empty(t, problems)
	return definition
}

func slurmEnvironment(definition *config.Definition) *attribute.Environment {
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

// slurmFile returns the text of a case's file, empty if the case has none.
func slurmFile(t testing.TB, folder, name string) string {
	content, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	require.NoError(t, err)
	return string(content)
}
