package rms_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// These tests remove what a job needs on the disk while its processes run, or have the disk refuse it.

// sleepOf returns the process in which a shell sleeps, once it is there.
func sleepOf(t *testing.T, shell string) string {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("processes are looked up in /proc")
	}
	var found string
	require.Eventually(t, func() bool {
		processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
		for _, process := range processes {
			stat, err := os.ReadFile(filepath.Join(process, "stat"))
			_, after, both := strings.Cut(string(stat), ") ")
			if err != nil || !both || strings.Fields(after)[1] != shell {
				continue
			}
			words, err := os.ReadFile(filepath.Join(process, "cmdline"))
			if err == nil && strings.HasPrefix(string(words), "sleep\x00") {
				found = filepath.Base(process)
				return true
			}
		}
		return false
	}, patience, 5*time.Millisecond, "process %s does not sleep", shell)
	return found
}

func requireGone(t *testing.T, pid, what string) {
	require.Eventually(t, func() bool { return !alive(t, pid) }, patience, 2*time.Millisecond, what)
}

// remove removes a job's folder, also while a process is writing into it.
func (m machine) remove(t *testing.T, id string) {
	require.Eventually(t, func() bool { return os.RemoveAll(m.spool("jobs", id)) == nil }, patience, time.Millisecond)
}

func TestJobWhoseFolderWasRemovedLosesItsTurn(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		_, unblock := m.submitBlocker(t, "SLOTS=1")
		waiting := m.submit(t, "true", "SLOTS=1")
		listed := m.submit(t, "true", "SLOTS=1")
		behind := m.submit(t, "true", "SLOTS=1")
		m.remove(t, listed)
		require.NotContains(t, m.list(t), listed)
		m.remove(t, waiting)
		unblock()
		require.Equal(t, "COMPLETED", m.awaitEnd(t, behind)["state"])
	})
}

func TestNumberOfARemovedJobIsGivenAgainOnceNothingOfItIsLeft(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "echo old >>order", "HOLD=true")
		m.remove(t, id)
		between := m.submit(t, "true", "HOLD=true")
		require.NotEqual(t, id, between, "its place among the held jobs would be that of another job")
		m.remove(t, between)
		require.Empty(t, m.list(t))
		require.Equal(t, id, m.submit(t, "echo new >>order"))
		require.Equal(t, "COMPLETED", m.awaitEnd(t, id)["state"])
		require.Equal(t, "new\n", m.read(t, m.file("order")))
	})
}

func TestNumberOfARemovedJobThatRunsIsNotGivenAgain(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id, _ := m.submitBlocker(t, "SLOTS=1")
		process := m.noted(t, id, "process")
		m.remove(t, id)
		next := m.submit(t, "true", "SLOTS=1")
		require.NotEqual(t, id, next)
		kill(t, process)
		require.Equal(t, "COMPLETED", m.awaitEnd(t, next)["state"], "the worker goes on")
		require.NoFileExists(t, m.spool("jobs", id, "ended"))
	})
}

func TestTimeLimitHoldsForAJobWhoseFolderWasRemoved(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "echo >running; sleep 1000", "TIME_LIMIT=10") // within which it has to begin
		m.awaitFile(t, m.file("running"))
		processes := map[string]string{}
		for _, name := range []string{"process", "timer"} {
			m.awaitFile(t, m.spool("jobs", id, name))
			processes[name] = m.noted(t, id, name)
		}
		processes["worker"] = m.workerOf(t, id)
		m.remove(t, id)
		for name, pid := range processes {
			requireGone(t, pid, name+" stays")
		}
	})
}

func TestTimerOfAKilledWorkerEndsWithTheJob(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id, _ := m.submitBlocker(t, "TIME_LIMIT=1d")
		m.awaitFile(t, m.spool("jobs", id, "timer"))
		timer := m.noted(t, id, "timer")
		sleeps := sleepOf(t, timer)
		kill(t, m.workerOf(t, id))
		requireLost(t, m.status(t, id))
		requireGone(t, timer, "the timer of a lost job stays")
		requireGone(t, sleeps, "what slept for the timer of a lost job stays")
	})
}

// Users end what sleeps on their machine by name.
func TestTimeLimitIsKeptWhenWhatSleepsForItIsKilled(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id, unblock := m.submitBlocker(t, "TIME_LIMIT=1d")
		m.awaitFile(t, m.spool("jobs", id, "timer"))
		timer := m.noted(t, id, "timer")
		kill(t, sleepOf(t, timer))
		again := sleepOf(t, timer)
		words, err := os.ReadFile(filepath.Join("/proc", again, "cmdline"))
		require.NoError(t, err)
		left, err := strconv.Atoi(strings.Split(string(words), "\x00")[1])
		require.NoError(t, err)
		require.LessOrEqual(t, left, 24*60*60)
		require.Greater(t, left, 12*60*60)
		unblock()
		require.Equal(t, "COMPLETED", m.status(t, id)["state"])
		requireGone(t, again, "what slept for the timer stays")
	})
}

// A job whose first process is not noted could be neither canceled nor suspended: its folder was removed when it began, or
// the disk is full.
func TestJobThatCannotBeNotedDoesNotRun(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "echo ran >ran", "HOLD=true")
		require.NoError(t, os.Symlink(m.file("missing", "file"), m.spool("jobs", id, "process")))
		m.do(t, "release", id)
		job := m.awaitEnd(t, id)
		require.Equal(t, "FAILED", job["state"])
		require.Equal(t, "cannot write to "+m.spool("jobs", id), job["reason"])
		require.NoFileExists(t, m.file("ran"))
	})
}

func TestEndOfAJobIsNotedWhenTheDiskHasRoomAgain(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "exit 3", "HOLD=true")
		end := m.spool("jobs", id, "ended")
		require.NoError(t, os.Symlink(m.file("missing", "file"), end))
		m.do(t, "release", id)
		m.awaitFile(t, m.spool("jobs", id, "process"))
		worker := m.workerOf(t, id)
		process := m.noted(t, id, "process")
		requireGone(t, process, "the job does not end")
		sleeps := sleepOf(t, worker)
		require.Equal(t, "RUNNING", m.status(t, id)["state"], "how it ended is not known yet")
		require.NoError(t, os.Remove(end))
		requireGone(t, sleeps, "the worker does not try again")
		require.Equal(t, "3", m.awaitEnd(t, id)["code"])
	})
}

// requireFound requires that a tag leads to a job and the files of its output.
func (m machine) requireFound(t *testing.T, tag, id string) {
	t.Helper()
	folder := m.spool("jobs", id)
	require.Equal(t, "id="+id+" tag="+tag+"\toutput="+folder+"/stdout\terror="+folder+"/stderr\n", m.run(nil, "find", tag).stdout)
}

// A submission says who it is before a job can be found by its tag, and is killed before the job is in the queue.
func TestSubmissionThatWasKilledBeforeItsJobWasQueuedIsLost(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "true", "HOLD=true", "TAG=11111111-2222-3333-4444-555555555555")
		require.NoError(t, os.Remove(filepath.Join(m.host(t), "held", id)))
		m.requireFound(t, "11111111-2222-3333-4444-555555555555", id)
		requireLost(t, m.status(t, id))
	})
}

// The job of a submission whose connection was lost is found by its tag before it is queued: it is not lost.
func TestJobThatIsJustBeingSubmittedWaits(t *testing.T) {
	submitter := ownName(t)
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "true", "HOLD=true")
		require.NoError(t, os.WriteFile(m.spool("jobs", id, "submitter"), []byte(submitter+"\n"), 0o600))
		held := filepath.Join(m.host(t), "held", id)
		require.NoError(t, os.Rename(held, m.file("aside")))
		require.Equal(t, "QUEUED", m.status(t, id)["state"])
		require.NoError(t, os.Rename(m.file("aside"), held))
		m.do(t, "cancel", id)
	})
}

// A timer may begin its session after nobody was found there, and before it is killed itself.
func TestTimerThatJustBeginsIsKilledWithWhatSleepsForIt(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		functions, _, found := strings.Cut(string(localProgram(t)), "\nmain \"$@\"\n")
		require.True(t, found)
		require.NoError(t, os.WriteFile(m.spool("local.sh"), []byte(functions+`
kill() {
	command kill "$@" && return
	case $2 in -*) echo >begin; until [ -s sleeps ]; do sleep 0.05; done; return 1 ;; esac
}
cd .local/state/rmctl/local || exit
{ until [ -e begin ]; do sleep 0.05; done; in_own_session sh -c 'sleep 1000 & echo $! >sleeps; wait'; } </dev/null >/dev/null 2>&1 &
kill_session $!
`), 0o600))
		require.Zero(t, m.run(nil).code) // some shells say on the way that it was killed
		requireGone(t, strings.TrimSpace(m.read(t, m.spool("sleeps"))), "what slept for the timer stays")
	})
}

// That a submission has no job is believed: it must not be said where a job could not be looked at.
func TestATagThatCannotBeLookedForIsNotSaidToHaveNoJob(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		const known, unknown = "11111111-2222-3333-4444-555555555555", "11111111-2222-3333-4444-666666666666"
		require.Equal(t, "none\n", m.run(nil, "find", unknown).stdout, "nobody has submitted a job yet")
		id := m.submit(t, "true", "HOLD=true", "TAG="+known)
		require.Equal(t, "none\n", m.run(nil, "find", unknown).stdout)
		m.replaceProgram(t, "grep", "exit 2")
		answer := m.run(nil, "find", known)
		require.NotZero(t, answer.code)
		require.Empty(t, answer.stdout)
		require.Contains(t, answer.stderr, "cannot search all jobs")
		m.replaceProgram(t, "grep", `PATH=${PATH#*:}; exec grep "$@"`)
		m.requireFound(t, known, id)
		m.do(t, "cancel", id)
	})
}
