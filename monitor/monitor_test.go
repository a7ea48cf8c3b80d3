package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

func TestListedElementsAreShown(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Queue, nil, rowOf("batch", "state=NORMAL", "native=up", "default=true", "timeLimit=1-00:00:00", "running=1", "waiting=2", "nodes=4"))
		w.source.set(model.Node, nil,
			rowOf("n1", "state=UP", "native=mixed", "cpus=8", "cpusUsed=2", "memory=1024", "load=0.5", "queues=batch,fast"),
			rowOf("n2", "state=DOWN", "native=down*", "reason=no answer"))
		w.source.set(model.Job, nil,
			rowOf("7", "state=RUNNING", "native=R", "owner=her", "queue=batch", "name=<b>", "nodes=n1", "submitted=2026-01-02T03:04:05", "started=1767322000", "cpus=2"),
			rowOf("8", "state=USER_ON_HOLD", "native=PENDING", "reason=JobHeldUser", "owner=him", "queue=batch"))
		w.begin()

		require.Equal(t, []string{"batch"}, w.ids(model.Queue))
		require.Equal(t, "up", w.value(model.Queue, "batch", vocabulary.AttributeQueueStatus))
		require.Equal(t, "true", w.value(model.Queue, "batch", vocabulary.AttributeQueueDefault))
		require.Equal(t, "2", w.value(model.Queue, "batch", vocabulary.AttributeQueueWaiting))

		require.Equal(t, []string{"n1", "n2"}, w.ids(model.Node))
		require.Equal(t, "batch fast", w.value(model.Node, "n1", vocabulary.AttributeNodeQueues))
		require.Equal(t, "0.5", w.value(model.Node, "n1", vocabulary.AttributeNodeLoad))
		require.Equal(t, "DOWN", w.value(model.Node, "n2", vocabulary.AttributeNodeState))
		require.Equal(t, "no answer", w.value(model.Node, "n2", vocabulary.AttributeNodeReason))
		require.Equal(t, "2", w.value(model.Machine, "cluster", "numNodes"))
		require.Equal(t, "ALERT", w.value(model.Machine, "cluster", vocabulary.AttributeMachineState))

		require.Equal(t, []string{"7", "8"}, w.ids(model.Job))
		require.Equal(t, "RUNNING", w.value(model.Job, "7", vocabulary.AttributeJobState))
		require.Equal(t, "<b>", w.value(model.Job, "7", vocabulary.AttributeName))
		require.Equal(t, "2026-01-02T03:04:05Z", w.value(model.Job, "7", vocabulary.AttributeJobSubmitted))
		require.Equal(t, "2026-01-02T02:46:40Z", w.value(model.Job, "7", vocabulary.AttributeJobStarted))
		require.Equal(t, "false", w.value(model.Job, "7", vocabulary.AttributeJobLaunched))
		require.Equal(t, "PENDING", w.value(model.Job, "8", vocabulary.AttributeJobState))
		require.Equal(t, "USER_ON_HOLD", w.value(model.Job, "8", vocabulary.AttributeJobDetail))

		require.NotEmpty(t, w.own(vocabulary.AttributeListedJobs))
		require.Empty(t, w.own(vocabulary.AttributeStale))
		require.Empty(t, w.problems())
	})
}

func TestDifferencesBecomeChanges(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "queue=q"), rowOf("2", "state=RUNNING", "queue=q", "reason=a"), rowOf("3", "state=RUNNING", "queue=q"))
		w.begin()
		before, _ := w.model.Snapshot().Manager("rm")
		w.source.set(model.Job, nil, rowOf("2", "state=RUNNING", "queue=q", "native=R"), rowOf("3", "state=RUNNING", "queue=q"), rowOf("4", "state=QUEUED_ACTIVE", "queue=q"))
		w.again()
		w.end()
		after, _ := w.model.Snapshot().Manager("rm")
		var changes []string
		for change := range after.Changes(model.Job, before) {
			switch {
			case change.Before == nil:
				changes = append(changes, "new "+change.After.ID())
			case change.After == nil:
				changes = append(changes, "removed "+change.Before.ID())
			default:
				changes = append(changes, "changed "+change.After.ID())
				require.ElementsMatch(t, []string{vocabulary.AttributeJobMessage, vocabulary.AttributeJobStatus}, change.Attributes())
			}
		}
		require.Equal(t, []string{"removed 1", "changed 2", "new 4"}, changes)
	})
}

func TestAFailedListingKeepsTheModelAndItsAge(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING"), rowOf("2", "state=RUNNING"))
		w.begin()
		listed := w.own(vocabulary.AttributeListedJobs)
		w.source.set(model.Job, errors.New("the listing is cut:\nwhat it printed"), rowOf("2", "state=COMPLETED"), rowOf("3", "state=RUNNING"))
		w.again()
		require.Equal(t, []string{"1", "2", "3"}, w.ids(model.Job), "what a part of a listing lacks is not gone")
		require.Equal(t, "TERMINATED", w.value(model.Job, "2", vocabulary.AttributeJobState))
		require.Equal(t, listed, w.own(vocabulary.AttributeListedJobs))
		require.Equal(t, "the jobs are from "+listed+", except 2 listed before the failure: what it printed (the listing is cut)", w.own(vocabulary.AttributeStale))
		jobs := w.Listings()[2]
		require.ErrorContains(t, jobs.Err, "what it printed")
		require.Equal(t, 2, jobs.Seen)

		w.source.set(model.Job, nil, rowOf("3", "state=RUNNING"))
		w.again()
		require.Equal(t, []string{"3"}, w.ids(model.Job))
		require.Empty(t, w.own(vocabulary.AttributeStale))
		require.NotEqual(t, listed, w.own(vocabulary.AttributeListedJobs))
	})
}

func TestRowsAppearWhileTheListingStreams(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.pause = 600 * time.Millisecond
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING"), rowOf("2", "state=RUNNING"), rowOf("3", "state=RUNNING"))
		w.begin()
		require.NotEmpty(t, w.ids(model.Job))
		require.Less(t, len(w.ids(model.Job)), 3)
		require.Empty(t, w.own(vocabulary.AttributeListedJobs), "the listing has not ended")
	})
}

func TestLargeListingsComeInGrowingParts(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		rows := make([]row, 50_000)
		for i := range rows {
			rows[i] = rowOf(fmt.Sprint(i), "state=RUNNING", "queue=q")
		}
		w.source.set(model.Job, nil, rows...)
		w.begin()
		require.Len(t, w.ids(model.Job), 50_000)
		inUpdate := map[uint64]int{}
		manager, _ := w.model.Snapshot().Manager("rm")
		for job := range manager.All(model.Job) {
			inUpdate[job.Revision()]++
			require.LessOrEqual(t, inUpdate[job.Revision()], 16<<10)
		}
	})
}

func TestListingsPauseInProportionToTheirDuration(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.lasts[model.Job] = 2 * time.Second
		w.source.lasts[model.Node] = time.Second
		w.begin()
		w.settle(3 * time.Second)
		require.Equal(t, 1, w.source.asked(model.Job))
		w.settle(50 * time.Second)
		w.Refresh() // which must not keep it busier
		w.settle(time.Second)
		require.Equal(t, 1, w.source.asked(model.Job))
		w.settle(10 * time.Second)
		require.Equal(t, 2, w.source.asked(model.Job))
	})
}

func TestTheDefinitionsIntervalIsTheShortest(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.options.Intervals = map[model.Kind]time.Duration{model.Job: 30 * time.Second, model.Node: 8 * time.Second}
		w.begin()
		w.settle(28 * time.Second)
		w.Refresh()
		w.settle(500 * time.Millisecond)
		require.Equal(t, 1, w.source.asked(model.Job))
		require.Equal(t, 3, w.source.asked(model.Node), "once by itself, once because somebody wanted it")
		w.settle(time.Second)
		require.Equal(t, 2, w.source.asked(model.Job))
	})
}

// Another process of the user lists, too.
func TestAListingWaitsForItsTurnWhileTheRecordIsRead(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		turn := time.Now().Add(time.Minute)
		w.options.Due = func(_ context.Context, kind model.Kind) (time.Time, error) {
			if kind != model.Job {
				return time.Time{}, nil
			}
			return turn, nil
		}
		w.begin()
		w.record.set(job.Job{Tag: "a", ID: "7", Observation: job.Observation{Detail: job.QueuedActive}})
		w.settle(30 * time.Second)
		require.Zero(t, w.source.asked(model.Job))
		require.NotZero(t, w.source.asked(model.Node))
		require.Equal(t, []string{"7"}, w.ids(model.Job))
		w.settle(30 * time.Second)
		require.Equal(t, 1, w.source.asked(model.Job))
	})
}

func TestASharedListingKeepsItsAge(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.before = 3 * time.Second
		begun := time.Now()
		w.begin()
		jobs := w.Listings()[2]
		require.Equal(t, begun.Add(-3*time.Second), jobs.At)
		require.Equal(t, begun.Add(2*time.Second), jobs.Next, "when that of the other is due, too")
	})
}

func TestAHungListingDoesNotDelayOthers(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Node, errors.New("no answer"))
		w.source.lasts[model.Node] = time.Minute
		w.begin()
		w.settle(2 * time.Minute)
		require.Greater(t, w.source.asked(model.Job), 5)
	})
}

func TestFailuresBackOffUntilARefresh(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Job, errors.New("no answer"))
		w.begin()
		w.settle(10 * time.Minute)
		asked := w.source.asked(model.Job)
		require.Less(t, asked, 12)
		require.Contains(t, w.own(vocabulary.AttributeStale), "the jobs could not be listed: no answer")
		w.Refresh()
		w.settle(time.Second)
		require.Equal(t, asked+1, w.source.asked(model.Job))
	})
}

// Slurm's commands try for nine seconds to reach a controller that is away.
func TestARecoveredSchedulerIsListedSoonAgain(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		kinds := []model.Kind{model.Queue, model.Node, model.Job}
		w.source.isUnreached = true
		w.begin()
		for _, kind := range kinds {
			w.source.set(kind, errors.New("x:list failed:\nWarning: motd\nUnable to contact the controller\n"))
			w.source.takes(kind, 9*time.Second)
		}
		w.settle(time.Minute)
		require.Contains(t, w.own(vocabulary.AttributeStale), ": Unable to contact the controller (x:list failed)", "the scheduler's own words come first")
		for _, kind := range kinds {
			w.source.set(kind, nil, rowOf("back", "state=UP"))
			w.source.takes(kind, 0)
		}
		w.settle(90 * time.Second)
		require.Equal(t, []string{"back"}, w.ids(model.Job))
		require.Equal(t, []string{"back"}, w.ids(model.Node))
		require.Empty(t, w.own(vocabulary.AttributeStale))
		asked := w.source.asked(model.Job)
		w.settle(time.Minute)
		require.Greater(t, w.source.asked(model.Job), asked+5)
	})
}

func TestALostConnectionEndsTheWatch(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		lost := errors.New("lost")
		w.options.IsLost = func(err error) bool { return errors.Is(err, lost) }
		w.begin()
		w.source.set(model.Job, fmt.Errorf("asking: %w", lost))
		w.settle(10 * time.Second)
		require.ErrorIs(t, <-w.ended, lost)
		w.stop = nil
	})
}

func TestAMissingListingIsNotMadeAgain(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.lacks[model.Node] = true
		w.begin()
		w.settle(10 * time.Minute)
		require.Equal(t, 1, w.source.asked(model.Node))
		require.True(t, w.Listings()[1].Unsupported)
		require.Empty(t, w.own(vocabulary.AttributeStale))
	})
}

func TestTimesAreInTheZoneOfTheScheduler(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.options.Location = time.FixedZone("", 9*60*60)
		w.record.set(job.Job{Tag: "tag-1", ID: "1", Observation: job.Observation{Detail: job.Running, Submitted: "2026-03-04T17:00:00+09:00"}},
			job.Job{Tag: "tag-2", ID: "2", Observation: job.Observation{Detail: job.Running, Submitted: "2026-03-04T17:00:00+09:00"}})
		w.source.set(model.Job, nil, rowOf("1", "state=QUEUED_ACTIVE", "submitted=2026-03-04T17:00:00"), rowOf("2", "state=QUEUED_ACTIVE", "submitted=2026-03-04T18:00:00"))
		w.begin()
		require.Equal(t, "2026-03-04T17:00:00+09:00", w.value(model.Job, "1", vocabulary.AttributeJobSubmitted))
		require.Equal(t, "tag-1", w.value(model.Job, "1", vocabulary.AttributeJobTag), "it was submitted when the one on record was")
		require.Equal(t, "2026-03-04T18:00:00+09:00", w.value(model.Job, "2", vocabulary.AttributeJobSubmitted))
		require.Empty(t, w.value(model.Job, "2", vocabulary.AttributeJobTag), "it has the id of the one on record")
	})
}

func TestBadRowsAreShownSafelyAndCounted(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		huge := strings.Repeat("x", 10<<20)
		w.source.set(model.Queue, nil, rowOf("q", "state=OPEN"), rowOf("r", "native=up"), rowOf("only-a-name"))
		w.source.set(model.Node, nil,
			rowOf("n1", "state=UP"), rowOf("n1", "state=DOWN"), rowOf("n2", "state=UP", "machine=a"), rowOf("n2", "state=UP", "machine=b"), rowOf("n3", "cpus=many"), rowOf(""))
		w.source.set(model.Job, nil,
			rowOf("1", "state=RUNNING", "name=first"), rowOf("1", "state=RUNNING", "name=second"),
			rowOf("2", "state=NAPPING", "native=napping"), rowOf("3"), rowOf("4", "state=RUNNING", "submitted=yesterday"),
			rowOf("5", "state=RUNNING", "name="+huge), rowOf(huge, "state=RUNNING"), rowOf("6\x1b[31m<script>", "state=RUNNING", "name=\x1b]0;x\x07\xff"))
		w.begin()
		require.Equal(t, []string{"1", "2", "3", "4", "5", "6\x1b[31m<script>"}, w.ids(model.Job))
		require.Equal(t, "first", w.value(model.Job, "1", vocabulary.AttributeName))
		require.Equal(t, "UNKNOWN", w.value(model.Job, "2", vocabulary.AttributeJobState))
		require.Equal(t, "napping", w.value(model.Job, "2", vocabulary.AttributeJobStatus))
		require.Equal(t, "UNKNOWN", w.value(model.Job, "3", vocabulary.AttributeJobState))
		require.Less(t, len(w.value(model.Job, "5", vocabulary.AttributeName)), 5000)
		require.Equal(t, "UP", w.value(model.Node, "n1", vocabulary.AttributeNodeState))
		require.Equal(t, "UNKNOWN", w.value(model.Node, "n3", vocabulary.AttributeNodeState))
		require.Equal(t, map[string]int{
			"queue: a state is not known": 1, "queue: a state is missing": 1,
			"node: an id came twice": 1, "node: a node belongs to two machines": 1, "node: a state is missing": 1, "node: value": 1, "node: an id is empty or too long": 1,
			"job: an id came twice": 1, "job: a state is not known": 1, "job: a state is missing": 1, "job: a time cannot be read": 1, "job: a text is too long and was truncated": 1, "job: an id is empty or too long": 1,
		}, w.problems())
		for _, problem := range w.Problems() {
			require.NotContains(t, problem.Example, "\x1b")
			require.Less(t, len(problem.Example), 500)
		}
		problems, _ := w.manager().Element().Value(vocabulary.AttributeProblems)
		require.Len(t, problems.Array(), len(w.Problems()), "views can show each kind of problem")
		require.Contains(t, problems.Array(), `nodes: an id came twice (once; first node "n1")`)
		require.Contains(t, problems.Array(), `nodes: invalid value (once; first node "n3": attribute nodeCPUs: illegal value "many": expected a whole number from 0 to 9.007199254740991e+15)`)
		w.again()
		problems, _ = w.manager().Element().Value(vocabulary.AttributeProblems)
		require.Contains(t, problems.Array(), `nodes: an id came twice (2 times; first node "n1")`, "once each, and counted")
	})
}

func TestRowsOfOneIDAreOneElement(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		twice := []row{rowOf("1", "state=RUNNING", "name=first", "reason=kept"), rowOf("1", "state=SUSPENDED", "name=second"), rowOf("2", "queue=q"), rowOf("2", "state=RUNNING")}
		w.source.set(model.Job, nil, twice...)
		w.source.set(model.Node, nil, rowOf("n", "state=UP", "queues=a"), rowOf("n", "queues=b"))
		w.source.set(model.Queue, nil, rowOf("q", "state=NORMAL"), rowOf("q", "running=3"))
		w.begin()
		for range 3 {
			w.settle(30 * time.Second)
			require.Equal(t, "SUSPENDED", w.value(model.Job, "1", vocabulary.AttributeJobState))
			require.Equal(t, "second", w.value(model.Job, "1", vocabulary.AttributeName))
			require.Equal(t, "kept", w.value(model.Job, "1", vocabulary.AttributeJobMessage))
			require.Equal(t, "RUNNING", w.value(model.Job, "2", vocabulary.AttributeJobState))
			require.Equal(t, "q", w.value(model.Job, "2", vocabulary.AttributeJobQueue))
			require.Equal(t, "b", w.value(model.Node, "n", vocabulary.AttributeNodeQueues))
			require.Equal(t, "UP", w.value(model.Node, "n", vocabulary.AttributeNodeState))
			require.Equal(t, "3", w.value(model.Queue, "q", vocabulary.AttributeQueueRunning))
		}
		require.Contains(t, w.problems(), "job: an id came twice")
		require.NotContains(t, w.problems(), "node: an id came twice", "rows without a state contradict nobody")
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING"))
		w.settle(30 * time.Second)
		require.Equal(t, "RUNNING", w.value(model.Job, "1", vocabulary.AttributeJobState))
		require.Equal(t, []string{"1"}, w.ids(model.Job))
	})
}

func TestARestartedWatchKeepsTheModel(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Node, nil, rowOf("n1", "state=UP"), rowOf("n2", "state=UP"))
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "queue=q", "nodes=n1"), rowOf("2", "state=RUNNING", "queue=r"))
		w.record.set(job.Job{Tag: "tag-3", ID: "3", Observation: job.Observation{Detail: job.Completed}})
		w.begin()
		w.end()
		require.Equal(t, []string{"1", "2", "3"}, w.ids(model.Job), "what was seen last stays")

		w.source.set(model.Node, nil, rowOf("n2", "state=UP"))
		w.source.set(model.Job, nil, rowOf("1", "state=RUNNING", "queue=q", "nodes=n2"))
		w.record.set()
		w.begin()
		require.Equal(t, []string{"1"}, w.ids(model.Job))
		require.Equal(t, []string{"q"}, w.ids(model.Queue))
		require.Equal(t, []string{"n2"}, w.ids(model.Node))
		require.Equal(t, "OTHER_ALLOC_SHARED", w.value(model.Node, "n2", vocabulary.AttributeNodeExtraState))
		w.end()

		for _, next := range []model.State{vocabulary.StateStopped, vocabulary.StateStarting} {
			require.Empty(t, w.model.Update(func(u *model.Update) {
				u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: string(next)}}})
			}))
		}
		require.Empty(t, w.ids(model.Job), "a resource manager that is stopped loses its elements")
		w.begin()
		require.Equal(t, []string{"1"}, w.ids(model.Job))
		require.Equal(t, []string{"n2"}, w.ids(model.Node))
		require.Empty(t, w.problems())
	})
}
