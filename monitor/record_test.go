package monitor_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

func TestJobsOnRecordAreRecognised(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, nil,
			rowOf("1", "state=RUNNING", "identity=tag-1"),
			rowOf("2", "state=RUNNING"),
			rowOf("3", "state=RUNNING", "identity=tag-of-somebody"),
			rowOf("5_1", "state=RUNNING", "identity=tag-5"), rowOf("5_2", "state=QUEUED_ACTIVE", "identity=tag-5"))
		w.record.set(
			job.Job{Tag: "tag-1", ID: "1", Ensemble: "4f1c2a7e5b0f", Part: "solver", Observation: job.Observation{Detail: job.Submitted}},
			job.Job{Tag: "tag-2", ID: "2", Observation: job.Observation{Name: "mine", Detail: job.Submitted, OutputPath: "/home/2.out"}},
			job.Job{Tag: "tag-3", ID: "3", Observation: job.Observation{Identity: "tag-3", Detail: job.Completed}},
			job.Job{Tag: "tag-5", ID: "5", Observation: job.Observation{Detail: job.Submitted}})
		w.begin()
		require.Equal(t, []string{"1", "2", "3", "5_1", "5_2", "tag-3"}, w.ids(model.Job))
		require.Equal(t, "tag-1", w.value(model.Job, "1", vocabulary.AttributeJobTag))
		require.Equal(t, "true", w.value(model.Job, "1", vocabulary.AttributeJobLaunched))
		require.Equal(t, "4f1c2a7e5b0f", w.value(model.Job, "1", vocabulary.AttributeJobEnsemble))
		require.Equal(t, "solver", w.value(model.Job, "1", vocabulary.AttributeJobPart))
		require.Equal(t, "mine", w.value(model.Job, "2", vocabulary.AttributeName))
		require.Equal(t, "/home/2.out", w.value(model.Job, "2", vocabulary.AttributeJobOutput))
		require.Equal(t, "false", w.value(model.Job, "3", vocabulary.AttributeJobLaunched), "the id was given again")
		require.Equal(t, "TERMINATED", w.value(model.Job, "tag-3", vocabulary.AttributeJobState))
		require.Equal(t, "tag-5", w.value(model.Job, "5_2", vocabulary.AttributeJobTag))
	})
}

func TestAJobOfAnotherUserIsNotTakenForARecordedOne(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, nil,
			rowOf("1", "state=RUNNING", "identity=tag-1", "owner=me"), rowOf("66", "state=RUNNING", "identity=tag-1", "owner=mallory"),
			rowOf("2", "state=RUNNING", "identity=tag-2", "owner=mallory"), rowOf("3", "state=RUNNING", "owner=mallory"),
			rowOf("4", "state=RUNNING", "owner=me@login"), rowOf("5", "state=RUNNING", "owner=1000"))
		w.record.set(
			job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Submitted}},
			job.Job{Tag: "tag-2", ID: "2", Observation: job.Observation{Detail: job.Submitted, Owner: "me"}},
			job.Job{Tag: "tag-3", ID: "3", Observation: job.Observation{Detail: job.Submitted}},
			job.Job{Tag: "tag-4", ID: "4", Observation: job.Observation{Detail: job.Submitted}},
			job.Job{Tag: "tag-5", ID: "5", Observation: job.Observation{Detail: job.Submitted}})
		w.begin()
		require.Equal(t, "tag-1", w.value(model.Job, "1", vocabulary.AttributeJobTag))
		require.Equal(t, "tag-4", w.value(model.Job, "4", vocabulary.AttributeJobTag))
		require.Equal(t, "tag-5", w.value(model.Job, "5", vocabulary.AttributeJobTag))
		for _, id := range []string{"66", "2", "3"} {
			require.Empty(t, w.value(model.Job, id, vocabulary.AttributeJobTag))
		}
		require.Equal(t, "tag-2", w.value(model.Job, "tag-2", vocabulary.AttributeJobTag))
	})
}

func TestOnlyAJobThatNeverStartedIsInError(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		states := func() map[string]string {
			all := map[string]string{}
			for _, id := range w.ids(model.Job) {
				all[id] = w.value(model.Job, id, vocabulary.AttributeJobState)
			}
			return all
		}
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING"), rowOf("2", "state=SUBMITTED"), rowOf("3", "state=SUBMITTED"), rowOf("4", "state=SUBMITTED"))
		w.record.set(job.Job{Tag: "tag-5", ID: "5", Observation: job.Observation{Detail: job.Failed, Started: "2026-01-02T03:04:05Z"}},
			job.Job{Tag: "tag-6", ID: "6", Observation: job.Observation{Detail: job.Failed}})
		w.begin()

		failed := []row{rowOf("1", "state=FAILED"), rowOf("2", "state=FAILED"), rowOf("3", "state=FAILED", "exitCode=3"), rowOf("4", "state=FAILED", "started=2026-01-02T03:04:05")}
		w.source.set(model.Job, nil, failed...)
		w.again()
		require.Equal(t, map[string]string{"1": "TERMINATED", "2": "ERROR", "3": "TERMINATED", "4": "TERMINATED", "5": "TERMINATED", "6": "ERROR"}, states())

		failed[0] = rowOf("1", "state=FAILED", "reason=killed")
		failed[1] = rowOf("2", "state=FAILED", "exitCode=1") // accounting reported it later
		w.source.set(model.Job, nil, failed...)
		w.again()
		require.Equal(t, "TERMINATED", states()["1"], "it was seen running")
		require.Equal(t, "TERMINATED", states()["2"])
		require.Empty(t, w.problems())
	})
}

func TestTheSubmissionIsShownAsSoonAsItIsKnown(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "identity=tag-1"), rowOf("3", "state=RUNNING"))
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Running}}, job.Job{Tag: "tag-2"})
		w.record.setProcesses("tag-1", job.Process{Rank: 0}, job.Process{Rank: 1})
		var submitted atomic.Pointer[[]model.Attribute]
		submitted.Store(new([]model.Attribute))
		w.options.Submission = func(tag string) []model.Attribute {
			if tag == "tag-1" {
				return *submitted.Load()
			}
			return nil
		}
		w.begin()
		require.Equal(t, "1", w.value(model.Job, "1", "jobId"))
		require.Equal(t, "tag-1", w.value(model.Job, "1", "jobSubId"))
		require.Equal(t, "2", w.value(model.Job, "1", "jobNumProcs"), "the processes that are known")
		require.Empty(t, w.value(model.Job, "tag-2", "jobId"), "it has no id yet")
		require.Equal(t, "tag-2", w.value(model.Job, "tag-2", "jobSubId"))
		require.Equal(t, "3", w.value(model.Job, "3", "jobId"))
		require.Empty(t, w.value(model.Job, "3", "jobSubId"))

		submitted.Store(&[]model.Attribute{{ID: "execName", Text: "simulate"}, {ID: "jobNumProcs", Text: "4"}})
		w.settle(10 * time.Second)
		require.Equal(t, "simulate", w.value(model.Job, "1", "execName"))
		require.Equal(t, "4", w.value(model.Job, "1", "jobNumProcs"))
	})
}

func TestJobsOnRecordAreShownUntilTheyArePruned(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "identity=tag-1", "nodes=n1"))
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Running}}, job.Job{Tag: "tag-2", Observation: job.Observation{Detail: job.Failed, Reason: "refused"}})
		w.begin()
		require.Equal(t, []string{"1", "tag-2"}, w.ids(model.Job))
		require.Equal(t, "refused", w.value(model.Job, "tag-2", vocabulary.AttributeJobMessage))

		w.source.set(model.Job, nil)
		code := 3
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Failed, ExitCode: &code}})
		w.again()
		require.Equal(t, []string{"1"}, w.ids(model.Job))
		require.Equal(t, "TERMINATED", w.value(model.Job, "1", vocabulary.AttributeJobState))
		require.Equal(t, "3", w.value(model.Job, "1", vocabulary.AttributeJobExitCode))

		w.record.set()
		w.again()
		require.Empty(t, w.ids(model.Job))
		require.Empty(t, w.ids(model.Queue), "the queue that was made for jobs without one")
		require.Empty(t, w.problems())
	})
}

func TestAJobRecordedAfterItsListingIsRecognised(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING"))
		w.begin()
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Submitted}})
		w.again()
		require.Equal(t, []string{"1"}, w.ids(model.Job))
		require.Equal(t, "tag-1", w.value(model.Job, "1", vocabulary.AttributeJobTag))
		w.record.set()
		w.again()
		require.Equal(t, []string{"1"}, w.ids(model.Job))
		require.Equal(t, "false", w.value(model.Job, "1", vocabulary.AttributeJobLaunched))
	})
}

func TestRecordedStatesDoNotGoBackward(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Identity: "tag-1", Detail: job.Canceled}})
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "identity=tag-1"))
		w.begin()
		require.Equal(t, "CANCELED", w.value(model.Job, "1", vocabulary.AttributeJobDetail))
		require.Empty(t, w.problems())
	})
}

func TestACanceledJobWithAnEndedRowIsShownAsCanceled(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Running}, CancelAccepted: time.Unix(1, 0)},
			job.Job{Tag: "tag-2", ID: "2", Observation: job.Observation{Detail: job.Running}, CancelAccepted: time.Unix(1, 0)})
		w.source.set(model.Job, nil, rowOf("1", "state=COMPLETED"), rowOf("2", "state=COMPLETED", "exitCode=0"))
		w.begin()
		require.Equal(t, "CANCELED", w.value(model.Job, "1", vocabulary.AttributeJobDetail))
		require.Equal(t, "COMPLETED", w.value(model.Job, "2", vocabulary.AttributeJobDetail))
	})
}

func TestAReusedIDIsAnotherJob(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, nil, rowOf("1", "state=COMPLETED", "submitted=1000000000"), rowOf("2", "state=COMPLETED", "submitted=1000000000"))
		w.begin()
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "submitted=1000000001"), rowOf("2", "state=RUNNING", "submitted=1000000000"))
		w.again()
		require.Equal(t, "RUNNING", w.value(model.Job, "1", vocabulary.AttributeJobState))
		require.Equal(t, "TERMINATED", w.value(model.Job, "2", vocabulary.AttributeJobState), "a job that has ended does not go on")
		require.Equal(t, map[string]int{"job: transition": 1}, w.problems())
	})
}

func TestProcessesOfJobsAreShown(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		code, signal := 7, 9
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Running}})
		processes := []job.Process{
			{Rank: 0, Node: "n1", PID: 100, State: "RUNNING", Output: "step 1\n", ErrorOutput: "\xa9t\xc3\xa9\n"}, {Rank: 1, Node: "n2", PID: 101, State: "EXITED", ExitCode: &code}, {Rank: 2, State: "EXITED_SIGNALLED", Signal: &signal}}
		w.record.setProcesses("tag-1", processes...)
		w.begin()
		require.Equal(t, []string{"1.0", "1.1", "1.2"}, w.ids(model.Process))
		require.Equal(t, "n1", w.value(model.Process, "1.0", vocabulary.AttributeProcessNodeID))
		require.Equal(t, "100", w.value(model.Process, "1.0", "processPID"))
		require.Equal(t, "7", w.value(model.Process, "1.1", vocabulary.AttributeProcessExitCode))
		require.Equal(t, "SIGKILL", w.value(model.Process, "1.2", "processSignalName"))
		require.Equal(t, []string{"step 1\n", "té\n"}, []string{w.value(model.Process, "1.0", "processStdout"), w.value(model.Process, "1.0", "processStderr")},
			"the end of an output may begin within a character")
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING"))
		complaining := slices.Clone(processes)
		complaining[1].ErrorOutput = "oops\n"
		w.record.setProcesses("tag-1", complaining...)
		w.again()
		require.Len(t, w.ids(model.Process), 3)
		require.Equal(t, "oops\n", w.value(model.Process, "1.1", "processStderr"))
	})
}

func TestResolvedDoubtsAndUnreadableRecordsAreShown(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Stale: true, StaleReason: "it could not be queried", Observation: job.Observation{Detail: job.Running}})
		w.begin()
		require.Equal(t, "it could not be queried", w.value(model.Job, "1", vocabulary.AttributeJobDoubt))
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Running}})
		w.settle(3 * time.Second)
		require.Empty(t, w.value(model.Job, "1", vocabulary.AttributeJobDoubt))
		w.record.fail(errors.New("the disk is full"))
		w.settle(3 * time.Second)
		require.Contains(t, w.own(vocabulary.AttributeStale), "the record")
		require.Contains(t, w.own(vocabulary.AttributeStale), "the disk is full")
		require.Equal(t, []string{"1"}, w.ids(model.Job))
	})
}
