package bridge_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

func TestMain(m *testing.M) { remotetest.Main(m) }

// A place is this machine, where one program is an agent scripted by a test.
type place struct {
	remote.Connection
	agent *agenttest.Place
}

func (p *place) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	if command.Arguments[0] == "agent" {
		return p.agent.Start(ctx, command)
	}
	return p.Connection.Start(ctx, command)
}

// open returns a connection to an agent.
func open(t *testing.T, act func(a *agenttest.Agent)) *bridge.Connection {
	t.Helper()
	t.Parallel()
	return over(t, agenttest.Acting(act), bridge.Options{Agent: []string{"agent"}})
}

func over(t *testing.T, agent *agenttest.Place, o bridge.Options) *bridge.Connection {
	t.Helper()
	here, err := remote.NewLocal()
	require.NoError(t, err)
	c := bridge.New(&place{here, agent}, o)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// run runs a command of the agent.
func run(t *testing.T, c remote.Connection, words ...string) (stdout, stderr string, code int, err error) {
	t.Helper()
	var output, failures bytes.Buffer
	handle, err := c.Start(t.Context(), remote.Command{Arguments: append([]string{definition.Command}, words...), Directory: "/work", Environment: map[string]string{"A": "b c"}, Stdout: &output, Stderr: &failures})
	if err != nil {
		return "", "", -1, err
	}
	code, err = handle.Wait()
	return output.String(), failures.String(), code, err
}

// rows runs a listing and returns its rows.
func rows(t *testing.T, c remote.Connection, words ...string) []map[string]any {
	t.Helper()
	stdout, stderr, code, err := run(t, c, words...)
	require.NoError(t, err)
	require.Zero(t, code, stderr)
	var document map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &document), stdout)
	return document[words[0]]
}

// quit ends an agent with QUIT.
func quit(a *agenttest.Agent) { a.OK(a.Await(proxy.Quit)) }

const announced = "e0 0 1 2 1 name=batch"

func TestOtherCommandsAndFilesGoThrough(t *testing.T) {
	remotetest.Run(t, func(t *testing.T) remote.Connection {
		here, err := remote.NewLocal()
		require.NoError(t, err)
		return bridge.New(here, bridge.Options{Agent: []string{"/nonexistent"}})
	})
}

func TestListingsContainAnnouncedElements(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events("dd 0 1 1 2 name=big machineState=UP", announced, "de 1 1 3 3 name=n1 nodeState=UP colour=green",
			"dc 2 1 4 4 name=sums jobState=RUNNING userId=ada jobNumProcs=4")
		quit(a)
	})
	jobs := rows(t, c, "jobs")
	require.Len(t, jobs, 1)
	require.Equal(t, "sums", jobs[0]["name"])
	require.Equal(t, "RUNNING", jobs[0]["detail"])
	require.Equal(t, "batch", jobs[0]["queue"])
	require.Equal(t, "4", jobs[0]["cpus"])
	one := rows(t, c, "jobs", jobs[0]["id"].(string))
	require.Equal(t, "4", one[0]["attributes"].(map[string]any)["jobNumProcs"], "the evidence has all that the agent said")
	nodes := rows(t, c, "nodes")
	require.Equal(t, "n1", nodes[0]["id"])
	require.Equal(t, "big", nodes[0]["machine"])
	require.Equal(t, "green", nodes[0]["attributes"].(map[string]any)["colour"])
	require.Equal(t, "batch", rows(t, c, "queues")[0]["id"])
	require.Len(t, rows(t, c, "session"), 1)
}

func TestAnEmptyListingIsADocument(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) { a.Begin(""); quit(a) })
	require.Empty(t, rows(t, c, "jobs"))
}

func TestASubmissionHasProgramFolderAndVariables(t *testing.T) {
	submitted := make(chan proxy.Command, 1)
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced)
		command := a.Await(proxy.SubmitJob)
		submitted <- command
		a.Events("dc 2 1 4 3 jobSubId=tag-1 name=x jobState=STARTING")
		a.OK(command)
		quit(a)
	})
	stdout, _, code, err := run(t, c, "submit", "jobSubId=tag-1", "MP_PROCS=2", "modules[]=a 'b c'", "--", "./bin/x", "-a", "2 3", "")
	require.NoError(t, err)
	require.Zero(t, code)
	require.Regexp(t, `^job \S+\n$`, stdout)
	require.Equal(t, proxy.Attributes{
		{ID: "jobSubId", Value: "tag-1"}, {ID: "MP_PROCS", Value: "2"}, {ID: "modules", Value: "a"}, {ID: "modules", Value: "b c"},
		{ID: "queueId", Value: "2"}, {ID: "execName", Value: "x"}, {ID: "execPath", Value: "/work/bin"}, {ID: "workingDir", Value: "/work"},
		{ID: "progArgs", Value: "-a"}, {ID: "progArgs", Value: "2 3"}, {ID: "progArgs", Value: ""}, {ID: "env", Value: "A=b c"},
	}, (<-submitted).Attributes)
	require.Equal(t, "tag-1", rows(t, c, "jobs")[0]["tag"])
	require.True(t, c.IsBusy(), "the job has not ended")
}

func TestTheTextOfARefusalIsPrinted(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		command := a.Await(proxy.SubmitJob)
		a.Send(command.Refuse(1202, "no such\x1b[31m account"))
		quit(a)
	})
	_, stderr, code, err := run(t, c, "submit", "jobSubId=t", "--", "x")
	require.NoError(t, err)
	require.Equal(t, definition.ExitRefused, code)
	require.Equal(t, "no such [31m account\n", stderr)
	require.False(t, c.IsBusy())
}

func TestWithoutAProgramNothingIsSubmitted(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) { a.Begin(""); quit(a) })
	_, stderr, code, err := run(t, c, "submit", "jobSubId=t", "--")
	require.NoError(t, err)
	require.Equal(t, definition.ExitUsage, code)
	require.Contains(t, stderr, "programs, not scripts")
	_, _, code, err = run(t, c, "nonsense")
	require.NoError(t, err)
	require.Equal(t, definition.ExitUsage, code)
}

func TestOnlyEndedJobsAreKnownAfterTheirRemoval(t *testing.T) {
	ended, removed := make(chan struct{}), make(chan struct{})
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced, "dc 2 2 4 2 name=done jobState=RUNNING 5 2 name=lost jobState=RUNNING", "e6 1 4 1 jobState=COMPLETED")
		<-ended
		a.Events("f1 4-5")
		close(removed)
		quit(a)
	})
	ids := map[string]string{}
	for _, one := range rows(t, c, "jobs") {
		ids[one["name"].(string)] = one["id"].(string)
	}
	require.Len(t, ids, 2)
	close(ended)
	<-removed
	require.Eventually(t, func() bool { return len(rows(t, c, "jobs")) == 0 }, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool {
		stdout, _, code, _ := run(t, c, "jobs", ids["done"])
		return code == 0 && strings.Contains(stdout, `"detail":"COMPLETED"`)
	}, time.Minute, time.Millisecond)
	_, stderr, code, err := run(t, c, "jobs", ids["lost"])
	require.NoError(t, err)
	require.Equal(t, definition.ExitUnknownJob, code)
	require.Contains(t, stderr, ids["lost"])
	_, _, code, err = run(t, c, "terminate", ids["done"])
	require.NoError(t, err)
	require.Equal(t, definition.ExitFinished, code)
}

func TestACanceledJobWithoutAnExitCodeIsCanceled(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced, "dc 2 2 4 2 name=mine jobState=RUNNING 5 2 name=other jobState=COMPLETED")
		command := a.Await(proxy.TerminateJob)
		a.Events("e6 1 4 1 jobState=COMPLETED")
		a.OK(command)
		quit(a)
	})
	mine := rows(t, c, "jobs")[0]["id"].(string)
	_, stderr, code, err := run(t, c, "terminate", mine)
	require.NoError(t, err)
	require.Zero(t, code, stderr)
	listed := rows(t, c, "jobs")
	require.Equal(t, "CANCELED", listed[0]["detail"])
	require.Equal(t, "COMPLETED", listed[1]["detail"])
}

func TestUnsupportedOperationsAreErrors(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced, "dc 2 1 4 2 name=x jobState=RUNNING")
		quit(a)
	})
	_, stderr, code, err := run(t, c, "operate", "hold", rows(t, c, "jobs")[0]["id"].(string))
	require.NoError(t, err)
	require.Equal(t, definition.ExitRefused, code)
	require.Contains(t, stderr, "does not support")
}

func TestTheOutputOfAJobIsAFile(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced, "dc 2 1 4 2 name=x jobState=RUNNING", "df 4 1 0 2 name=t processState=RUNNING", "e9 4 1 0 1 processStdout=hello^", "e9 4 1 0 1 processStderr=oh^")
		quit(a)
	})
	id := rows(t, c, "jobs")[0]["id"].(string)
	require.Equal(t, "0", rows(t, c, "processes", id)[0]["rank"])
	file, err := c.Open(t.Context(), definition.OutputFolder+id+"/stdout")
	require.NoError(t, err)
	content, err := io.ReadAll(file)
	require.NoError(t, err)
	require.Equal(t, "hello\n", string(content))
	require.NoError(t, file.Close())
	info, err := c.Stat(t.Context(), definition.OutputFolder+id+"/stderr")
	require.NoError(t, err)
	require.EqualValues(t, 3, info.Size())
	for _, name := range []string{"nobody/stdout", id + "/other", id, ""} {
		_, err = c.Open(t.Context(), definition.OutputFolder+name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	require.ErrorIs(t, c.WriteFile(t.Context(), definition.OutputFolder+id+"/stdout", strings.NewReader(""), 0o600), fs.ErrPermission)
}

func TestACommandAfterALostSessionStartsAnother(t *testing.T) {
	var sessions []string
	c := open(t, func(a *agenttest.Agent) {
		begin := a.Await(proxy.Init)
		session, _ := begin.Attributes.Value(proxy.SessionAttribute)
		sessions = append(sessions, session)
		a.OK(begin)
		a.OK(a.Await(proxy.ModelDefinition))
		a.Await(proxy.StartEvents)
		a.Events(announced)
		if len(sessions) == 1 {
			a.Await(proxy.SubmitJob) // then end without an answer
			return
		}
		quit(a)
	})
	require.Len(t, rows(t, c, "queues"), 1)
	_, _, code, err := run(t, c, "submit", "jobSubId=t", "--", "x")
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Equal(t, -1, code)
	require.Len(t, rows(t, c, "queues"), 1)
	require.Len(t, sessions, 2)
	require.NotEmpty(t, sessions[0])
	require.Equal(t, sessions[0], sessions[1], "the holder stays the same")
	_, stderr, code, err := run(t, c, "oddities")
	require.NoError(t, err)
	require.Equal(t, definition.ExitRefused, code)
	require.Contains(t, stderr, "before: session with the agent ended")
}

func TestTheConnectionSurvivesAnAgentThatCannotStart(t *testing.T) {
	here, err := remote.NewLocal()
	require.NoError(t, err)
	c := bridge.New(here, bridge.Options{Agent: []string{"/nonexistent/agent"}})
	defer func() { require.NoError(t, c.Close()) }()
	_, _, _, err = run(t, c, "jobs")
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.ErrorIs(t, err, remote.ErrCommandNotFound)
	require.ErrorContains(t, err, "/nonexistent/agent")
	var lost *bridge.LostError
	require.ErrorAs(t, err, &lost)
	require.True(t, lost.KeepsConnection())
}

func TestChangesPrintALineForManyEvents(t *testing.T) {
	goOn := make(chan struct{})
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events(announced)
		<-goOn
		a.Events("e0 0 1 3 1 name=other")
		quit(a)
	})
	require.Len(t, rows(t, c, "queues"), 1)
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	handle, err := c.Start(ctx, remote.Command{Arguments: []string{definition.Command, "changes"}, Stdout: writer})
	require.NoError(t, err)
	lines := bufio.NewReader(reader)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	close(goOn)
	second, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.Len(t, rows(t, c, "queues"), 2)
	cancel()
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	code, err := handle.Wait()
	require.NoError(t, err)
	require.Equal(t, 143, code)
}

func TestTheDefinitionOfACapturedAgentCanBeUsed(t *testing.T) {
	for _, capture := range []string{"pe-agent.txt", "pbs-java-agent.txt"} {
		t.Run(capture, func(t *testing.T) {
			script, err := agenttest.Read(agenttest.Capture(t, capture))
			require.NoError(t, err)
			c := over(t, agenttest.Playing(script), bridge.Options{Agent: []string{"agent"}})
			d, err := bridge.Definition(t.Context(), c, "far")
			require.NoError(t, err)
			require.NotEmpty(t, d.Attributes)
			_, _, _, err = run(t, c, "oddities")
			require.NoError(t, err)
		})
	}
}

func TestListingsIncludeOtherShownAttributes(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("", proxy.Definition{ID: "gpus", Type: "INTEGER", Name: "GPUs", Display: true, Default: "0"},
			proxy.Definition{ID: "secret", Type: "STRING", Name: "Secret"}, proxy.Definition{ID: "modules", Type: "ARRAY", Name: "Modules", Display: true})
		a.Events("dd 0 1 1 1 name=big", announced, "de 1 1 3 6 name=n1 nodeState=UP nodeNumber=7 gpus=4 secret=x modules=gcc",
			"dc 2 1 4 9 name=sums jobState=RUNNING jobId=17 queueId=2 jobSubId=s1 execName=sums secret=x gpus=2 modules=mpi")
		quit(a)
	})
	require.Equal(t, map[string]any{"gpus": "4", "modules": []any{"gcc"}}, rows(t, c, "nodes")[0]["attributes"])
	require.Equal(t, map[string]any{"gpus": "2", "modules": []any{"mpi"}, "execName": "sums"}, rows(t, c, "jobs")[0]["attributes"])
	require.NotContains(t, rows(t, c, "queues")[0], "attributes")
	all := rows(t, c, "jobs", "17")[0]["attributes"].(map[string]any)
	require.Equal(t, "x", all["secret"], "the evidence has all that the agent said")
}

func TestProcessesHaveTheirReportedValues(t *testing.T) {
	c := open(t, func(a *agenttest.Agent) {
		a.Begin("")
		a.Events("dd 0 1 1 1 name=big", announced, "de 1 1 3 2 name=n1 nodeState=UP", "dc 2 1 4 2 jobId=17 jobState=RUNNING", "dc 2 1 5 2 jobId=18 jobState=RUNNING",
			"df 4 2 1 5 processState=COMPLETED processIndex=1 processNodeId=3 processPID=99 processSignalName=term 0 3 processState=COMPLETED processIndex=0 processExitCode=3",
			"df 5 1 0 2 processState=RUNNING processIndex=0", "e9 4 1 0 1 processStdout=one^", "e9 4 1 0 2 processStdout=two^ processStderr=oops^")
		quit(a)
	})
	processes, err := bridge.Processes(t.Context(), c, "17", "18", "19")
	require.NoError(t, err)
	code, signal := 3, 15
	require.Equal(t, map[string][]job.Process{
		"17": {{Rank: 0, State: "EXITED", ExitCode: &code, Output: "one\ntwo\n", ErrorOutput: "oops\n"}, {Rank: 1, Node: "n1", PID: 99, State: "EXITED_SIGNALLED", Signal: &signal}},
		"18": {{Rank: 0, State: "RUNNING"}},
	}, processes)
	_, err = bridge.Processes(t.Context(), c, "19")
	require.ErrorContains(t, err, "19")
}
