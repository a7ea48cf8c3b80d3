package agentclient_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

func TestSubmittedJobsAreRecognized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 5 1 name=batch")
			submit := a.Await(proxy.SubmitJob)
			id, _ := submit.Attributes.Value("jobSubId")
			queue, _ := submit.Attributes.Value("queueId")
			a.Events("dc " + queue + " 1 10 3 jobSubId=" + id + " name=root.job jobState=STARTING")
			a.OK(submit)
			terminate := a.Await(proxy.TerminateJob)
			job, _ := terminate.Attributes.Value("jobId")
			a.Events("e6 1 " + job + " 1 jobState=COMPLETED")
			a.OK(terminate)
		})
		accepted, err := s.Submit(t.Context(), proxy.Attributes{{ID: "queueId", Value: "batch"}, {ID: "execName", Value: "x"},
			{ID: "progArgs", Value: "-a"}, {ID: "progArgs", Value: "b"}, {ID: "env", Value: "TOKEN=secret"}})
		require.NoError(t, err)
		require.Equal(t, "10"+sessionSuffix, accepted.Job)
		require.Equal(t, "x", value(t, s, model.Job, accepted.Job, "execName"))
		require.Equal(t, "-a b", value(t, s, model.Job, accepted.Job, "progArgs"))
		require.Empty(t, value(t, s, model.Job, accepted.Job, "env"))
		require.NotEmpty(t, accepted.Submission)
		require.EqualValues(t, "PENDING", get(t, s, model.Job, accepted.Job).State())
		require.NoError(t, s.Terminate(t.Context(), accepted.Job))
		require.EqualValues(t, "TERMINATED", get(t, s, model.Job, accepted.Job).State(), "the event precedes the answer")
	})
}

func TestRefusalsQuoteTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 1 jobId=77")
			for range 3 {
				a.Send(a.Next().Refuse(1202, "unknown\x07 queue"))
			}
		})
		refused := &agentclient.RefusedError{}
		_, err := s.Submit(t.Context(), proxy.Attributes{{ID: "queueId", Value: "batch"}})
		require.ErrorAs(t, err, &refused, "after the id of the queue its name was refused, too")
		require.Equal(t, agentclient.RefusedError{Command: "SUBMIT_JOB", Code: 1202, Text: "unknown  queue"}, *refused)
		require.ErrorAs(t, s.Terminate(t.Context(), "77"), &refused)
		require.Equal(t, "TERMINATE_JOB", refused.Command)
		unknown := &agentclient.UnknownJobError{}
		require.ErrorAs(t, s.Terminate(t.Context(), "78"), &unknown)
		require.Equal(t, "78", unknown.Job)
		unsupported := &agentclient.UnsupportedError{}
		require.ErrorAs(t, s.Operate(t.Context(), "hold", "77"), &unsupported)
		require.Equal(t, "hold", unsupported.What)
		require.ErrorAs(t, s.Move(t.Context(), "77", "batch"), &unsupported)
	})
}

func TestUnannouncedJobsAreASpecialError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.OK(a.Await(proxy.SubmitJob))
		})
		unidentified := &agentclient.UnidentifiedError{}
		_, err := s.Submit(t.Context(), proxy.Attributes{{ID: "jobSubId", Value: "mine"}})
		require.ErrorAs(t, err, &unidentified)
		require.Equal(t, "mine", unidentified.Submission)
	})
}

func TestWaitingForAnswersIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("")
			a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 1 jobId=77")
			late := a.Next()
			a.Write([]byte("00000092 0000:00000001:00000005 00000001:3 00000012:messageLevel=FATAL 0000000d:messageCode=2 00000001:0 00000028:messageText=malformed command, len is 23"))
			a.OK(a.Next())
			a.OK(late)
		})
		begun := time.Now()
		silent := &agentclient.NoAnswerError{}
		require.ErrorAs(t, s.Terminate(t.Context(), "77"), &silent, "an OK with arguments answers nothing")
		require.Equal(t, agentclient.NoAnswerError{Command: "TERMINATE_JOB", Limit: 30 * time.Second}, *silent)
		require.Equal(t, 30*time.Second, time.Since(begun))
		require.NoError(t, s.Terminate(t.Context(), "77"))
		synctest.Wait()
		require.Equal(t, 1, odd(s, "answers to no command"), "an answer that comes too late")
		require.Equal(t, []string{"FATAL: malformed command, len is 23"}, s.Report().Lines)
	})
}

func TestRmctlAgentsOperateJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			start := a.Begin("details,operations,resume,future")
			features, _ := start.Attributes.Value(proxy.FeaturesAttribute)
			a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 3 jobId=77 jobState=UNKNOWN name=null", "eb 1 1 1 features="+features, "eb 1 1 1 lastEvent=41")
			for range 2 {
				command := a.Next()
				how, _ := command.Attributes.Value("operation")
				queue, _ := command.Attributes.Value("queueId")
				a.Events("e6 1 10 1 jobStatus=" + command.Name() + how + queue)
				a.OK(command)
			}
		})
		require.Equal(t, []string{"details", "operations", "resume"}, s.Features())
		require.Equal(t, "null", value(t, s, model.Job, "77", "name"), "rmctl leaves out values that it does not have")
		require.NoError(t, s.Operate(t.Context(), "hold", "77"))
		require.Equal(t, "CHANGE JOBhold", value(t, s, model.Job, "77", "jobStatus"))
		require.NoError(t, s.Move(t.Context(), "77", "batch"))
		require.Equal(t, "MOVE JOB5", value(t, s, model.Job, "77", "jobStatus"))
		manager, _ := s.Model().Snapshot().Manager(s.Manager())
		features, _ := manager.Element().Value("features")
		require.Equal(t, "details,operations,resume", features.Text())
	})
}

// A returning client sends its last event and keeps ended jobs.
func TestReturningClientsKeepEndedJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := acting(t, func(a *agenttest.Agent) {
			a.Begin("details,resume")
			a.Events("e0 0 1 5 1 name=batch", "dc 5 3 10 2 jobId=77 jobState=RUNNING 11 2 jobId=78 jobState=TERMINATED 12 2 jobId=79 jobState=RUNNING", "eb 1 1 1 lastEvent=41")
		})
		ended := get(t, first, model.Job, "78")
		require.NoError(t, first.Close())
		require.NoError(t, first.Err())
		last := make(chan string, 1)
		s := acting(t, func(a *agenttest.Agent) {
			start := a.Begin("details,resume")
			event, _ := start.Attributes.Value(proxy.LastEventAttribute)
			last <- event
			a.Events("e0 0 1 5 1 name=batch", "dc 5 1 20 2 jobId=77 jobState=TERMINATED", "eb 1 1 2 rmListedJobs=2026-01-01T00:00:00Z lastEvent=44")
		}, func(o *agentclient.Options) { o.Resume = first.State() })
		require.Equal(t, "41", <-last)
		require.Equal(t, []string{"77", "78"}, ids(s, model.Job), "the agent has no job 79")
		require.EqualValues(t, "TERMINATED", get(t, s, model.Job, "77").State())
		require.Same(t, ended, get(t, s, model.Job, "78"))
		unknown := &agentclient.UnknownJobError{}
		require.ErrorAs(t, s.Terminate(t.Context(), "78"), &unknown)
	})
}

func TestJobsAnnouncedAgainWithoutAStateKeepTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := acting(t, func(a *agenttest.Agent) {
			a.Begin("details,resume")
			a.Events("e0 0 1 5 1 name=batch", "dc 5 2 10 3 jobId=77 jobState=RUNNING jobStatus=R 11 2 jobId=78 jobState=RUNNING", "eb 1 1 1 lastEvent=41")
		})
		get(t, first, model.Job, "78")
		require.NoError(t, first.Close())
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("details,resume")
			a.Events("e0 0 1 5 1 name=batch", "dc 5 3 20 2 jobId=77 execName=true 21 2 jobId=78 jobState=TERMINATED 22 1 jobId=79", "eb 1 1 2 rmListedJobs=2026-01-01T00:00:00Z lastEvent=44")
		}, func(o *agentclient.Options) { o.Resume = first.State() })
		require.EqualValues(t, "TERMINATED", get(t, s, model.Job, "78").State())
		require.EqualValues(t, "RUNNING", get(t, s, model.Job, "77").State())
		require.Equal(t, "R", value(t, s, model.Job, "77", "jobStatus"))
		require.Equal(t, "true", value(t, s, model.Job, "77", "execName"))
		require.EqualValues(t, "UNKNOWN", get(t, s, model.Job, "79").State())
	})
}

// An agent shows a submission first under its tag, then under its job id before it removes the tag.
func TestAJobSurvivesAChangeOfItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("details")
			a.Events("e0 0 1 5 1 name=batch")
			submitted := a.Next()
			a.Events("dc 5 1 10 3 jobId=tag jobSubId=J jobState=UNKNOWN")
			a.OK(submitted)
			a.Events("dc 5 1 11 3 jobId=77 jobSubId=J jobState=RUNNING", "f1 10", "e6 1 11 1 jobState=TERMINATED")
		})
		accepted, err := s.Submit(t.Context(), proxy.Attributes{{ID: "jobSubId", Value: "J"}, {ID: "execName", Value: "true"}})
		require.NoError(t, err)
		synctest.Wait()
		require.EqualValues(t, "TERMINATED", get(t, s, model.Job, accepted.Job).State())
		require.Equal(t, "77", value(t, s, model.Job, accepted.Job, "jobId"))
	})
}

func TestSessionsThatCannotStartSayWhy(t *testing.T) {
	for name, act := range map[string]func(a *agenttest.Agent){
		"no answer to INIT from the agent within 30s":                  func(a *agenttest.Agent) { a.Await(proxy.Quit) },
		`not a frame of the proxy protocol: "Welcome\nto this host\n"`: func(a *agenttest.Agent) { a.Write([]byte("Welcome\nto this host\n")) },
		"the agent closed the connection":                              func(a *agenttest.Agent) { a.Await(proxy.Init) },
		"Proxy already initialized":                                    func(a *agenttest.Agent) { a.Send(a.Next().Refuse(1200, "Proxy already initialized")) },
		"unexpected EOF":                                               func(a *agenttest.Agent) { a.Next(); a.Write([]byte("00000017 00")) },
		"no answer to MODEL_DEF from the agent within 30":              func(a *agenttest.Agent) { a.OK(a.Next()); a.Await(proxy.Quit) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := agentclient.Start(context.Background(), agentclient.Options{Agent: []string{"agent"}, Connection: agenttest.Acting(act)})
				ended := &agentclient.EndedError{}
				require.ErrorAs(t, err, &ended)
				require.ErrorContains(t, err, name)
			})
		})
	}
}

// An agent whose scheduler does not answer has announced nothing yet, so nothing counts as removed.
func TestNothingIsRemovedBeforeTheFirstListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := acting(t, func(a *agenttest.Agent) {
			a.Begin("details,resume")
			a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 2 jobId=77 jobState=RUNNING", "eb 1 1 2 rmListedJobs=2026-01-01T00:00:00Z lastEvent=41")
		})
		require.NoError(t, first.Close())
		lists := make(chan struct{})
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("details,resume")
			a.Events("eb 1 1 2 rmStale=no_answer lastEvent=41")
			<-lists
			a.Events("eb 1 1 1 rmListedJobs=2026-01-01T00:10:00Z")
		}, func(o *agentclient.Options) { o.Resume = first.State() })
		time.Sleep(10 * time.Minute)
		require.Equal(t, []string{"77"}, ids(s, model.Job))
		close(lists)
		synctest.Wait()
		require.Empty(t, ids(s, model.Job))
	})
}

// Listings may take long; readers wait for the first one.
func TestReadersWaitForTheFirstListingOfAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		s := acting(t, func(a *agenttest.Agent) {
			a.Begin("details,resume")
			a.Events("eb 1 1 1 rmType=slurm")
			time.Sleep(20 * time.Second)
			a.Events("e0 0 1 5 1 name=batch", "dc 5 1 10 2 jobId=77 jobState=RUNNING", "eb 1 1 1 rmListedJobs=2026-01-01T00:00:00Z")
		})
		require.Equal(t, 20*time.Second, time.Since(begun))
		require.Equal(t, []string{"77"}, ids(s, model.Job))
	})
}
