package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

func TestBothStreamsOfAJobAreSentOnceItHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.scheduler.printed = agent.Printed{Stdout: "one\ntwo\n", Stderr: "bad \xff\n"}
		c.put(model.Queue, "", "batch")
		c.put(model.Queue, "", "slow")
		c.start()
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		c.got()
		c.put(model.Job, "batch", "42", "jobState", "RUNNING")
		c.got()
		require.Empty(t, c.scheduler.done)
		c.put(model.Job, "batch", "42", "jobState", "TERMINATED")
		written := []string{
			"CHANGE_PROCESS 3 in 1003 [0 processStdout=one\ntwo\n]",
			"CHANGE_PROCESS 3 in 1003 [0 processStderr=bad \ufffd\n]",
		}
		require.Equal(t, append([]string{
			"CHANGE_JOB 3 [1003 jobState=COMPLETED jobStatus=TERMINATED]",
			"NEW_PROCESS 3 in 1003 [0 name=42.0 processState=COMPLETED processStatus=EXITED processIndex=0]",
		}, written...), c.got())
		c.put(model.Job, "batch", "42", "jobStatusMessage", "again")
		require.Len(t, c.got(), 1, "clients append what they get")
		c.put(model.Job, "slow", "42")
		require.Equal(t, "NEW_PROCESS 3 in 1004 [0 name=42.0 processState=COMPLETED processStatus=EXITED processIndex=0]", c.got()[2], "the client lost it with the job")
		c.quit()
	})
}

func TestOutputOfAJobBelongsToItsFirstProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.scheduler.printed = agent.Printed{Stderr: "bad\n"}
		c.put(model.Queue, "", "batch")
		c.start()
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		c.got()
		c.put(model.Process, "42", "42.3", "processIndex", "3")
		c.got()
		c.put(model.Job, "batch", "42", "jobState", "TERMINATED")
		require.Equal(t, []string{"CHANGE_JOB 3 [1002 jobState=COMPLETED jobStatus=TERMINATED]", "CHANGE_PROCESS 3 in 1002 [3 processStderr=bad\n]"}, c.got())
		c.quit()
	})
}

func TestOutputIsNotReadForOtherJobsOrRmctlClients(t *testing.T) {
	for _, features := range [][]string{nil, {"details"}} {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, nil)
			c.put(model.Queue, "", "batch")
			c.start(features...)
			c.put(model.Job, "batch", "7", "jobState", "TERMINATED")
			if features != nil {
				c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
				c.got()
				c.put(model.Job, "batch", "42", "jobState", "TERMINATED")
			}
			c.got()
			require.Empty(t, c.scheduler.done)
			c.quit()
		})
	}
}

func TestOutputReadWhileEventsAreStoppedIsSentLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.scheduler.printed = agent.Printed{Stdout: "one\n"}
		c.put(model.Queue, "", "batch")
		c.start()
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		c.got()
		c.send(proxy.StopEvents)
		c.got()
		c.put(model.Job, "batch", "42", "jobState", "TERMINATED")
		require.Empty(t, c.got())
		c.send(proxy.StartEvents)
		require.Contains(t, c.got(), "CHANGE_PROCESS 6 in 1002 [0 processStdout=one\n]")
		c.quit()
	})
}

func TestReadingOutputBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.scheduler.printed, c.scheduler.reads = agent.Printed{Stdout: "one\n"}, make(chan struct{})
		c.scheduler.accept = func(s job.Submission) job.Job {
			c.define("jobTag")
			c.put(model.Job, "batch", s.Executable, "jobState", "TERMINATED", "jobTag", s.Tag)
			return job.Job{ID: s.Executable, Tag: s.Tag}
		}
		c.put(model.Queue, "", "batch")
		c.start()
		const jobs = 20 // more than workers
		for i := range jobs {
			c.send(proxy.SubmitJob, fmt.Sprint("jobSubId=", i), fmt.Sprint("execName=j", i))
			require.Contains(t, strings.Join(c.got(), "\n"), "OK ")
		}
		for range jobs {
			require.NotContains(t, strings.Join(c.got(), "\n"), "processStdout")
			c.scheduler.reads <- struct{}{}
			require.Equal(t, 1, strings.Count(strings.Join(c.got(), "\n"), "processStdout"))
		}
		c.quit()
	})
}
