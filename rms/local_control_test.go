package rms_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// alive reports whether a process runs; one that only waits to be reaped does not.
func alive(t *testing.T, pid string) bool {
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			return false
		}
		_, after, found := strings.Cut(string(stat), ") ")
		require.True(t, found)
		return after[0] != 'Z' && after[0] != 'X'
	}
	number, err := strconv.Atoi(pid)
	require.NoError(t, err)
	return number > 0 && syscall.Kill(number, 0) == nil
}

func (m machine) noted(t *testing.T, id, name string) string {
	fields := strings.Fields(m.read(t, m.spool("jobs", id, name)))
	require.NotEmpty(t, fields)
	return fields[0]
}

func (m machine) refuses(t *testing.T, code int, message, verb, id string) {
	answer := m.run(nil, verb, id)
	require.Equal(t, code, answer.code, answer.stderr)
	require.Equal(t, message+"\n", answer.stderr)
}

func TestHeldJobWaitsUntilReleased(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		_, unblock := m.submitBlocker(t, "SLOTS=1")
		held := m.submit(t, "echo held >>order", "SLOTS=1")
		m.do(t, "hold", held)
		m.do(t, "hold", held)
		job := m.status(t, held)
		require.Equal(t, "HELD", job["state"])
		require.Equal(t, "HELD", job["state"])
		behind := m.submit(t, "echo behind >>order", "SLOTS=1")
		unblock()
		m.awaitEnd(t, behind)
		job = m.status(t, held)
		require.Equal(t, "HELD", job["state"], "%v", job)
		m.do(t, "release", held)
		require.Equal(t, "COMPLETED", m.awaitEnd(t, held)["state"])
		require.Equal(t, "behind\nheld\n", m.read(t, m.file("order")))
		m.refuses(t, 45, "job "+held+" has ended", "release", held)
	})
}

func TestJobMayBeSubmittedOnHold(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "true", "HOLD=true")
		require.Equal(t, "HELD", m.status(t, id)["state"])
		m.do(t, "release", id)
		m.awaitState(t, id, "COMPLETED")
	})
}

func TestReleasedJobKeepsItsPlaceInTheQueue(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		_, unblock := m.submitBlocker(t, "SLOTS=1")
		first := m.submit(t, "echo first >>order", "SLOTS=1", "HOLD=true")
		second := m.submit(t, "echo second >>order", "SLOTS=1")
		m.do(t, "release", first)
		unblock()
		m.awaitEnd(t, second)
		require.Equal(t, "first\nsecond\n", m.read(t, m.file("order")))
	})
}

func TestStartedJobCannotBeHeldAndWaitingJobCannotBeSuspended(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		running, unblock := m.submitBlocker(t, "SLOTS=1")
		waiting := m.submit(t, "true", "SLOTS=1")
		m.refuses(t, 1, "cannot hold job "+running+": it has started; suspend it instead", "hold", running)
		m.refuses(t, 1, "job "+running+" is not on hold", "release", running)
		m.refuses(t, 1, "job "+running+" is not suspended", "resume", running)
		m.refuses(t, 1, "cannot suspend job "+waiting+": it has not started; hold it instead", "suspend", waiting)
		unblock()
	})
}

func TestSuspendStopsTheWholeJob(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id, unblock := m.submitBlocker(t)
		m.do(t, "suspend", id)
		job := m.status(t, id)
		require.Equal(t, "SUSPENDED", job["state"], "suspend returned before the job had stopped")
		require.Equal(t, "SUSPENDED", job["state"])
		m.do(t, "suspend", id)
		m.do(t, "resume", id)
		require.Equal(t, "RUNNING", m.status(t, id)["state"])
		unblock()
		require.Equal(t, "COMPLETED", m.status(t, id)["state"])
	})
}

func TestCancelEndsEveryProcessOfTheJob(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		for _, suspended := range []bool{false, true} {
			id := m.submit(t, "sleep 1000 & echo $! >child; sleep 1000")
			m.awaitFile(t, m.file("child"))
			if suspended {
				m.do(t, "suspend", id)
			}
			child := strings.TrimSpace(m.read(t, m.file("child")))
			require.True(t, alive(t, child))
			m.do(t, "cancel", id)
			job := m.awaitEnd(t, id)
			require.Equal(t, "CANCELED", job["state"])
			require.Equal(t, "143", job["code"])
			require.False(t, alive(t, child))
			m.refuses(t, 45, "job "+id+" has ended", "cancel", id)
			require.NoError(t, os.Remove(m.file("child")))
		}
	})
}

func TestCancelKillsWhatDoesNotEndInTime(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, `trap "" TERM; echo >deaf; while :; do sleep 1000; done`, "GRACE=0")
		m.awaitFile(t, m.file("deaf"))
		m.do(t, "cancel", id)
		job := m.awaitEnd(t, id)
		require.Equal(t, "CANCELED", job["state"])
		require.Equal(t, "137", job["code"])
	})
}

func TestCanceledJobThatWaitsNeverStarts(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		_, unblock := m.submitBlocker(t, "SLOTS=1")
		waiting := m.submit(t, "echo waiting >>order", "SLOTS=1")
		held := m.submit(t, "echo held >>order", "SLOTS=1", "HOLD=true")
		last := m.submit(t, "echo last >>order", "SLOTS=1")
		for _, id := range []string{waiting, held} {
			m.do(t, "cancel", id)
			job := m.status(t, id)
			require.Equal(t, "CANCELED", job["state"])
			require.Empty(t, job["started"])
			require.Empty(t, job["code"])
		}
		unblock()
		m.awaitEnd(t, last)
		require.Equal(t, "last\n", m.read(t, m.file("order")))
	})
}

// A job that is released while it is being canceled is in neither queue when cancel looks there.
func TestCancelTakesAJobThatIsReleasedMeanwhileOutOfTheQueue(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		_, unblock := m.submitBlocker(t, "SLOTS=1")
		held := m.submit(t, "echo held >ran", "SLOTS=1", "HOLD=true")
		m.replaceProgram(t, "mv", fmt.Sprintf(`PATH=${PATH#*:}
case $3 in jobs/*/canceled) [ -e "$HOME/released" ] || { echo >"$HOME/released"; mv "%s/held/%s" "${2%%/*}"; exit 1; } ;; esac
exec mv "$@"`, m.host(t), held))
		m.do(t, "cancel", held)
		require.FileExists(t, m.file("released"))
		require.Equal(t, "CANCELED", m.status(t, held)["state"])
		unblock()
		require.NoFileExists(t, m.file("ran"))
	})
}

func TestTimeLimitEndsTheJob(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		job := m.awaitEnd(t, m.submit(t, "sleep 1000", "TIME_LIMIT=00:00:01"))
		require.Equal(t, "TIMEOUT", job["state"])
		require.Equal(t, "time limit of 1 s reached", job["reason"])
	})
}

func TestTimeLimitLeavesNothingBehindWhenTheJobIsFaster(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "true", "TIME_LIMIT=1d")
		require.Equal(t, "COMPLETED", m.awaitEnd(t, id)["state"])
		require.NoFileExists(t, m.spool("jobs", id, "request"))
	})
}

func TestTimeLimitsAreRead(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		for spelled, seconds := range map[string]string{
			"90": "90", "090s": "90", "15m": "900", "2h": "7200", "1d": "86400", "08:09": "489", "1:00:08": "3608",
		} {
			id := m.submit(t, "true", "HOLD=true", "TIME_LIMIT="+spelled)
			require.Equal(t, seconds, strings.Split(m.read(t, m.spool("jobs", id, "description")), "\n")[6], spelled)
		}
		for _, spelled := range []string{"x", "1:2:3:4", "0", "-1", "1 2", "$(touch evil)", "1;2"} {
			require.Equal(t, 1, m.trySubmit(t, "true", "TIME_LIMIT="+spelled).code, spelled)
		}
		require.NoFileExists(t, m.file("evil"))
	})
}

func TestWhatAJobLeavesRunningEndsWithIt(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "sleep 1000 & echo $! >child; exit 7")
		require.Equal(t, "7", m.awaitEnd(t, id)["code"])
		require.False(t, alive(t, strings.TrimSpace(m.read(t, m.file("child")))))
	})
}

func TestJobThatCannotStartFailsWithTheReason(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		job := m.awaitEnd(t, m.submit(t, "true", "OUTPUT=/dev/null/no"))
		require.Equal(t, "FAILED", job["state"])
		require.Equal(t, "cannot write /dev/null/no", job["reason"])

		gone := m.file("gone")
		require.NoError(t, os.Mkdir(gone, 0o700))
		id := m.submit(t, "true", "HOLD=true", "DIRECTORY="+gone)
		require.NoError(t, os.Remove(gone))
		m.do(t, "release", id)
		require.Equal(t, "cannot enter the directory "+gone, m.awaitEnd(t, id)["reason"])

		refused := m.trySubmit(t, "true", "DIRECTORY="+gone)
		require.Equal(t, 1, refused.code)
		require.Equal(t, "the working directory "+gone+" does not exist\n", refused.stderr)
	})
}
