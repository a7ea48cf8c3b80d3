package rms_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// A pbsAnswer is a connection that answers every command with the same output.
type pbsAnswer struct {
	remote.Connection
	stdout, stderr []byte
	exit           int
	arguments      []string
}

type pbsProcess int

func (p pbsProcess) Wait() (int, error) { return int(p), nil }
func (pbsProcess) Terminate()           {}

func (r *pbsAnswer) Start(_ context.Context, start remote.Command) (remote.Process, error) {
	r.arguments = start.Arguments
	for stream, text := range map[io.Writer][]byte{start.Stdout: r.stdout, start.Stderr: r.stderr} {
		if stream == nil {
			continue
		}
		if _, err := stream.Write(text); err != nil {
			return nil, err
		}
	}
	return pbsProcess(r.exit), nil
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
	exit, err := strconv.Atoi(pbsLine(t, folder, "exit"))
	require.NoError(t, err)
	connection := &pbsAnswer{stdout: pbsFile(t, folder, "stdout"), stderr: pbsFile(t, folder, "stderr"), exit: exit}

	got := runPBS(t, definition, pbsLine(t, folder, "command"), optionalPBSLine(t, folder, "job"), connection)
	require.Equal(t, expectedPBS(t, folder), got)
}

func expectedPBS(t testing.TB, folder string) pbsExpectation {
	var expected pbsExpectation
	require.NoError(t, json.Unmarshal(pbsFile(t, folder, "expected.json"), &expected))
	return expected
}

// runPBS runs one command of the definition against a recorded answer and
// returns what it left.
func runPBS(t *testing.T, definition *config.Definition, selector, job string, connection *pbsAnswer) pbsExpectation {
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
		if text := env.Text(name); isPBSFact(name) && text != "" {
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

// isPBSFact tells the facts of a job from the attributes that only the
// definition's own tests look at.
func isPBSFact(name string) bool {
	switch name {
	case "job.native", "job.exitCode", "job.signal", "job.reason", "job.queue", "job.name", "job.nodes",
		"job.submitted", "job.started", "job.ended":
		return true
	}
	return false
}

// What a query is told of a job may end anywhere, where a connection is lost
// or a client killed. That must not make a state that the whole does not give.
func TestPBSConcludesNothingWrongFromPartOfARecord(t *testing.T) {
	definition := pbsDefinition(t)
	folders, err := filepath.Glob(filepath.Join(pbsCases, "*"))
	require.NoError(t, err)
	tried := map[string]bool{}
	for _, folder := range folders {
		stdout := pbsFile(t, folder, "stdout")
		kind := pbsLine(t, folder, "command") + string(decidingLine.Find(stdout)) + expectedPBS(t, folder).State
		if !bytes.HasPrefix(stdout, []byte("Job Id: ")) || tried[kind] {
			continue
		}
		tried[kind] = true // one of each kind: reading takes its time
		t.Run(filepath.Base(folder), func(t *testing.T) {
			selector, job := pbsLine(t, folder, "command"), pbsLine(t, folder, "job")
			whole := runPBS(t, definition, selector, job, &pbsAnswer{stdout: stdout})
			for _, end := range cuts(stdout) {
				part := runPBS(t, definition, selector, job, &pbsAnswer{stdout: stdout[:end]})
				context := "of the first " + strconv.Itoa(end) + " bytes"
				if whole.State != "SYSTEM_SUSPENDED" || part.State != "SUSPENDED" { // less is said, nothing wrong
					require.Contains(t, []string{"", whole.State}, part.State, context)
				}
				for name, text := range part.Facts {
					require.True(t, strings.HasPrefix(whole.Facts[name], text), "%s is %q %s", name, text, context)
				}
				require.Contains(t, []string{"", whole.Facts["job.exitCode"]}, part.Facts["job.exitCode"], context)
			}
		})
	}
}

var decidingLine = regexp.MustCompile(`(?m)^ {4}(?:job_state|Hold_Types|substate|Exit_status|history_timestamp) = .*$`)

// cuts returns where to cut a record: in the value, before the line break and
// after it of every line that decides a state.
func cuts(record []byte) []int {
	var ends []int
	for _, place := range decidingLine.FindAllIndex(record, -1) {
		ends = append(ends, place[1]-1, place[1], place[1]+1)
	}
	return ends
}

// Whatever job's record is read after another's, nothing of the other shows.
func TestPBSKeepsRecordsApart(t *testing.T) {
	definition := pbsDefinition(t)
	succeeded := pbsFile(t, filepath.Join(pbsCases, "finished-ok"), "stdout")
	neverRan := pbsFile(t, filepath.Join(pbsCases, "finished-never-ran"), "stdout")
	got := runPBS(t, definition, "fallback:qstat-finished", "4002.pbs01", &pbsAnswer{stdout: slices.Concat(succeeded, neverRan)})
	require.Equal(t, "FAILED", got.State)
}

// PBS stops reading directives at the first command of a script.
func TestPBSScriptPutsTheEnvironmentBehindAllDirectives(t *testing.T) {
	script := pbsDefinition(t).Script
	for i, line := range script.Lines {
		if i == 0 {
			continue
		}
		require.Equal(t, i <= script.InsertEnvironmentAfter, strings.HasPrefix(line.Arguments[0].Text, "#PBS "), "line %d", i)
	}
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

func pbsFile(t testing.TB, folder, name string) []byte {
	content, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return content
}

func pbsLine(t testing.TB, folder, name string) string {
	return strings.TrimSpace(string(pbsFile(t, folder, name)))
}

func optionalPBSLine(t testing.TB, folder, name string) string {
	if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
		return ""
	}
	return pbsLine(t, folder, name)
}
