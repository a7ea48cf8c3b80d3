package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

func TestASessionBeginsWithAVersionAndABase(t *testing.T) {
	for _, refused := range [][]string{
		{"version=3.0", "baseId=1000"}, {"baseId=1000"}, {"version=2.0"}, {"version=2.0", "baseId=x"}, {"version=2.0", "baseId=18446744073709551615"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, nil)
			c.send(proxy.Init, refused...)
			require.Regexp(t, "^ERROR 1 errorCode=1200 ", strings.Join(c.got(), "\n"), refused)
			c.quit()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.send(proxy.StartEvents)
		require.Equal(t, []string{"ERROR 1 errorCode=2 errorMsg=START_EVENTS before INIT"}, c.got())
		c.send(proxy.Init, "version=4.0", "baseId=1000")
		require.Equal(t, []string{"OK 2"}, c.got())
		c.send(proxy.Init, "version=4.0", "baseId=1000")
		require.Equal(t, []string{"ERROR 3 errorCode=1200 errorMsg=Proxy already initialized"}, c.got())
		c.quit()
	})
}

func TestTheWholeModelIsAnnouncedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Machine, "", "cluster", "machineState", "UP")
		c.put(model.Queue, "", "batch")
		c.put(model.Queue, "", "slow", "queueState", "DRAINING")
		c.put(model.Node, "cluster", "n1", "nodeState", "UP")
		c.put(model.Node, "cluster", "n2", "nodeState", "DOWN")
		c.put(model.Job, "batch", "7", "name", "hello", "jobState", "RUNNING", "queueId", "batch", "jobStatus", "R")
		c.put(model.Job, "batch", "8", "jobState", "PENDING")
		c.put(model.Job, "slow", "9", "jobState", "UNKNOWN")
		c.put(model.Process, "7", "7.0", "processState", "RUNNING", "processIndex", "0", "processNodeId", "n1", "name", "rank")
		c.put(model.Process, "7", "7.1", "processState", "RUNNING", "processIndex", "1", "processNodeId", "n1", "name", "rank")
		c.send(proxy.Init, "version=2.0", "baseId=1000")
		c.send(proxy.ModelDefinition)
		require.Equal(t, []string{"OK 1", "ATTR_DEF 2 rmctlFeatures", "ATTR_DEF 2 partition count class whole", "OK 2"}, c.got())
		c.send(proxy.StartEvents)
		require.Equal(t, []string{
			"NEW_MACHINE 3 in 1000 [1001 name=cluster machineState=UP]",
			"NEW_QUEUE 3 in 1000 [1002 name=batch queueState=NORMAL] [1003 name=slow queueState=STOPPED]",
			"NEW_NODE 3 in 1001 [1004 name=n1 nodeState=UP] [1005 name=n2 nodeState=DOWN]",
			"NEW_JOB 3 in 1002 [1006 name=hello jobState=RUNNING jobStatus=RUNNING jobId=7 queueId=1002] [1007 name=8 jobState=STARTING jobStatus=PENDING jobId=8]",
			"NEW_JOB 3 in 1003 [1008 name=9 jobStatus=UNKNOWN jobId=9]",
			"NEW_PROCESS 3 in 1006 [0 name=rank processState=RUNNING processStatus=RUNNING processIndex=0 processNodeId=1004] [1 name=rank processState=RUNNING processStatus=RUNNING processIndex=1 processNodeId=1004]",
			"CHANGE_RM 3 [1000 rmState=STARTED]",
		}, c.got())
		c.quit()
	})
}

func TestElementsWithEqualAttributesShareAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Machine, "", "cluster")
		for _, id := range []string{"n1", "n2", "n3"} {
			c.put(model.Node, "cluster", id, "name", "node", "nodeState", "UP")
		}
		c.start()
		c.model.Update(func(u *model.Update) {
			for _, id := range []string{"n1", "n3"} {
				u.Put(model.Row{Manager: manager, Kind: model.Node, Parent: "cluster", ID: id, Attributes: []model.Attribute{{ID: "nodeState", Text: "DOWN"}}})
			}
		})
		require.Equal(t, []string{"CHANGE_NODE 3 [1002,1004 nodeState=DOWN]"}, c.got())
		c.quit()
	})
}

func TestUpdatesContainOnlyDifferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "PENDING", "jobStatusMessage", "waiting")
		c.start()
		c.put(model.Queue, "", "batch", "queueState", "NORMAL")
		require.Empty(t, c.got(), "no client sees that")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		require.Equal(t, []string{"CHANGE_JOB 3 [1002 jobState=RUNNING jobStatus=RUNNING]"}, c.got())
		c.put(model.Job, "batch", "7", "jobState", "UNKNOWN")
		require.Equal(t, []string{"CHANGE_JOB 3 [1002 jobStatus=UNKNOWN]"}, c.got(), "the client keeps the state")
		require.Empty(t, c.model.Update(func(u *model.Update) {
			u.Put(model.Row{Manager: manager, Kind: model.Job, Parent: "batch", ID: "7", Whole: true, Attributes: []model.Attribute{{ID: "jobState", Text: "TERMINATED"}}})
		}))
		require.Equal(t, []string{"CHANGE_JOB 3 [1002 jobState=COMPLETED jobStatus=TERMINATED jobStatusMessage=]"}, c.got())
		c.remove(model.Job, "7")
		require.Equal(t, []string{"REMOVE_JOB 3 [1002]"}, c.got())
		c.put(model.Job, "batch", "7", "jobState", "PENDING")
		require.Equal(t, []string{"NEW_JOB 3 in 1001 [1003 name=7 jobState=STARTING jobStatus=PENDING jobId=7]"}, c.got(), "another job")
		c.quit()
	})
}

func TestAMovedJobIsAnnouncedAgainWithItsProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Queue, "", "slow")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		c.put(model.Process, "7", "7.0", "processState", "RUNNING")
		c.start()
		c.put(model.Job, "slow", "7")
		require.Equal(t, []string{
			"REMOVE_JOB 3 [1003]",
			"NEW_JOB 3 in 1002 [1004 name=7 jobState=RUNNING jobStatus=RUNNING jobId=7]",
			"NEW_PROCESS 3 in 1004 [0 name=7.0 processState=RUNNING processStatus=RUNNING]",
		}, c.got())
		c.quit()
	})
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Queue, "", "slow")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		c.start("details")
		c.put(model.Job, "slow", "7")
		require.Equal(t, []string{"NEW_JOB 3 in 1002 [1003 name=7 jobState=RUNNING jobId=7]"}, c.got(), "rmctl follows the job")
		c.quit()
	})
}

// The client may have seen a newer state from a previous agent.
func TestUnconfirmedStatesAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.define("jobTag", "jobDetail")
		c.model.Update(func(u *model.Update) {
			require.NoError(t, u.Define(model.Definition{ID: "jobUnconfirmed", Type: model.Boolean, Default: []string{"false"}}))
		})
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "PENDING", "jobDetail", "QUEUED_ACTIVE", "jobStatusMessage", "Resources", "execName", "true", "jobUnconfirmed", "true")
		c.send(proxy.Init, "version=2.0", "baseId=1000", "session=S")
		c.send(proxy.ModelDefinition)
		c.got()
		c.send(proxy.StartEvents, "rmctlFeatures=details,resume")
		require.Contains(t, c.got(), "NEW_JOB 3 in 1001 [1002 name=7 jobId=7 execName=true]", "nothing is said of the state")
		confirm := func(attributes ...model.Attribute) {
			require.Empty(t, c.model.Update(func(u *model.Update) {
				u.Put(model.Row{Manager: manager, Kind: model.Job, Parent: "batch", ID: "7", Whole: true, Attributes: append(attributes, model.Attribute{ID: "execName", Text: "true"})})
			}))
		}
		confirm(model.Attribute{ID: "jobState", Text: "RUNNING"}, model.Attribute{ID: "jobDetail", Text: "RUNNING"})
		require.Equal(t, []string{"CHANGE_JOB 3 [1002 jobState=RUNNING jobDetail=RUNNING jobStatusMessage=]"}, c.got())
		confirm(model.Attribute{ID: "jobState", Text: "PENDING"}, model.Attribute{ID: "jobUnconfirmed", Text: "true"})
		require.Empty(t, c.got(), "the client keeps what it has")
		confirm(model.Attribute{ID: "jobState", Text: "RUNNING"}, model.Attribute{ID: "jobStatusMessage", Text: "at last"})
		require.Equal(t, []string{"CHANGE_JOB 3 [1002 jobState=RUNNING jobStatusMessage=at last]"}, c.got())
		c.quit()
	})
}

func TestOutputIsAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		c.put(model.Process, "7", "7.0", "processState", "RUNNING", "processStdout", "one\ntwo\n")
		c.start()
		for output, sent := range map[string]string{"one\ntwo\nthree\n": "three\n"} {
			c.put(model.Process, "7", "7.0", "processStdout", output)
			require.Equal(t, []string{"CHANGE_PROCESS 3 in 1002 [0 processStdout=" + sent + "]"}, c.got())
		}
		c.put(model.Process, "7", "7.0", "processStdout", "three\nfour\n")
		require.Equal(t, []string{"CHANGE_PROCESS 3 in 1002 [0 processStdout=four\n]"}, c.got(), "the model has the end of it")
		c.quit()
	})
}

func TestIdsStayWhileEventsAreStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		c.put(model.Job, "batch", "8", "jobState", "RUNNING")
		c.start()
		c.send(proxy.StopEvents)
		require.Equal(t, []string{"CHANGE_RM 3 [1000 rmState=SUSPENDED]", "OK 3", "OK 4"}, c.got())
		c.remove(model.Job, "7")
		c.put(model.Job, "batch", "8", "jobState", "SUSPENDED")
		c.put(model.Job, "batch", "9", "jobState", "PENDING")
		require.Empty(t, c.got())
		c.send(proxy.StartEvents)
		require.Equal(t, []string{
			"REMOVE_JOB 5 [1002]",
			"NEW_QUEUE 5 in 1000 [1001 name=batch queueState=NORMAL]",
			"NEW_JOB 5 in 1001 [1003 name=8 jobState=SUSPENDED jobStatus=SUSPENDED jobId=8] [1004 name=9 jobState=STARTING jobStatus=PENDING jobId=9]",
			"CHANGE_JOB 5 [1003 jobState=SUSPENDED jobStatus=SUSPENDED]",
			"CHANGE_RM 5 [1000 rmState=STARTED]",
		}, c.got())
		c.quit()
	})
}

func TestOldClientsReceiveTheStatesOfTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, func(o *agent.Options) { o.Old = true })
		c.put(model.Queue, "", "batch")
		c.start()
		c.put(model.Job, "batch", "7", "jobState", "TERMINATED", "jobStatus", "C")
		require.Equal(t, []string{"NEW_JOB 3 in 1001 [1002 name=7 jobState=TERMINATED jobId=7 jobStatus=C]"}, c.got())
		c.quit()
	})
}

func TestTheStateOfTheResourceManagerIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.start()
		c.put(model.ResourceManager, "", manager, "rmState", "ERROR")
		require.Equal(t, []string{"CHANGE_RM 3 [1000 rmState=ERROR]"}, c.got())
		c.quit()
	})
}

func TestQuitEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.start()
		c.send(proxy.Quit)
		require.Equal(t, []string{"OK 3", "SHUTDOWN 4", "(closed)"}, c.got())
		require.NoError(t, <-c.ended)
	})
}

func TestASlowClientIsClosedOneSecondAfterItsQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.start()
		c.stall()
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		c.got()
		begun := time.Now()
		c.send(proxy.Quit)
		require.Error(t, <-c.ended)
		require.Equal(t, 900*time.Millisecond, time.Since(begun))
		c.goOn()
	})
}

func TestChangesForASlowClientAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "PENDING")
		c.start()
		c.stall()
		for range 100 {
			c.put(model.Job, "batch", "7", "jobState", "SUSPENDED")
			c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		}
		c.goOn()
		updates := c.got()
		require.LessOrEqual(t, len(updates), 10)
		require.Contains(t, updates[len(updates)-1], "jobState=RUNNING")
		c.quit()
	})
}

func TestEnvironmentValuesAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.model.Update(func(u *model.Update) {
			u.Put(model.Row{Manager: manager, Kind: model.Job, Parent: "batch", ID: "7", Attributes: []model.Attribute{
				{ID: "jobState", Text: "RUNNING"}, {ID: "env", Elements: []string{"TOKEN=secret", "HOME"}}}})
		})
		c.start("details")
		c.mu.Lock()
		text := ""
		for _, update := range c.raw {
			text += describe(update) + "\n"
		}
		c.mu.Unlock()
		require.Contains(t, text, "env=TOKEN env=HOME")
		require.NotContains(t, text, "secret")
		c.quit()
	})
}

func TestAReturningClientReceivesOnlyNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record := &record{reflected: 12, touched: map[string]int64{"A": 5, "B": 11, "C": 3}}
		c := dial(t, func(o *agent.Options) { o.Record = record })
		c.define("jobTag", "rmListedJobs")
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "1", "jobState", "TERMINATED", "jobTag", "A")
		c.put(model.Job, "batch", "2", "jobState", "TERMINATED", "jobTag", "B")
		c.put(model.Job, "batch", "3", "jobState", "RUNNING", "jobTag", "C")
		c.put(model.Job, "batch", "4", "jobState", "TERMINATED")
		c.send(proxy.Init, "version=2.0", "baseId=1000", "session=S")
		c.send(proxy.ModelDefinition)
		c.got()
		c.send(proxy.StartEvents, "rmctlFeatures=details,resume", "lastEvent=10")
		announced := strings.Join(c.got(), "\n")
		require.Equal(t, []string{"jobId=2", "jobId=3", "jobId=4"}, lazyregexp.New(`jobId=\d`).FindAllString(announced, -1))
		require.NotContains(t, announced, "lastEvent", "jobs are not listed yet")
		c.put(model.ResourceManager, "", manager, "rmListedJobs", "2026-01-01T00:00:00Z")
		require.Equal(t, []string{"ATTR_DEF 3 rmListedJobs", "CHANGE_RM 3 [1000 rmListedJobs=2026-01-01T00:00:00Z lastEvent=12]"}, c.got())
		record.reflected = 13
		c.put(model.Job, "batch", "3", "jobState", "TERMINATED")
		require.Equal(t, []string{"CHANGE_JOB 3 [1003 jobState=TERMINATED]", "CHANGE_RM 3 [1000 lastEvent=13]"}, c.got())
		c.put(model.Job, "batch", "1", "jobStatus", "ready")
		require.Contains(t, strings.Join(c.got(), "\n"), "NEW_JOB 3 in 1001 [1005 name=1", "something happened to it since")
		c.quit()
	})
}
