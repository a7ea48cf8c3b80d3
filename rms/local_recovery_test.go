package rms_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func kill(t *testing.T, pid string) {
	number, err := strconv.Atoi(pid)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(number, syscall.SIGKILL))
	require.Eventually(t, func() bool { return !alive(t, pid) }, patience, time.Millisecond)
}

func (m machine) host(t *testing.T) string {
	hosts, err := filepath.Glob(m.spool("hosts/*"))
	require.NoError(t, err)
	require.Len(t, hosts, 1)
	return hosts[0]
}

func requireLost(t *testing.T, job map[string]string) {
	require.Equal(t, "LOST", job["state"])
	require.Equal(t, "lost", job["reason"])
	require.Empty(t, job["code"])
}

func TestJobWhoseWorkerWasKilledIsLost(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		running, _ := m.submitBlocker(t, "SLOTS=1")
		next := m.submit(t, "true", "SLOTS=1")
		process := m.noted(t, running, "process")
		require.True(t, alive(t, process))
		kill(t, m.workerOf(t, running))
		requireLost(t, m.status(t, running))
		requireGone(t, process, "what is left of it still runs")
		require.Contains(t, []string{"QUEUED", "STARTING", "RUNNING", "COMPLETED"}, m.status(t, next)["state"], "a look lets it start")
		require.Equal(t, "COMPLETED", m.awaitEnd(t, next)["state"], "its slot is free again")
	})
}

// The file system may have become read-only, or a container may be gone.
func TestWorkerThatCannotRemoveItsFileEnds(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id, unblock := m.submitBlocker(t)
		worker := m.workerOf(t, id)
		m.replaceProgram(t, "rm", `case $* in */running/*) exit 1 ;; esac; PATH=${PATH#*:}; exec rm "$@"`)
		unblock()
		requireGone(t, worker, "it keeps running")
	})
}

func TestProcessThatGotTheWorkersNumberIsNotTakenForIt(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id, _ := m.submitBlocker(t)
		worker := m.workerOf(t, id)
		files, err := filepath.Glob(filepath.Join(m.host(t), "running", worker+" *"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		mine := strconv.Itoa(os.Getpid()) + " 1"
		process := m.noted(t, id, "process")
		kill(t, worker)
		kill(t, process)
		require.NoError(t, os.Rename(files[0], filepath.Join(m.host(t), "running", mine)))
		require.NoError(t, os.WriteFile(m.spool("jobs", id, "process"), []byte(mine+"\n"), 0o600))
		requireLost(t, m.status(t, id))
	})
}

// ownName names this process as files of local.sh do.
func ownName(t *testing.T) string {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip("start times are read from /proc")
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strconv.Itoa(os.Getpid()) + " " + strings.Fields(after)[19]
}

func TestWorkersThatRunJobsTakeSlots(t *testing.T) {
	name := ownName(t)
	onEveryShell(t, func(t *testing.T, m machine) {
		m.awaitEnd(t, m.submit(t, "true"))
		worker := filepath.Join(m.host(t), "running", name)
		require.NoError(t, os.WriteFile(worker, []byte("999\n"), 0o600))
		id := m.submit(t, "true", "SLOTS=1")
		for range 5 {
			require.Equal(t, "QUEUED", m.status(t, id)["state"])
		}
		require.NoError(t, os.Remove(worker))
		m.awaitState(t, id, "COMPLETED")
	})
}

// Jobs that a listing lacks are queried one by one, which takes a while if many wait.
func TestListingHasEveryJobThatHasNotEnded(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		running, unblock := m.submitBlocker(t, "SLOTS=1")
		waiting, held := m.submit(t, "true", "SLOTS=1"), m.submit(t, "true", "HOLD=true")
		listed := m.list(t)
		require.Len(t, listed, 3)
		for id, state := range map[string]string{running: "RUNNING", waiting: "QUEUED", held: "HELD"} {
			require.Equal(t, state, listed[id]["state"])
		}
		unblock()
		m.awaitEnd(t, waiting)
	})
}

// A worker may be killed before it has taken the job that it was started for.
func TestJobWhoseWorkerWasKilledBeforeItTookItRunsWhenSomebodyLists(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "true", "HOLD=true")
		require.NoError(t, os.MkdirAll(filepath.Join(m.host(t), "queue", "0"), 0o700))
		require.NoError(t, os.Rename(filepath.Join(m.host(t), "held", id), filepath.Join(m.host(t), "queue", "0", id)))
		require.Equal(t, "QUEUED", m.list(t)[id]["state"])
		m.awaitFile(t, m.spool("jobs", id, "ended"))
		require.Equal(t, "COMPLETED", m.status(t, id)["state"])
	})
}

func TestCancellationThatWasCutShortIsCompleted(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "true", "HOLD=true")
		require.NoError(t, os.Rename(filepath.Join(m.host(t), "held", id), m.spool("jobs", id, "canceled")))
		require.Equal(t, "CANCELED", m.status(t, id)["state"])
	})
}

func TestUnknownJobIsNotFound(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		m.refuses(t, 44, "no such job: 1", "show", "1") // before there is a spool
		m.awaitEnd(t, m.submit(t, "true"))
		for _, verb := range []string{"show", "cancel", "hold", "release", "suspend", "resume"} {
			for _, id := range []string{"2", "", "1x", "../jobs/1", "-1", "1 1", "*", "99999999999999999999999"} {
				m.refuses(t, 44, "no such job: "+id, verb, id)
			}
		}
	})
}

func TestJobOfAnotherHostIsLeftAlone(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id, unblock := m.submitBlocker(t)
		description := m.spool("jobs", id, "description")
		here := m.read(t, description)
		moved := strings.Replace(here, "\n"+filepath.Base(m.host(t))+"\n", "\nelsewhere\n", 1)
		require.NotEqual(t, here, moved)
		require.NoError(t, os.WriteFile(description, []byte(moved), 0o600))
		for _, verb := range []string{"show", "cancel", "suspend"} {
			m.refuses(t, 46, "job "+id+" runs on elsewhere; run this command there", verb, id)
		}
		require.NoError(t, os.WriteFile(description, []byte(here), 0o600))
		unblock()
		require.NoError(t, os.WriteFile(description, []byte(moved), 0o600))
		require.Equal(t, "COMPLETED", m.status(t, id)["state"], "every host knows jobs that ended")
	})
}

func TestNumbersGoOnWithoutTheHint(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		require.Equal(t, "1", m.submit(t, "true", "HOLD=true"))
		require.Equal(t, "2", m.submit(t, "true", "HOLD=true"))
		for i, hint := range []string{"", "garbage\n", "2\n", "900\n"} {
			require.NoError(t, os.WriteFile(m.spool("last"), []byte(hint), 0o600))
			require.Equal(t, strconv.Itoa(3+i), m.submit(t, "true", "HOLD=true"), "hint %q", hint)
		}
	})
}

func TestFoldersOfOldJobsAreRemoved(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		old, young := m.submit(t, "true"), m.submit(t, "true")
		m.awaitEnd(t, old)
		m.awaitEnd(t, young)
		past := time.Now().Add(-9 * 24 * time.Hour)
		require.NoError(t, os.Chtimes(m.spool("jobs", old, "ended"), past, past))
		// The first job of every hour cleans up.
		require.NoError(t, os.WriteFile(filepath.Join(m.host(t), "cleaned"), []byte("1\n"), 0o600))
		m.submit(t, "true")
		require.Eventually(t, func() bool {
			_, err := os.Stat(m.spool("jobs", old))
			return os.IsNotExist(err)
		}, patience, time.Millisecond)
		require.Equal(t, "COMPLETED", m.status(t, young)["state"])
		m.refuses(t, 44, "no such job: "+old, "show", old)
	})
}
