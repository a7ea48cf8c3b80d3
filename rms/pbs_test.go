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
	connection := &pbsAnswer{stdout: pbsFile(t, folder, "stdout"), stderr: pbsFile(t, folder, "stderr"), exit: pbsExit(t, folder)}

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
		"job.submitted", "job.started", "job.ended", "job.outputPath", "job.errorPath":
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

// Whatever record is read after another, nothing of the other decides.
func TestPBSKeepsRecordsApart(t *testing.T) {
	definition := pbsDefinition(t)
	record := func(name string) []byte { return pbsFile(t, filepath.Join(pbsCases, name), "stdout") }
	without := func(line, name string) []byte {
		return regexp.MustCompile(`(?m)^    `+line+` = .*\n`).ReplaceAll(record(name), nil)
	}
	for _, test := range []struct {
		behaviour     string
		first, second []byte
		state         string
	}{
		{"exit status", record("finished-ok"), record("finished-never-ran"), "FAILED"},
		{"substate", record("finished-deleted-in-queue"), without("substate", "finished-ok"), "COMPLETED"},
		{"exceeded limit", record("made-over-walltime-by-term"), record("made-deleted-without-substate"), "CANCELED"},
		{"hold", record("status-held-by-user"), record("made-held-no-types"), "SYSTEM_ON_HOLD"},
		{"letter of the state", record("finished-ok"), without("job_state", "finished-ok"), ""},
		{"end of the record", record("finished-ok"), record("made-cut-before-exit-status"), ""},
	} {
		for _, selector := range []string{"get-job-status", "fallback:qstat-finished"} {
			got := runPBS(t, definition, selector, "1.pbs01", &pbsAnswer{stdout: slices.Concat(test.first, test.second)})
			require.Equal(t, test.state, got.State, test.behaviour)
		}
	}
	signalled := slices.Concat(record("finished-by-signal"), record("finished-ok"))
	got := runPBS(t, definition, "get-job-status", "1.pbs01", &pbsAnswer{stdout: signalled})
	require.Empty(t, got.Facts["job.signal"])

	for _, test := range []struct {
		behaviour     string
		first, second []byte
		state         string
	}{
		{"substate", record("folded-finished-deleted"), without("substate", "folded-finished-ok"), ""},
		{"start", record("folded-finished-ok"), record("folded-finished-never-ran"), "FAILED"},
		{"hold", record("folded-held"), without("Hold_Types", "folded-held"), "SYSTEM_ON_HOLD"},
		{"letter of the state", record("folded-held"), without("job_state", "folded-suspended"), ""},
	} {
		untilVariables := test.first[:bytes.Index(test.first, []byte("    Variable_List"))]
		got := runPBS(t, definition, "fallback:qstat-folded", "1.pbs01", &pbsAnswer{stdout: slices.Concat(untilVariables, test.second)})
		require.Equal(t, test.state, got.State, test.behaviour)
	}
}

// What PBS says of a job that has not ended means the same from every client.
func TestPBSReadsFoldedRecordsLikeUnfoldedOnes(t *testing.T) {
	definition := pbsDefinition(t)
	folders, err := filepath.Glob(filepath.Join(pbsCases, "*"))
	require.NoError(t, err)
	for _, folder := range folders {
		expected := expectedPBS(t, folder)
		if native := expected.Facts["job.native"]; native == "" || strings.Contains("FX", native) {
			continue
		}
		answer := &pbsAnswer{stdout: pbsFile(t, folder, "stdout")}
		got := runPBS(t, definition, "fallback:qstat-folded", pbsLine(t, folder, "job"), answer)
		require.Equal(t, expected.State, got.State, folder)
	}
}

// The format cannot share a parser between commands: the copies must not drift apart.
func TestPBSFallbacksReadLikeWhatTheyStandInFor(t *testing.T) {
	source, _ := rms.Source("pbs")
	_, status, _ := strings.Cut(string(source), "<get-job-status")
	status, _, _ = strings.Cut(status, "</get-job-status>")
	var parsers []string
	for _, parser := range regexp.MustCompile(`(?s)<stdout-parser.*?</stdout-parser>`).FindAllString(status, -1) {
		parser = regexp.MustCompile(`<else><throw [^>]*/></else>`).ReplaceAllString(parser, "")
		parsers = append(parsers, strings.Join(strings.Fields(parser), " "))
	}
	require.Len(t, parsers, 4)
	require.Equal(t, parsers[0], parsers[1])
	require.Equal(t, parsers[2], parsers[3])
}

func TestPBSTellsTheSignalThatEndedAJob(t *testing.T) {
	definition := pbsDefinition(t)
	record := pbsFile(t, filepath.Join(pbsCases, "finished-by-signal"), "stdout")
	for _, signal := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 31} {
		for _, base := range []int{128, 256} { // of the script, of the whole job
			status := strconv.Itoa(base + signal)
			stdout := bytes.Replace(record, []byte("Exit_status = 137\n"), []byte("Exit_status = "+status+"\n"), 1)
			got := runPBS(t, definition, "fallback:qstat-finished", "38.pbs01", &pbsAnswer{stdout: stdout})
			require.Equal(t, strconv.Itoa(signal), got.Facts["job.signal"], status)
			require.Equal(t, status, got.Facts["job.exitCode"])
		}
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

func pbsExit(t testing.TB, folder string) int {
	exit, err := strconv.Atoi(pbsLine(t, folder, "exit"))
	require.NoError(t, err)
	return exit
}

func optionalPBSLine(t testing.TB, folder, name string) string {
	if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
		return ""
	}
	return pbsLine(t, folder, name)
}
