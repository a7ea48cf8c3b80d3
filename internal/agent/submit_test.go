package agent_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

func TestASubmittedJobIsAnnouncedBeforeOK(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.start()
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello", "execPath=/bin", "workingDir=/tmp", "progArgs=-a", "progArgs=2 3", "env=A=b", "queueId=1001")
		require.Equal(t, []string{"NEW_JOB 3 in 1001 [1002 name=42 jobState=STARTING jobStatus=PENDING jobId=42 jobSubId=JOB_1]", "OK 4"}, c.got())
		submitted := c.scheduler.submitted[0]
		require.Equal(t, "/bin/hello", submitted.Executable)
		require.Equal(t, []string{"-a", "2 3"}, submitted.Arguments)
		require.Equal(t, "/tmp", submitted.Directory)
		require.Equal(t, []job.Variable{{Name: "A", Value: "b"}}, submitted.Environment.Variables)
		require.Equal(t, []job.Assignment{{Name: "queue", Value: "batch"}}, submitted.Values)
		c.quit()
	})
}

// Without a debugging command in the definition, the job runs the debugger's servers instead of the
// program.
func TestAJobIsDebuggedWithoutADebuggingCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.start()
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello", "execPath=/bin", "workingDir=/tmp", "debug=true", "debugExecName=sdm", "debugExecPath=/opt",
			"debugArgs=--port=7", "debugArgs=--host=localhost", "debugerId=sdm", "count=3")
		require.Contains(t, c.got(), "OK 4")
		require.Equal(t, [][]string{{"--port=7", "--host=localhost"}}, c.scheduler.debugged)
		submitted := c.scheduler.submitted[0]
		require.False(t, submitted.Debug)
		require.Equal(t, "/bin/hello", submitted.Executable)
		require.Equal(t, []job.Assignment{{Name: "count", Value: "3"}}, submitted.Values)
		c.quit()
	})
}

func TestAMovedJobKeepsItsSubmissionID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Queue, "", "slow")
		c.start()
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		require.Equal(t, []string{"NEW_JOB 3 in 1001 [1003 name=42 jobState=STARTING jobStatus=PENDING jobId=42 jobSubId=JOB_1]", "OK 4"}, c.got())
		c.put(model.Job, "slow", "42")
		require.Equal(t, []string{
			"REMOVE_JOB 3 [1003]",
			"NEW_JOB 3 in 1002 [1004 name=42 jobState=STARTING jobStatus=PENDING jobId=42 jobSubId=JOB_1]",
		}, c.got())
		c.send(proxy.TerminateJob, "jobId=1003")
		require.Regexp(t, "^TERMINATEJOB_ERROR 5 ", strings.Join(c.got(), "\n"), "that id is gone")
		c.send(proxy.TerminateJob, "jobId=1004")
		require.Equal(t, []string{"OK 6"}, c.got())
		require.Equal(t, []string{"cancel 42"}, c.scheduler.done)
		c.quit()
	})
}

func TestARefusalNamesTheSubmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.start()
		c.scheduler.refuses = errors.New("no such account")
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		require.Equal(t, []string{"SUBMITJOB_ERROR 4 jobSubId=JOB_1 errorCode=1202 errorMsg=no such account"}, c.got())
		c.send(proxy.SubmitJob, "execName=hello")
		require.Equal(t, []string{"ERROR 5 errorCode=1202 errorMsg=the submission has no jobSubId"}, c.got())
		for _, refused := range []string{"jobSubId=JOB_2", "jobSubId=JOB_3 execName=a env=nothing", "jobSubId=JOB_4 execName=a jobId=1001", "jobSubId=JOB_5 execName=a jobTimeLimit=soon",
			"jobSubId=JOB_6 execName=a Resource_List.nodes=host1+host2", "jobSubId=JOB_7 execName=a Resource_List.mem=lots"} {
			c.send(proxy.SubmitJob, strings.Fields(refused)...)
			require.Regexp(t, "^SUBMITJOB_ERROR ", strings.Join(c.got(), "\n"), refused)
		}
		c.send(proxy.SubmitJob, "jobSubId="+strings.Repeat("x", 1001), "execName=a")
		require.Contains(t, strings.Join(c.got(), "\n"), "the jobSubId has more than 1000 bytes")
		require.Len(t, c.scheduler.submitted, 1)
		c.quit()
	})
}

func TestASubmissionWithoutEventsIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.start()
		c.send(proxy.StopEvents)
		c.got()
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		require.Equal(t, []string{"OK 5"}, c.got())
		c.send(proxy.StartEvents)
		require.Contains(t, strings.Join(c.got(), "\n"), "jobSubId=JOB_1")
		c.quit()
	})
}

func TestWaitingForAJobToAppearIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.start()
		c.scheduler.accept = func(s job.Submission) job.Job { return job.Job{ID: "42", Tag: s.Tag} }
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		require.Empty(t, c.got())
		time.Sleep(10 * time.Second) // bubble time
		require.Equal(t, []string{"OK 4"}, c.got())
		c.quit()
	})
}

func TestAJobIsAnnouncedToRmctlBeforeTheModelShowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.define("jobTag")
		c.put(model.Queue, "", "batch")
		c.put(model.Queue, "", "long")
		c.start("details")
		tag := ""
		c.scheduler.accept = func(s job.Submission) job.Job {
			tag = s.Tag
			return job.Job{ID: "42", Tag: s.Tag, Observation: job.Observation{Name: "sums", Queue: "long", Detail: job.Submitted}}
		}
		c.send(proxy.SubmitJob, "jobSubId=J", "execName=hello")
		require.Equal(t, []string{"NEW_JOB 3 in 1002 [1003 name=sums jobState=PENDING jobId=42 jobSubId=J]", "OK 4"}, c.got())
		c.put(model.Job, "long", "42", "name", "sums", "jobState", "RUNNING", "jobTag", tag)
		require.Equal(t, []string{"NEW_JOB 3 in 1002 [1003 name=sums jobState=RUNNING jobId=42 jobSubId=J jobTag=J]"}, c.got())
		c.remove(model.Job, "42")
		require.Equal(t, []string{"REMOVE_JOB 3 [1003]"}, c.got())

		accept := c.scheduler.accept
		c.scheduler.accept = func(s job.Submission) job.Job {
			earlier := accept(s)
			earlier.Observed = time.Now().Add(-time.Minute)
			return earlier
		}
		c.send(proxy.SubmitJob, "jobSubId=K", "execName=hello")
		require.Equal(t, []string{"NEW_JOB 3 in 1002 [1004 name=sums jobId=42 jobSubId=K]", "OK 5"}, c.got(), "a state from before the session may be out of date")
		c.put(model.Job, "long", "42.site", "jobTag", tag)
		require.Equal(t, []string{"REMOVE_JOB 3 [1004]", "NEW_JOB 3 in 1002 [1005 name=42.site jobState=PENDING jobId=42.site jobSubId=K jobTag=K]"}, c.got())
		c.quit()
	})
}

func TestAJobListedBeforeItIsRecordedIsAnnouncedAgain(t *testing.T) {
	for features, want := range map[string][]string{
		"":        {"REMOVE_JOB 3 [1002]", "NEW_JOB 3 in 1001 [1003 name=42 jobState=STARTING jobStatus=PENDING jobId=42 jobSubId=J]", "OK 4"},
		"details": {"ATTR_DEF 3 jobTag", "NEW_JOB 3 in 1001 [1002 name=42 jobState=PENDING jobId=42 jobSubId=J jobTag=J]", "OK 4"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, nil)
			c.put(model.Queue, "", "batch")
			if features == "" {
				c.start()
			} else {
				c.start(features)
			}
			tag := ""
			c.scheduler.accept = func(s job.Submission) job.Job {
				tag = s.Tag
				c.put(model.Job, "batch", "42", "jobState", "PENDING")
				return job.Job{ID: "42", Tag: s.Tag}
			}
			c.send(proxy.SubmitJob, "jobSubId=J", "execName=hello")
			require.Len(t, c.got(), 1, "NEW_JOB")
			c.define("jobTag")
			c.put(model.Job, "batch", "42", "jobTag", tag)
			require.Equal(t, want, c.got())
			c.quit()
		})
	}
}

func TestAJobRecordedLateIsAnnouncedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.define("jobTag")
		c.put(model.Queue, "", "batch")
		c.start()
		tag := ""
		c.scheduler.accept = func(s job.Submission) job.Job {
			tag = s.Tag
			c.put(model.Job, "batch", "42", "jobState", "PENDING")
			return job.Job{ID: "42", Tag: s.Tag}
		}
		c.send(proxy.SubmitJob, "jobSubId=J", "execName=hello")
		time.Sleep(10 * time.Second) // bubble time
		require.Contains(t, c.got(), "OK 4")
		c.put(model.Job, "batch", "42", "jobTag", tag)
		require.Equal(t, []string{"REMOVE_JOB 3 [1002]", "NEW_JOB 3 in 1001 [1003 name=42 jobState=STARTING jobStatus=PENDING jobId=42 jobSubId=J]"}, c.got())
		c.quit()
	})
}

func TestAJobIsAnnouncedOnceItHasAnID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.define("jobTag")
		c.put(model.Queue, "", "batch")
		c.start()
		known := make(chan struct{})
		c.scheduler.accept = func(s job.Submission) job.Job {
			c.put(model.Job, "batch", s.Tag, "jobState", "UNKNOWN", "jobTag", s.Tag)
			<-known
			c.remove(model.Job, s.Tag)
			c.put(model.Job, "batch", "42", "jobState", "PENDING", "jobTag", s.Tag)
			return job.Job{ID: "42", Tag: s.Tag}
		}
		c.send(proxy.SubmitJob, "jobSubId=J", "execName=hello")
		require.Empty(t, c.got())
		close(known)
		require.Equal(t, []string{"NEW_JOB 3 in 1001 [1002 name=42 jobState=STARTING jobStatus=PENDING jobId=42 jobSubId=J]", "OK 4"}, c.got())
		c.quit()
	})
}

func TestAJobWithoutAnIDIsAnnouncedOnceAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.define("jobTag")
		c.put(model.Queue, "", "batch")
		c.start()
		c.scheduler.accept = func(s job.Submission) job.Job {
			c.put(model.Job, "batch", s.Tag, "jobState", "RUNNING", "jobTag", s.Tag)
			time.Sleep(time.Second) // bubble time: the element is compared first
			return job.Job{ID: s.Tag, Tag: s.Tag}
		}
		c.send(proxy.SubmitJob, "jobSubId=J", "execName=hello")
		require.Empty(t, c.got())
		time.Sleep(time.Second)
		updates := c.got()
		require.Len(t, updates, 2)
		require.Regexp(t, `^NEW_JOB .* jobSubId=J\]$`, updates[0])
		require.Equal(t, "OK 4", updates[1])
		c.quit()
	})
}

func TestOneSubmissionIDIsOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.start()
		c.scheduler.hold = make(chan struct{})
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		require.Empty(t, c.got())
		close(c.scheduler.hold)
		require.Equal(t, []string{"NEW_JOB 3 in 1001 [1002 name=42 jobState=STARTING jobStatus=PENDING jobId=42 jobSubId=JOB_1]", "OK 4", "OK 5"}, c.got())
		require.Len(t, c.scheduler.submitted, 1)
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		require.Equal(t, []string{"NEW_JOB 3 in 1001 [1002 name=42 jobState=STARTING jobStatus=PENDING jobId=42 jobSubId=JOB_1]", "OK 6"}, c.got())
		require.Equal(t, c.scheduler.submitted[0].Tag, c.scheduler.submitted[1].Tag, "the record knows it")
		c.quit()
	})
}

// submittedTag returns the tag of a submission with an id in a session.
func submittedTag(t *testing.T, session, id string) (tag, announced string) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		begin := []string{"version=2.0", "baseId=1"}
		if session != "" {
			begin = append(begin, "session="+session)
		}
		c.send(proxy.Init, begin...)
		c.send(proxy.ModelDefinition)
		c.send(proxy.StartEvents)
		c.send(proxy.SubmitJob, "jobSubId="+id, "execName=hello")
		announced = strings.Join(c.got(), "\n")
		tag = c.scheduler.submitted[0].Tag
		c.quit()
	})
	return tag, announced
}

func TestASubmissionKeepsItsTagWhenTheClientReturns(t *testing.T) {
	first, _ := submittedTag(t, "S", "JOB_1")
	again, _ := submittedTag(t, "S", "JOB_1")
	require.Equal(t, first, again)
	other, _ := submittedTag(t, "T", "JOB_1")
	require.NotEqual(t, first, other, "another session")
	alone, _ := submittedTag(t, "", "JOB_1")
	later, _ := submittedTag(t, "", "JOB_1")
	require.NotEqual(t, alone, later, "each connection is a session")

	const own = "11111111-2222-4333-8444-555555555555"
	tag, _ := submittedTag(t, "S", own)
	require.NotEqual(t, own, tag, "both ends may have one record")
	again, _ = submittedTag(t, "T", own)
	require.Equal(t, tag, again)
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.define("jobTag")
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING", "jobTag", tag)
		c.send(proxy.Init, "version=2.0", "baseId=1", "session=U")
		c.send(proxy.ModelDefinition)
		c.send(proxy.StartEvents)
		require.Contains(t, strings.Join(c.got(), "\n"), "jobSubId="+own, "so rmctl finds its submissions")
		c.quit()
	})
}

func TestPendingSubmissionsAreFinishedAfterQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.start()
		c.scheduler.hold = make(chan struct{})
		c.send(proxy.SubmitJob, "jobSubId=JOB_1", "execName=hello")
		c.got()
		c.send(proxy.Quit)
		require.Equal(t, []string{"OK 3", "SHUTDOWN 5", "(closed)"}, c.got())
		require.Empty(t, c.ended)
		close(c.scheduler.hold)
		require.NoError(t, <-c.ended)
		require.Len(t, c.scheduler.submitted, 1)
	})
}

func TestJobsAreOperated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		c.start("operations")
		c.send(proxy.TerminateJob, "jobId=1002")
		c.send(proxy.ChangeJob, "jobId=1002", "operation=hold")
		c.send(proxy.MoveJob, "jobId=1002", "queueId=1001")
		require.ElementsMatch(t, []string{"OK 4", "OK 5", "OK 6"}, c.got())
		require.ElementsMatch(t, []string{"cancel 7", "hold 7", "move 7 batch"}, c.scheduler.done)
		c.send(proxy.ChangeJob, "jobId=1002", "operation=cancel")
		require.Equal(t, []string{`ERROR 7 errorCode=1203 errorMsg=unknown operation "cancel": use hold, release, suspend or resume`}, c.got())
		c.send(proxy.TerminateJob, "jobId=1001")
		require.Equal(t, []string{`TERMINATEJOB_ERROR 8 jobId=1001 errorCode=1203 errorMsg=unknown job "1001"`}, c.got())
		c.scheduler.refuses = errors.New("it has ended")
		c.send(proxy.TerminateJob, "jobId=1002")
		require.Equal(t, []string{"TERMINATEJOB_ERROR 9 jobId=1002 errorCode=1203 errorMsg=it has ended"}, c.got())
		c.send(proxy.FilterEvents, "id=1001")
		require.Equal(t, []string{"ERROR 10 errorCode=2 errorMsg=events cannot be filtered"}, c.got())
		c.quit()
	})
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, nil)
		c.put(model.Queue, "", "batch")
		c.put(model.Job, "batch", "7", "jobState", "RUNNING")
		c.start()
		c.send(proxy.ChangeJob, "jobId=1002", "operation=hold")
		require.Equal(t, []string{"ERROR 4 errorCode=1203 errorMsg=only rmctl clients may send CHANGE_JOB"}, c.got())
		c.quit()
	})
}
