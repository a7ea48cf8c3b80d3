package agentclient_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// acting starts a session with an agent scripted by a test and waits for the first announcement.
func acting(t *testing.T, act func(a *agenttest.Agent), change ...func(*agentclient.Options)) *agentclient.Session {
	t.Helper()
	s := session(t, agenttest.Acting(func(a *agenttest.Agent) {
		act(a)
		a.Await(proxy.Quit)
	}), change...)
	require.NoError(t, s.Listed(t.Context()))
	return s
}

func get(t *testing.T, s *agentclient.Session, kind model.Kind, id string) *model.Element {
	t.Helper()
	manager, _ := s.Model().Snapshot().Manager(s.Manager())
	element, known := manager.Get(kind, id)
	require.True(t, known, "no %s %s in %v", kind, id, ids(s, kind))
	return element
}

func value(t *testing.T, s *agentclient.Session, kind model.Kind, id, attribute string) string {
	t.Helper()
	v, _ := get(t, s, kind, id).Value(attribute)
	return v.Text()
}

func odd(s *agentclient.Session, what string) int {
	for _, oddity := range s.Report().Oddities {
		if oddity.What == what {
			return oddity.Count
		}
	}
	return 0
}

const sessionSuffix = ".7f3a2c41"

func TestBothVocabulariesOfStatesAreUnderstood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 1 1 name=batch",
				"dc 1 7 10 1 jobState=STARTING 11 2 jobState=STARTING jobStatus=STARTED 12 1 jobState=COMPLETED 13 1 jobState=PENDING 14 1 jobState=TERMINATED 15 1 jobState=SLEEPY 16 1 name=x",
				"df 12 4 0 1 processState=COMPLETED 1 2 processState=COMPLETED processSignalName=TERM 2 1 processState=STARTING 3 1 processState=EXITED",
				"e9 12 1 2 1 processSignalName=KILL", "e9 12 1 2 1 processState=COMPLETED",
				"e6 1 10 1 jobStatus=ALLOCATED")
		})
		states := map[string]model.State{}
		for _, id := range ids(s, model.Job) {
			states[id] = get(t, s, model.Job, id).State()
		}
		require.Equal(t, map[string]model.State{"10" + sessionSuffix: "STARTED", "11" + sessionSuffix: "STARTED", "12" + sessionSuffix: "TERMINATED",
			"13" + sessionSuffix: "PENDING", "14" + sessionSuffix: "TERMINATED", "15" + sessionSuffix: "UNKNOWN", "16" + sessionSuffix: "UNKNOWN"}, states)
		processes := map[string]model.State{}
		for _, id := range ids(s, model.Process) {
			processes[id] = get(t, s, model.Process, id).State()
		}
		job := "12" + sessionSuffix
		require.Equal(t, map[string]model.State{job + ".0": "EXITED", job + ".1": "EXITED_SIGNALLED", job + ".2": "EXITED_SIGNALLED", job + ".3": "EXITED"}, processes)
	})
}

func TestEndedJobsDoNotContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 1 1 name=batch", "dc 1 1 10 2 jobId=77 jobState=COMPLETED", "e6 1 10 1 jobState=RUNNING")
		})
		require.EqualValues(t, "TERMINATED", get(t, s, model.Job, "77").State())
		problems := s.Report().Problems
		require.Len(t, problems, 1)
		require.Equal(t, "transition", problems[0].What)
	})
}

func TestElementsOfUnknownParentsStayVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("dc 44 1 10 1 jobId=77", "de 45 1 5 1 name=n1", "df 99 1 0 1 name=lost", "e6 1 98 1 jobState=RUNNING",
				"e0 0 1 44 1 name=batch", "dc 44 1 11 1 jobId=78")
		})
		require.Equal(t, []string{"77", "78"}, ids(s, model.Job))
		require.Equal(t, "44", get(t, s, model.Job, "77").Parent())
		require.Equal(t, "batch", get(t, s, model.Queue, "44").Name())
		require.Empty(t, value(t, s, model.Queue, "44", "queueStatus"), "it was announced later")
		require.Equal(t, []string{"45"}, ids(s, model.Machine))
		require.Empty(t, ids(s, model.Process))
		require.Equal(t, 2, odd(s, "elements below one that was not announced"))
		require.Equal(t, 1, odd(s, "processes of unknown jobs"))
		require.Equal(t, 1, odd(s, "changes of unknown elements"))
	})
}

func TestTextsOfAgentsAreShortAndPrintable(t *testing.T) {
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 'x'
	}
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 1 1 name=batch", "dc 1 1 10 5 jobId=77 name=a\x1b[31mb jobStatus=null progArgs=-a progArgs=b_c",
				"e6 1 10 3 jobStatusMessage="+string(long)+" a\x01b=1 id=9")
		})
		require.Equal(t, "a [31mb", value(t, s, model.Job, "77", "name"))
		require.Empty(t, value(t, s, model.Job, "77", "jobStatus"), "null is no value")
		require.Len(t, value(t, s, model.Job, "77", "jobStatusMessage"), 500)
		arguments, _ := get(t, s, model.Job, "77").Value("progArgs")
		require.Equal(t, []string{"-a", "b c"}, arguments.Array())
		require.Equal(t, 2, odd(s, "attributes that cannot be used"))
	})
}

func TestElementsMayBeAnnouncedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			start := a.Begin("")
			a.Events("dd 0 1 1 1 name=m", "e0 0 2 2 1 name=batch 3 1 name=old", "de 1 2 4 1 name=n1 5 1 name=n2",
				"dc 2 2 10 2 jobId=77 jobState=RUNNING 11 1 jobId=78")
			stop := a.Await(proxy.StopEvents)
			a.OK(start)
			a.OK(stop)
			a.Await(proxy.StartEvents)
			a.Events("dd 0 1 21 1 name=m", "e0 0 1 22 1 name=batch", "de 21 1 24 1 name=n1", "dc 22 1 30 1 jobId=77")
		})
		job := get(t, s, model.Job, "77")
		require.NoError(t, s.Suspend(t.Context()))
		synctest.Wait()
		manager, _ := s.Model().Snapshot().Manager(s.Manager())
		require.EqualValues(t, "SUSPENDED", manager.Element().State())
		require.NoError(t, s.Resume(t.Context()))
		time.Sleep(5 * time.Second)
		require.Equal(t, []string{"77", "78"}, ids(s, model.Job), "an agent may be slow to announce all")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"m"}, ids(s, model.Machine))
		require.Equal(t, []string{"batch"}, ids(s, model.Queue))
		require.Equal(t, []string{"n1"}, ids(s, model.Node))
		require.Equal(t, []string{"77"}, ids(s, model.Job))
		require.Equal(t, job.State(), get(t, s, model.Job, "77").State(), "an announcement without a state says nothing of it")
	})
}

func TestOutputIsKeptInBoundedLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 1 1 name=batch", "dc 1 2 10 1 jobId=77 11 1 jobId=78", "df 10 1 0-1 1 name=task",
				"e9 10 1 0 1 processStdout=hello^", "e9 10 1 1 2 processStdout=bye^ processStderr=oops^")
			for range 300 {
				a.Events("e9 10 1 0 1 processStderr=" + fmt.Sprintf("%05000d", 0))
			}
		})
		require.Equal(t, "hello\nbye\n", output(t, s, "77", agentclient.Stdout))
		text := output(t, s, "77", agentclient.Stderr)
		require.LessOrEqual(t, len(text), 1<<20)
		require.Contains(t, text[len(text)-100:], "rmctl kept the first")
		_, known := s.Output("78", agentclient.Stdout)
		require.False(t, known)
		require.Equal(t, "hello\n", value(t, s, model.Process, "77.0", "processStdout"))
		require.Equal(t, []string{"bye\n", "oops\n"}, []string{value(t, s, model.Process, "77.1", "processStdout"), value(t, s, model.Process, "77.1", "processStderr")})
		require.Equal(t, strings.Repeat("0", 512), value(t, s, model.Process, "77.0", "processStderr"), "of each process the end")
	})
}

func output(t *testing.T, s *agentclient.Session, job string, stream agentclient.Stream) string {
	t.Helper()
	reader, known := s.Output(job, stream)
	require.True(t, known)
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	return string(text)
}

func TestProcessesOfOldAgentsNameNoJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 1 1 name=batch", "dc 1 1 10 1 jobId=77", "df 10 1 20-22 1 processState=RUNNING",
				"e9 1 20-21 1 processState=EXITED", "f4 22")
		})
		require.Equal(t, []string{"77.20", "77.21"}, ids(s, model.Process))
		require.EqualValues(t, "EXITED", get(t, s, model.Process, "77.21").State())
	})
}

func TestTheModelIsStaleAfterALostSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := agentclient.Start(context.Background(), agentclient.Options{Agent: []string{"agent"}, Connection: agenttest.Acting(func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 1 1 name=batch", "dc 1 1 10 2 jobId=77 jobState=RUNNING")
		})})
		require.NoError(t, err)
		<-s.Done()
		ended := &agentclient.EndedError{}
		require.ErrorAs(t, s.Err(), &ended)
		require.EqualValues(t, "RUNNING", get(t, s, model.Job, "77").State())
		manager, _ := s.Model().Snapshot().Manager(s.Manager())
		require.EqualValues(t, "ERROR", manager.Element().State())
		stale, _ := manager.Element().Value("rmStale")
		require.Contains(t, stale.Text(), "the agent closed the connection")
		require.NoError(t, s.Close())
	})
}

// A job may end and be removed before anyone reads the model.
func TestJobsThatEndedAreRememberedWhenTheyAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 1 1 name=batch", "dc 1 1 10 2 jobId=77 jobState=RUNNING", "e6 1 10 1 jobState=COMPLETED", "f1 10",
				"dc 1 1 11 2 jobId=78 jobState=COMPLETED", "f5 1", "e0 0 1 1 1 name=batch", "dc 1 1 12 2 jobId=79 jobState=COMPLETED", "f0",
				"e0 0 1 1 1 name=batch", "dc 1 1 13 2 jobId=80 jobState=RUNNING", "f1 13", "dc 1 1 14 2 jobId=81 jobState=COMPLETED", "dc 1 1 14 1 jobId=82")
		})
		require.Equal(t, []string{"82"}, ids(s, model.Job))
		for _, id := range []string{"77", "78", "79", "81"} {
			job, known := s.Ended(id)
			require.True(t, known, id)
			require.EqualValues(t, "TERMINATED", job.State())
		}
		_, known := s.Ended("80")
		require.False(t, known, "it had not ended")
	})
}

func TestResourceManagersFollowTheStatesOfTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := make(chan struct{})
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 1 1 name=batch", "eb 1 1 1 rmState=ERROR", "eb 1 1 1 rmState=STARTED", "eb 1 1 1 rmState=SUSPENDED", "eb 1 1 1 rmState=STARTED")
			<-lost
			a.Events("eb 1 1 1 rmState=STOPPED")
		})
		state := func() model.State {
			manager, _ := s.Model().Snapshot().Manager(s.Manager())
			return manager.Element().State()
		}
		require.EqualValues(t, "STARTED", state())
		close(lost)
		synctest.Wait()
		require.EqualValues(t, "ERROR", state(), "only who watches an agent stops it")
		require.Equal(t, []string{"batch"}, ids(s, model.Queue))
		require.Empty(t, s.Report().Problems)
	})
}
