package rms_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// states returns what the program shows of an array: the state and exit code of its tasks.
func (m machine) states(t *testing.T, id string) map[string]string {
	answer := m.run(nil, "show", id)
	require.Zero(t, answer.code, answer.stderr)
	found := map[string]string{}
	for tasks, job := range listed(t, answer.stdout) {
		found[tasks] = strings.TrimSpace(job["state"] + " " + job["code"])
	}
	return found
}

func TestArrayRunsItsProgramForEachIndex(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, `echo "$RMCTL_JOB_ID $RMCTL_TASK_INDEX $RMCTL_JOB $RMCTL_TAG $*"; [ "$RMCTL_TASK_INDEX" -lt 20 ]`, "TAG=11111111-2222-3333-4444-555555555555", "ARRAY=1-3,10-30:10", "OUTPUT=out.%j.%a", "SLOTS=1")
		m.awaitArray(t, id)
		require.Equal(t, map[string]string{id + "_[1-3,10]": "COMPLETED 0", id + "_[20,30]": "FAILED 1"}, m.states(t, id))
		for _, task := range []string{"1", "2", "3", "10", "20", "30"} {
			require.Equal(t, id+" "+task+" "+id+"_"+task+" 11111111-2222-3333-4444-555555555555 \n", m.read(t, m.file("out."+id+"."+task)))
		}
		require.Equal(t, m.states(t, id), statesOf(m.list(t)), "how it ended is listed, too")
		require.Empty(t, m.left(t), "an array that has ended is still somewhere")
	})
}

func statesOf(jobs map[string]map[string]string) map[string]string {
	found := map[string]string{}
	for id, job := range jobs {
		found[id] = strings.TrimSpace(job["state"] + " " + job["code"])
	}
	return found
}

// awaitArray waits until an array has ended, and its place is free.
func (m machine) awaitArray(t *testing.T, id string) {
	m.awaitFile(t, m.spool("jobs", id, "ended"))
	require.Eventually(t, func() bool { return len(m.left(t)) == 0 }, patience, 2*time.Millisecond)
}

// left returns the arrays that have not ended.
func (m machine) left(t *testing.T) []string {
	files, err := filepath.Glob(m.spool("hosts/*/arrays/*"))
	require.NoError(t, err)
	return files
}

func TestArrayRunsNoMoreTasksAtATimeThanItsSlots(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		require.NoError(t, os.Mkdir(m.file("now"), 0o700))
		id := m.submit(t, ": >now/$RMCTL_TASK_INDEX; set -- now/*; echo $# >>counts; sleep 0.05; rm now/$RMCTL_TASK_INDEX", "ARRAY=1-12%2", "SLOTS=5")
		m.awaitArray(t, id)
		counts := strings.Fields(m.read(t, m.file("counts")))
		require.Len(t, counts, 12)
		require.Subset(t, []string{"1", "2"}, counts)
		require.Equal(t, map[string]string{id + "_[1-12]": "COMPLETED 0"}, m.states(t, id))
	})
}

func TestCanceledArrayEndsAllItsTasks(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "echo >running.$RMCTL_TASK_INDEX; sleep 1000", "ARRAY=1-9", "SLOTS=2")
		m.awaitFile(t, m.file("running.1"))
		m.awaitFile(t, m.file("running.2"))
		states := m.states(t, id)
		require.Equal(t, "QUEUED", states[id+"_[3-9]"])
		require.Equal(t, "RUNNING", states[id+"_1"])
		m.do(t, "cancel", id+"_7")
		m.do(t, "cancel", id+"_2")
		m.awaitFile(t, m.file("running.3"))
		require.Equal(t, "CANCELED", m.states(t, id)[id+"_[7]"])
		m.do(t, "cancel", id)
		m.awaitArray(t, id)
		require.Equal(t, []string{"CANCELED", "CANCELED 143"}, slices.Compact(slices.Sorted(maps.Values(m.states(t, id)))))
		require.NoFileExists(t, m.file("running.7"))
		require.NoFileExists(t, m.file("running.9"))
		m.refuses(t, 45, "job "+id+" has ended", "cancel", id)
	})
}

func TestHeldArrayBeginsNoTaskUntilReleased(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "true", "ARRAY=1-3", "HOLD=true")
		require.Equal(t, map[string]string{id + "_[1-3]": "HELD"}, m.states(t, id))
		m.do(t, "release", id)
		m.awaitArray(t, id)
		require.Equal(t, map[string]string{id + "_[1-3]": "COMPLETED 0"}, m.states(t, id))
	})
}

func TestTaskWhoseWorkerWasKilledIsLost(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, `[ "$RMCTL_TASK_INDEX" != 1 ] || { echo >running; sleep 1000; }`, "ARRAY=1-2", "SLOTS=1")
		m.awaitFile(t, m.file("running"))
		process := m.noted(t, id, "process.1")
		workers, err := filepath.Glob(m.spool("hosts/*/running/*"))
		require.NoError(t, err)
		for _, worker := range workers {
			pid, _, _ := strings.Cut(filepath.Base(worker), " ")
			kill(t, pid)
		}
		m.list(t)
		requireGone(t, process, "what is left of it still runs")
		m.awaitArray(t, id)
		require.Equal(t, map[string]string{id + "_[1]": "LOST", id + "_[2]": "COMPLETED 0"}, m.states(t, id))
	})
}

func TestJobWaitsForOthers(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		first, unblock := m.submitBlocker(t, "SLOTS=9")
		failing := m.submit(t, "exit 3", "HOLD=true")
		afterBoth := m.submit(t, "echo both >>order", "AFTER=afterok:"+first+",afterany:"+failing)
		afterSuccess := m.submit(t, "echo never >>order", "AFTER=afterok:"+failing)
		behind := m.submit(t, "echo behind >>order", "AFTER=afterany:"+afterSuccess, "HOLD=true")
		m.do(t, "release", behind)
		for _, id := range []string{afterBoth, afterSuccess, behind} {
			require.Equal(t, "QUEUED", m.status(t, id)["state"])
			require.Equal(t, "QUEUED", m.list(t)[id]["state"])
		}
		unblock()
		require.Equal(t, "QUEUED", m.status(t, afterBoth)["state"])
		m.do(t, "release", failing)
		require.Equal(t, "COMPLETED", m.awaitEnd(t, afterBoth)["state"])
		job := m.awaitEnd(t, afterSuccess)
		require.Equal(t, "CANCELED", job["state"])
		require.Equal(t, "job "+failing+" is FAILED", job["reason"])
		require.Equal(t, "COMPLETED", m.awaitEnd(t, behind)["state"])
		require.ElementsMatch(t, []string{"both", "behind"}, strings.Fields(m.read(t, m.file("order"))))
	})
}

func TestJobThatNobodyReleasedAfterItsPredecessorDoesSoWhenAsked(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		first := m.submit(t, "true", "HOLD=true")
		id := m.submit(t, "true", "AFTER=afterok:"+first)
		require.NoError(t, os.Remove(m.spool("jobs", first, "successors")))
		m.do(t, "release", first)
		m.awaitEnd(t, first)
		m.awaitState(t, id, "COMPLETED")
	})
}

func TestJobCannotWaitForOneThatIsNotThere(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		refused := m.trySubmit(t, "true", "AFTER=afterok:7")
		require.Equal(t, 1, refused.code)
		require.Contains(t, refused.stderr, "cannot depend on job 7\n")
		require.NoDirExists(t, m.spool("jobs/1"))
	})
}

func TestIndicesOfAnArrayAreBounded(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		for _, refused := range []string{"5-1", "x", "1;2", "$(touch evil)", "1-2/3"} {
			require.Equal(t, 1, m.trySubmit(t, "true", "ARRAY="+refused).code, refused)
		}
		require.NoFileExists(t, m.file("evil"))
		begun := m.submit(t, "true", "ARRAY=1-10000", "HOLD=true")
		entries, err := os.ReadDir(m.spool("jobs", begun))
		require.NoError(t, err)
		require.Less(t, len(entries), 10, "its tasks have files before they begin")
		require.Equal(t, map[string]string{begun + "_[1-10000]": "HELD"}, m.states(t, begun))
	})
}
