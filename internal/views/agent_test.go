package views_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

const onAgent = "[targets.site]\nagent = [\"agent\"]\n"

// An agentPlace is this machine, where every program is an agent.
type agentPlace struct {
	remote.Connection
	agent *agenttest.Place
}

func (p agentPlace) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	return p.agent.Start(ctx, command)
}

// openAgent opens targets by an agent that a test writes out.
func (d *desk) openAgent(act func(a *agenttest.Agent)) {
	d.openWith(func(ctx context.Context, target settings.Target) (*control.Controller, func() error, error) {
		here, err := remote.NewLocal()
		require.NoError(d.t, err)
		connection := bridge.New(agentPlace{here, agenttest.Acting(act)}, bridge.Options{Agent: target.Agent})
		definition, err := bridge.Definition(ctx, connection, target.Name)
		if err != nil {
			return nil, nil, err
		}
		return control.New(control.Options{Target: target.Name, Definition: definition, Connection: connection, Store: d.store, Now: d.now, Pause: d.pause}), connection.Close, nil
	})
}

// whileMomentsPass ends all waits of less than a second until the test is over.
func (d *desk) whileMomentsPass() {
	go func() {
		for {
			select {
			case one := <-d.timers:
				if one.length < time.Second {
					one.fire <- time.Time{}
				}
			case <-d.t.Context().Done():
				return
			}
		}
	}()
}

func TestAChangeThatAnAgentReportsIsShownWithoutWaitingForAnInterval(t *testing.T) {
	d := newDesk(t, onAgent)
	changes := make(chan string)
	d.openAgent(func(a *agenttest.Agent) {
		a.Begin("")
		a.Events("dd 0 1 1 2 name=big machineState=UP", "e0 0 1 2 1 name=batch", "de 1 1 3 2 name=n1 nodeState=UP", "dc 2 1 4 3 name=sums jobId=17 jobState=PENDING")
		for change := range changes {
			a.Events(change)
		}
		a.OK(a.Await(proxy.Quit))
	})
	defer close(changes)
	d.whileMomentsPass()
	require.NoError(t, d.Start("site"))
	d.shows("site", "17 PENDING false")
	manager, _ := d.Model().Snapshot().Manager("site")
	node, known := manager.Get(model.Node, "n1")
	require.True(t, known)
	require.Equal(t, "big", node.Parent())

	changes <- "e6 1 4 1 jobState=RUNNING"
	d.shows("site", "17 RUNNING false")
	var listed []string
	_, err := d.LatestJobs(t.Context(), "site", func(row command.Row) error {
		listed = append(listed, row.ID+" "+row.Fact("state"))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"17 RUNNING"}, listed)
	changes <- "f1 4"
	d.shows("site")
}

func TestAttributesOfAnAgentAreShownWithTheirNames(t *testing.T) {
	d := newDesk(t, onAgent)
	d.openAgent(func(a *agenttest.Agent) {
		a.Begin("", proxy.Definition{ID: "gpus", Type: "INTEGER", Name: "GPUs", Description: "Number of GPUs", Display: true, Default: "0"})
		a.Events("dd 0 1 1 2 name=big machineState=UP", "e0 0 1 2 2 name=batch priority=high", "de 1 1 3 4 name=n1 nodeState=UP gpus=4 colour=green",
			"dc 2 1 4 4 name=sums jobId=17 jobState=PENDING gpus=2")
		a.OK(a.Await(proxy.Quit))
	})
	d.whileMomentsPass()
	require.NoError(t, d.Start("site"))
	d.shows("site", "17 PENDING false")
	manager, _ := d.Model().Snapshot().Manager("site")
	given := func(kind model.Kind, id string) string {
		element, known := manager.Get(kind, id)
		require.True(t, known, id)
		texts := ""
		for definition, value := range element.Attributes() {
			if !vocabulary.IsKnown(definition.ID) {
				texts += definition.Label() + "=" + value.Text() + " "
			}
		}
		return texts
	}
	require.Equal(t, "GPUs=2 ", given(model.Job, "17"))
	require.ElementsMatch(t, []string{"GPUs=4", "colour=green"}, strings.Fields(given(model.Node, "n1")))
	require.Equal(t, "priority=high ", given(model.Queue, "batch"))
	definition, _ := d.Model().Snapshot().Definition("gpus")
	require.Equal(t, "Number of GPUs", definition.Description)
}

func TestStatesOfMachinesAndOfTheResourceManagerAreThoseOfTheAgent(t *testing.T) {
	d := newDesk(t, onAgent)
	changes := make(chan string)
	d.openAgent(func(a *agenttest.Agent) {
		a.Begin("", proxy.Definition{ID: "rack", Type: "STRING", Name: "Rack", Display: true})
		a.Events("dd 0 1 1 3 name=big machineState=ALERT rack=7", "dd 0 1 5 2 name=empty machineState=ERROR", "e0 0 1 2 1 name=batch", "de 1 1 3 2 name=n1 nodeState=UP",
			"eb 1 0 2 licenses=4 rmState=STARTED")
		for change := range changes {
			a.Events(change)
		}
		a.OK(a.Await(proxy.Quit))
	})
	defer close(changes)
	require.NoError(t, d.Start("site"))
	shows := func(kind model.Kind, id, attribute, want string) {
		t.Helper()
		for snapshot := d.Model().Snapshot(); ; {
			manager, _ := snapshot.Manager("site")
			element, known := manager.Element(), true
			if kind != model.ResourceManager {
				element, known = manager.Get(kind, id)
			}
			if known {
				if value, _ := element.Value(attribute); value.Text() == want {
					return
				}
			}
			var err error
			snapshot, err = d.Model().Next(t.Context(), snapshot)
			require.NoError(t, err)
		}
	}
	d.whileTimePasses(func() {
		shows(model.Machine, "big", "machineState", "ALERT")
		shows(model.Machine, "big", "rack", "7")
		shows(model.Machine, "empty", "machineState", "ERROR")
		shows(model.ResourceManager, "", "licenses", "4")
		changes <- "e7 1 5 1 machineState=UP"
		shows(model.Machine, "empty", "machineState", "UP")
		changes <- "eb 1 0 3 rmState=SUSPENDED rmCause=no_answer rmStale=old"
		shows(model.ResourceManager, "", "rmState", "SUSPENDED")
		shows(model.ResourceManager, "", views.AttributeCause, "the agent's resource manager is SUSPENDED: no answer")
		shows(model.ResourceManager, "", "agentStale", "old")
		changes <- "eb 1 0 1 rmState=STARTED"
		shows(model.ResourceManager, "", "rmState", "STARTED")
	})
}

func TestProcessesThatAnAgentReportsAreShownBelowOwnJobs(t *testing.T) {
	d := newDesk(t, onAgent)
	changes := make(chan []string)
	d.openAgent(func(a *agenttest.Agent) {
		a.Begin("")
		a.Events("dd 0 1 1 2 name=big machineState=UP", "e0 0 1 2 1 name=batch", "de 1 1 3 2 name=n1 nodeState=UP",
			"dc 2 1 4 3 name=sums jobId=17 jobState=RUNNING", "dc 2 1 5 3 name=other jobId=18 jobState=RUNNING",
			"df 4 2 0 4 processState=RUNNING processIndex=0 processNodeId=3 processPID=99 1 2 processState=RUNNING processIndex=1", "df 5 1 0 2 processState=RUNNING processIndex=0")
		for change := range changes {
			a.Events(change...)
		}
		a.OK(a.Await(proxy.Quit))
	})
	defer close(changes)
	d.record("site", "17")
	require.NoError(t, d.Start("site"))
	shows := func(want ...string) {
		t.Helper()
		for snapshot := d.Model().Snapshot(); ; {
			manager, _ := snapshot.Manager("site")
			var processes []string
			for process := range manager.All(model.Process) {
				text := func(id string) string { value, _ := process.Value(id); return value.Text() }
				line := strings.Join([]string{process.ID(), string(process.State()), text("processNodeId"), text("processPID"), text("processSignalName")}, " ")
				if wrote := text("processStdout") + "|" + text("processStderr"); wrote != "|" {
					line += " " + wrote
				}
				processes = append(processes, line)
			}
			if slices.Equal(want, processes) {
				return
			}
			var err error
			snapshot, err = d.Model().Next(t.Context(), snapshot)
			require.NoError(t, err, "%q", processes)
		}
	}
	d.whileTimePasses(func() {
		shows("17.0 RUNNING n1 99 ", "17.1 RUNNING  0 ")
		changes <- []string{"e9 4 1 0 2 processState=COMPLETED processSignalName=SIGTERM"}
		shows("17.0 EXITED_SIGNALLED n1 99 SIGTERM", "17.1 RUNNING  0 ")
		changes <- []string{"e9 4 1 1 1 processStdout=one^", "e9 4 1 1 2 processStdout=two^ processStderr=oops^"}
		shows("17.0 EXITED_SIGNALLED n1 99 SIGTERM", "17.1 RUNNING  0  one\ntwo\n|oops\n")
		changes <- []string{"e6 1 4 1 jobState=COMPLETED", "f1 4"}
		shows("17.0 EXITED_SIGNALLED n1 99 SIGTERM", "17.1 UNKNOWN  0  one\ntwo\n|oops\n")
	})
}

func TestAJobThatIsNewOnRecordIsFoundAmongThoseOfAnAgent(t *testing.T) {
	d := newDesk(t, onAgent)
	changes := make(chan string)
	d.openAgent(func(a *agenttest.Agent) {
		a.Begin("")
		a.Events("e0 0 1 2 1 name=batch", "dc 2 1 4 3 name=sums jobId=17 jobState=PENDING")
		for change := range changes {
			a.Events(change)
		}
		a.OK(a.Await(proxy.Quit))
	})
	defer close(changes)
	require.NoError(t, d.Start("site"))
	d.whileMomentsPass()
	d.shows("site", "17 PENDING false")
	_, err := d.store.Adopt(t.Context(), job.Job{Target: "site", ID: "17", ShortID: "17", Observation: job.Observation{Detail: job.QueuedActive}})
	require.NoError(t, err)
	changes <- "e0 0 1 9 1 name=other"
	d.shows("site", "17 PENDING true")
	changes <- "e6 1 4 1 jobState=RUNNING"
	d.shows("site", "17 RUNNING true")
	manager, err := d.Manager("site")
	require.NoError(t, err)
	require.Empty(t, manager.Problems)
}

func TestASessionThatEndsIsAnErrorAndBeginsAgain(t *testing.T) {
	d := newDesk(t, onAgent)
	ends := make(chan struct{})
	d.openAgent(func(a *agenttest.Agent) {
		a.Begin("")
		a.Events("e0 0 1 2 1 name=batch")
		<-ends
	})
	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	close(ends)
	d.whileTimePasses(func() { require.Contains(t, d.causeOf("site"), "session with the agent ended") })
}

func TestATargetWithAnAgentIsAddedWithoutASession(t *testing.T) {
	d := newDesk(t, onAgent)
	require.NoError(t, d.Add(settings.Target{Name: "other", Agent: settings.Agent{"/nonexistent"}}))
	require.Contains(t, d.Available(), "other")
}
