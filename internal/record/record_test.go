package record_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/record"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

func newLocal(t *testing.T) remote.Connection {
	t.Helper()
	local, err := remote.NewLocalWith(6*time.Second, 200*time.Millisecond)
	require.NoError(t, err)
	return local
}

func TestRecorderBehavesAsTheConnectionItWraps(t *testing.T) {
	open := func(*testing.T) remote.Connection { return record.New(newLocal(t)) }
	impatient := func(*testing.T) remote.Connection {
		local, err := remote.NewLocalWith(300*time.Millisecond, time.Minute)
		require.NoError(t, err)
		return record.New(local)
	}
	// The rest is for the connection itself.
	remotetest.RunWith(t, open, remotetest.Options{Volume: 4 << 20, Commands: 20, Values: 100, Impatient: impatient})
}

func TestRecorderKeepsWhatACommandWasGivenAndPrinted(t *testing.T) {
	recorder := record.New(newLocal(t))
	var stdout, stderr bytes.Buffer
	process, err := recorder.Start(t.Context(), remote.Command{
		Arguments: []string{"sh", "-c", "cat; echo oops >&2; exit 3"}, Directory: "/", Environment: map[string]string{"A": "b"},
		Stdin: strings.NewReader("typed\n"), Stdout: &stdout, Stderr: &stderr,
	})
	require.NoError(t, err)
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 3, code)
	require.Equal(t, "typed\n", stdout.String())
	require.Equal(t, "oops\n", stderr.String())

	commands := recorder.Commands()
	require.Len(t, commands, 1)
	one := commands[0]
	require.Equal(t, []string{"sh", "-c", "cat; echo oops >&2; exit 3"}, one.Arguments)
	require.Equal(t, "/", one.Directory)
	require.Equal(t, map[string]string{"A": "b"}, one.Environment)
	require.Equal(t, "typed\n", string(one.Stdin))
	require.Equal(t, "typed\n", string(one.Stdout))
	require.Equal(t, "oops\n", string(one.Stderr))
	require.Equal(t, 3, one.Exit)
	require.Positive(t, one.Duration)
	require.Nil(t, one.Command)
}

func TestRecorderKeepsTheOrderOfMergedStreams(t *testing.T) {
	recorder := record.New(newLocal(t))
	var both bytes.Buffer
	process, err := recorder.Start(t.Context(), remote.Command{
		Arguments: []string{"sh", "-c", "echo 1; echo 2 >&2; echo 3"}, Stdout: &both, Stderr: &both,
	})
	require.NoError(t, err)
	_, err = process.Wait()
	require.NoError(t, err)
	require.Equal(t, "1\n2\n3\n", both.String())
	require.Equal(t, "1\n2\n3\n", string(recorder.Commands()[0].Stdout))
	require.Empty(t, recorder.Commands()[0].Stderr)
}

func TestRecorderKeepsOnlyTheBeginningOfLongOutput(t *testing.T) {
	recorder := record.New(talkative{newLocal(t)})
	process, err := recorder.Start(t.Context(), remote.Command{Arguments: []string{"squeue"}, Stdout: io.Discard})
	require.NoError(t, err)
	_, err = process.Wait()
	require.NoError(t, err)
	one := recorder.Commands()[0]
	require.Len(t, one.Stdout, record.MaxOutput)
	require.Equal(t, []string{"stdout"}, one.Cut)
}

func TestRecorderKeepsABoundedNumberOfCommands(t *testing.T) {
	recorder := record.New(silent{newLocal(t)})
	for range record.MaxCommands + 2 {
		_, err := recorder.Start(t.Context(), remote.Command{Arguments: []string{"squeue"}})
		require.NoError(t, err)
	}
	require.Len(t, recorder.Commands(), record.MaxCommands)
	require.Equal(t, 2, recorder.Dropped())
}

// silent is a connection whose commands print nothing.
type silent struct{ remote.Connection }

func (silent) Start(context.Context, remote.Command) (remote.Handle, error) { return done{}, nil }

// talkative is a connection whose commands print one byte more than is recorded.
type talkative struct{ remote.Connection }

func (talkative) Start(_ context.Context, started remote.Command) (remote.Handle, error) {
	_, err := started.Stdout.Write(make([]byte, record.MaxOutput+1))
	return done{}, err
}

type done struct{}

func (done) Wait() (int, error)          { return 0, nil }
func (done) Terminate()                  {}
func (done) Signal(syscall.Signal) error { return nil }

func TestRecorderLeavesOutWhatIsAttachedToTheTerminal(t *testing.T) {
	recorder := record.New(newLocal(t))
	process, err := recorder.Start(t.Context(), remote.Command{Arguments: []string{"true"}, Foreground: true})
	require.NoError(t, err)
	_, err = process.Wait()
	require.NoError(t, err)
	require.Empty(t, recorder.Commands())
	require.Equal(t, 1, recorder.Attached())
}

func TestRecorderReportsMissingPrograms(t *testing.T) {
	recorder := record.New(newLocal(t))
	_, err := recorder.Start(t.Context(), remote.Command{Arguments: []string{"no-such-program-at-all"}})
	require.ErrorIs(t, err, remote.ErrCommandNotFound)
	require.True(t, recorder.Commands()[0].Missing)
}

const recordedDefinition = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="small"><control-data>
  <attribute name="account" type="string"/>
  <attribute name="queues" visible="false"/>
  <start-up-command name="get queues"><arg>echo debug</arg>
    <stdout-parser delim="\n"><target ref="queues"><match><expression>(\w+)</expression><add field="value"><entry valueGroup="1"/></add></match></target></stdout-parser>
  </start-up-command>
  <submit-batch name="submit" waitForId="true">
    <arg>sh -c 'echo "job 7 of $LOGNAME at $HOME for $1"' submit --account=${ptp_rm:account#value}</arg>
    <environment name="LOGNAME" value="${ptp_rm:control.user.name#value}"/>
    <environment name="HOME" value="${ptp_rm:control.working.dir#value}"/>
    <stdout-parser delim="\n"><target ref="@jobId"><match><expression>job (\d+) of.*</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>
  </submit-batch>
  <get-job-status name="status"><arg>sh -c 'echo "$1 ended"' status "${ptp_rm:@jobId#name}"</arg>
    <stdout-parser delim="\n"><target ref="@jobId"><match><expression>(\d+) ended</expression><set field="value"><entry value="COMPLETED"/></set></match></target></stdout-parser>
  </get-job-status>
</control-data></resource-manager-builder>`

// recordSmall submits a job and waits for it, and writes the recording.
func recordSmall(t *testing.T, anonymize bool) (string, *record.Written) {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "small.xml")
	require.NoError(t, os.WriteFile(file, []byte(recordedDefinition), 0o600))
	definition, problems := check.Load(file, []byte(recordedDefinition), nil)
	require.NoError(t, problems.Err())
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	home := t.TempDir()
	recorder := record.New(elsewhere{newLocal(t), remote.Info{Transport: "local", User: "alice", Host: "login7.site.org", Home: home}})
	controller := control.New(control.Options{Definition: definition, Connection: recorder, Store: store})
	j, err := controller.Submit(t.Context(), job.Submission{
		Executable: "true", Arguments: []string{"geheim"}, Directory: home, Values: []job.Assignment{{Name: "account", Value: "fusion"}},
	})
	require.NoError(t, err)
	j, err = controller.Wait(t.Context(), j, "", nil)
	require.NoError(t, err)

	recording := record.Recording{
		Folder: filepath.Join(folder, "recorded"), Definition: file, Loaded: definition, Place: recorder.Info(),
		Commands: recorder.CommandsOf(definition), Jobs: []job.Job{j}, Waited: true,
	}
	if anonymize {
		recording.Names = record.NewAnonymizer(definition.Sources...)
		recording.Names.Person("alice", home)
		recording.Names.Place("login7.site.org")
	}
	written, err := recording.Write(t.Context())
	require.NoError(t, err)
	require.Empty(t, written.Remarks)
	return recording.Folder, written
}

// elsewhere is this machine under another name.
type elsewhere struct {
	remote.Connection
	info remote.Info
}

func (e elsewhere) Info() remote.Info { return e.info }

func TestARecordingPasses(t *testing.T) {
	for name, anonymize := range map[string]bool{"anonymized": true, "as it was": false} {
		t.Run(name, func(t *testing.T) {
			folder, written := recordSmall(t, anonymize)
			require.Len(t, written.Cases, 3)
			folders, err := cases.Find(folder)
			require.NoError(t, err)
			require.Len(t, folders, 4)
			runner := &cases.Runner{}
			require.NoError(t, runner.RunAll(t.Context(), folders, func(result cases.Result) error {
				require.Equal(t, cases.Passed, result.Verdict, "%s: %v %v", result.Folder, result.Differences, result.Err)
				return nil
			}))
		})
	}
}

func TestARecordedFlowHasTheStepsOfTheUser(t *testing.T) {
	_, written := recordSmall(t, true)
	result := (&cases.Runner{}).RunFolder(t.Context(), written.Flow)
	require.NoError(t, result.Err)
	flow := result.Flow
	require.Len(t, flow.Commands, 3)
	require.Equal(t, []string{"submit", "wait"}, []string{flow.Steps[0].Do, flow.Steps[1].Do})
	require.Equal(t, "7", flow.Steps[0].Expect.ID)
	require.Equal(t, "COMPLETED", flow.Steps[1].Expect.State)
}

// recordLists writes the recording of a command that listed queues, with each of these outputs.
func recordLists(t *testing.T, outputs ...string) *cases.Flow {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "listing.xml")
	text := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="listing"><control-data/><monitor-data>
<x:list-queues name="queues"><arg>echo day NORMAL calm</arg><stdout-parser delim="\n">
		<target><match><expression>(\w+) (\w+) (.*)</expression><set field="name"><entry valueGroup="1"/></set>
			<put field="value"><entry key="state" valueGroup="2"/><entry key="reason" valueGroup="3"/></put></match></target>
	</stdout-parser></x:list-queues></monitor-data></resource-manager-builder>`
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	definition, problems := check.Load(file, []byte(text), nil)
	require.NoError(t, problems.Err())
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	recorder := record.New(newLocal(t))
	controller := control.New(control.Options{Definition: definition, Connection: recorder, Store: store})
	_, err = controller.Rows(t.Context(), config.ListQueues, "", func(command.Row) error { return nil })
	require.NoError(t, err)

	listed := recorder.CommandsOf(definition)
	require.Len(t, listed, 1)
	commands := slices.Repeat(listed, len(outputs))
	for i, output := range outputs {
		commands[i].Stdout = []byte(output)
	}
	recording := record.Recording{Folder: filepath.Join(folder, "recorded"), Definition: file, Loaded: definition, Place: recorder.Info(), Commands: commands}
	written, err := recording.Write(t.Context())
	require.NoError(t, err)
	require.Empty(t, written.Remarks)
	result := (&cases.Runner{}).RunFolder(t.Context(), written.Flow)
	require.Equal(t, cases.Passed, result.Verdict, "%v %v", result.Differences, result.Err)
	return result.Flow
}

func TestARecordedListIsAStep(t *testing.T) {
	flow := recordLists(t, "day NORMAL calm\n")
	require.Len(t, flow.Steps, 1)
	require.Equal(t, "queues", flow.Steps[0].Do)
	require.Equal(t, map[string]map[string]string{"day": {"state": "NORMAL", "reason": "calm"}}, flow.Steps[0].Expect.Rows)
}

func TestALongFlowKeepsItsOrder(t *testing.T) {
	var outputs []string
	for i := range 101 {
		outputs = append(outputs, fmt.Sprintf("day NORMAL calm%d\n", i))
	}
	flow := recordLists(t, outputs...)
	require.Len(t, flow.Steps, len(outputs))
	for i, step := range flow.Steps {
		require.Equal(t, fmt.Sprintf("calm%d", i), step.Expect.Rows["day"]["reason"])
	}
}

func TestARecordingHoldsNoNames(t *testing.T) {
	folder, _ := recordSmall(t, true)
	read := 0
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s is readable for others", path)
		if entry.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, name := range []string{"alice", "fusion", "login7", "site.org", "geheim"} {
			require.NotContains(t, string(text), name, path)
		}
		read++
		return nil
	}))
	require.Greater(t, read, 10)
}

func TestAProgramThatIsMissingIsPlayedBackAsMissing(t *testing.T) {
	definition, problems := check.Load("small.xml", []byte(recordedDefinition), nil)
	require.NoError(t, problems.Err())
	answer, err := (&cases.Runner{Loaded: definition}).Evaluate(t.Context(), &cases.Case{Command: "get-job-status", Job: "7", Missing: true})
	require.NoError(t, err)
	require.Equal(t, command.NotStarted, answer.Status.Failure)
	require.ErrorIs(t, answer.Err, remote.ErrCommandNotFound)
}

// A command that acts on jobs in one stage queries the job first, which is no step of the user.
func TestTheQueryBeforeAnOperationIsNoStep(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "guarded.xml")
	text := strings.Replace(strings.Replace(recordedDefinition, `<entry value="COMPLETED"/>`, `<entry value="QUEUED_ACTIVE"/>`, 1), "</control-data>",
		`<hold-job name="hold" x:only="waiting"><arg>echo held ${ptp_rm:@jobId#name}</arg></hold-job></control-data>`, 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	definition, problems := check.Load(file, []byte(text), nil)
	require.NoError(t, problems.Err())
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	recorder := record.New(newLocal(t))
	controller := control.New(control.Options{Definition: definition, Connection: recorder, Store: store})
	j, err := controller.Submit(t.Context(), job.Submission{Executable: "true", Directory: folder})
	require.NoError(t, err)
	require.NoError(t, controller.Operate(t.Context(), control.Hold, j))

	recording := record.Recording{
		Folder: filepath.Join(folder, "recorded"), Definition: file, Loaded: definition, Place: recorder.Info(),
		Commands: recorder.CommandsOf(definition), Jobs: []job.Job{j},
	}
	written, err := recording.Write(t.Context())
	require.NoError(t, err)
	result := (&cases.Runner{}).RunFolder(t.Context(), written.Flow)
	require.Equal(t, cases.Passed, result.Verdict, "%v %v", result.Differences, result.Err)
	require.Len(t, result.Flow.Steps, 2)
	require.Equal(t, []string{"submit", "hold"}, []string{result.Flow.Steps[0].Do, result.Flow.Steps[1].Do})
	require.Len(t, result.Flow.Commands, 4)
}
