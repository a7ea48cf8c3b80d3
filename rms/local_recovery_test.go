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

func TestJobWhoseSupervisorWasKilledIsLost(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		running, _ := m.submitBlocker(t, "SLOTS=1")
		waiting := m.submit(t, "true", "SLOTS=1")
		next := m.submit(t, "true", "SLOTS=1")
		process := m.noted(t, running, "process")
		require.True(t, alive(t, process))
		kill(t, m.noted(t, waiting, "supervisor"))
		kill(t, m.noted(t, running, "supervisor"))
		requireLost(t, m.status(t, running))
		require.Eventually(t, func() bool { return !alive(t, process) }, patience, time.Millisecond, "what is left of it still runs")
		requireLost(t, m.status(t, waiting))
		require.Equal(t, "COMPLETED", m.awaitEnd(t, next)["state"], "its slot is free again")
	})
}

func TestProcessThatGotTheSupervisorsNumberIsNotTakenForIt(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "true", "HOLD=true")
		kill(t, m.noted(t, id, "supervisor"))
		mine := strconv.Itoa(os.Getpid()) + " 1\n"
		require.NoError(t, os.WriteFile(m.spool("jobs", id, "supervisor"), []byte(mine), 0o600))
		require.NoError(t, os.WriteFile(m.spool("jobs", id, "process"), []byte(mine), 0o600))
		requireLost(t, m.status(t, id))
		require.NoError(t, os.WriteFile(m.spool("jobs", id, "supervisor"), []byte("0 0\n"), 0o600)) // nobody to wait for
	})
}

// holderOfToken names this process as the holder of the token.
func holderOfToken(t *testing.T) string {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip("start times are read from /proc")
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strconv.Itoa(os.Getpid()) + " " + strings.Fields(after)[19]
}

func TestOnlyTheHolderOfTheTokenGivesOutSlots(t *testing.T) {
	holder := holderOfToken(t)
	onEveryShell(t, func(t *testing.T, m machine) {
		m.awaitEnd(t, m.submit(t, "true"))
		free := filepath.Join(m.host(t), "lock", "free")
		held := filepath.Join(m.host(t), "lock", holder)
		require.Eventually(t, func() bool { return os.Rename(free, held) == nil }, patience, time.Millisecond)
		id := m.submit(t, "true")
		for range 5 {
			require.Equal(t, "QUEUED", m.status(t, id)["state"])
		}
		require.NoError(t, os.Rename(held, free))
		m.awaitState(t, id, "COMPLETED")
	})
}

// What a listing lacks is asked for job by job, which takes a while where many wait.
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

// Whoever gives out slots may be killed before it has given one, and between giving
// it and saying so.
func TestJobWhoseTurnWasForgottenGetsItWhenSomebodyAsks(t *testing.T) {
	for name, forget := range map[string]func(host, id string) error{
		"given": func(string, string) error { return nil },
		"not told of": func(host, id string) error {
			return os.Rename(filepath.Join(host, "queue", id), filepath.Join(host, "running", id))
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryShell(t, func(t *testing.T, m machine) {
				first := m.submit(t, "true") // which makes the lock
				m.awaitEnd(t, first)
				supervisor := m.noted(t, first, "supervisor")
				require.Eventually(t, func() bool { return !alive(t, supervisor) }, patience, time.Millisecond)
				lock := filepath.Join(m.host(t), "lock")
				held := filepath.Join(lock, holderOfToken(t))
				require.Eventually(t, func() bool { return os.Rename(filepath.Join(lock, "free"), held) == nil }, patience, time.Millisecond)
				id := m.submit(t, "true")
				m.awaitSleep(t, m.noted(t, id, "supervisor"))
				require.NoError(t, forget(m.host(t), id))
				require.NoError(t, os.Rename(held, filepath.Join(lock, "free")))
				require.Contains(t, m.list(t), id)
				m.awaitFile(t, m.spool("jobs", id, "ended"))
				require.Equal(t, "COMPLETED", m.status(t, id)["state"])
			})
		})
	}
}

// awaitSleep waits until a supervisor has opened its pipe and waits for a word on it.
func (m machine) awaitSleep(t *testing.T, supervisor string) {
	require.Eventually(t, func() bool {
		// In this order: before it has the pipe it sleeps, too, until that is made.
		pipe, pipeErr := os.Readlink(filepath.Join("/proc", supervisor, "fd", "3"))
		stat, err := os.ReadFile(filepath.Join("/proc", supervisor, "stat"))
		return err == nil && pipeErr == nil && filepath.Base(pipe) == "wake" && strings.Contains(string(stat), ") S ")
	}, patience, time.Millisecond)
}

func TestTokenOfAKilledProcessIsTakenOver(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		m.awaitEnd(t, m.submit(t, "true"))
		lock := filepath.Join(m.host(t), "lock")
		require.Eventually(t, func() bool {
			return os.Rename(filepath.Join(lock, "free"), filepath.Join(lock, strconv.Itoa(os.Getpid())+" 1")) == nil
		}, patience, time.Millisecond)
		require.Equal(t, "COMPLETED", m.awaitEnd(t, m.submit(t, "true"))["state"])
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(lock, "free"))
			return err == nil
		}, patience, time.Millisecond)
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
		m.refuses(t, 44, "there is no job 1", "show", "1") // before there is a spool
		m.awaitEnd(t, m.submit(t, "true"))
		for _, verb := range []string{"show", "cancel", "hold", "release", "suspend", "resume"} {
			for _, id := range []string{"2", "", "1x", "../jobs/1", "-1", "1 1", "*", "99999999999999999999999"} {
				m.refuses(t, 44, "there is no job "+id, verb, id)
			}
		}
	})
}

func TestJobOfAnotherHostIsLeftAlone(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id, unblock := m.submitBlocker(t)
		description := m.spool("jobs", id, "description")
		here := m.read(t, description)
		_, rest, _ := strings.Cut(here, "\n")
		require.NoError(t, os.WriteFile(description, []byte("elsewhere\n"+rest), 0o600))
		for _, verb := range []string{"show", "cancel", "suspend"} {
			m.refuses(t, 46, "job "+id+" runs on elsewhere, which has to be asked for it", verb, id)
		}
		require.NoError(t, os.WriteFile(description, []byte(here), 0o600))
		unblock()
		require.NoError(t, os.WriteFile(description, []byte("elsewhere\n"+rest), 0o600))
		require.Equal(t, "COMPLETED", m.status(t, id)["state"], "what has ended can be told anywhere")
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
		// Every tenth job cleans up.
		require.NoError(t, os.WriteFile(m.spool("last"), []byte("9\n"), 0o600))
		require.NoError(t, os.Mkdir(m.spool("jobs/9"), 0o700))
		require.Equal(t, "10", m.submit(t, "true"))
		require.NoError(t, os.Remove(m.spool("jobs/9")))
		require.Eventually(t, func() bool {
			_, err := os.Stat(m.spool("jobs", old))
			return os.IsNotExist(err)
		}, patience, time.Millisecond)
		require.Equal(t, "COMPLETED", m.status(t, young)["state"])
		m.refuses(t, 44, "there is no job "+old, "show", old)
	})
}
