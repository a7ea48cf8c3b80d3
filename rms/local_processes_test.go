package rms_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spread is how a script starts its program as often as the job has processes.
const spread = `exec sh "$RMCTL_SPREAD" spread `

func TestAJobRunsItsProgramAsOftenAsItHasProcesses(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, spread+`3 sh -c 'echo "rank $RMCTL_PROCESS_RANK of $RMCTL_PROCESSES: $1${RMCTL_SPREAD-}"' x "a  b"`)
		require.Equal(t, "COMPLETED", m.awaitEnd(t, id)["state"])
		lines := strings.Split(strings.TrimSpace(m.read(t, m.spool("jobs", id, "stdout"))), "\n")
		require.ElementsMatch(t, []string{"rank 0 of 3: a  b", "rank 1 of 3: a  b", "rank 2 of 3: a  b"}, lines)
	})
}

func TestAJobOfSeveralProcessesEndsWithTheFirstExitCodeThatIsNotZero(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, spread+`4 sh -c 'exit $((RMCTL_PROCESS_RANK % 4 * 3))'`)
		ended := m.awaitEnd(t, id)
		require.Equal(t, "FAILED", ended["state"])
		require.Equal(t, "3", ended["code"])
		id = m.submit(t, spread+`2 sh -c '[ "$RMCTL_PROCESS_RANK" = 0 ] || kill -9 $$'`)
		ended = m.awaitEnd(t, id)
		require.Equal(t, "137", ended["code"])
		require.Equal(t, "SIGKILL", ended["reason"])
	})
}

func TestOnlyTheFirstProcessHasTheInput(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, `echo word >input
`+spread+`3 sh -c 'read -r line; echo "$RMCTL_PROCESS_RANK=$line"' <input`)
		require.Equal(t, "COMPLETED", m.awaitEnd(t, id)["state"])
		require.ElementsMatch(t, []string{"0=word", "1=", "2="}, strings.Fields(m.read(t, m.spool("jobs", id, "stdout"))))
	})
}

func TestCancelAndSuspendReachAllProcessesOfAJob(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, spread+`3 sh -c 'trap "echo ended >term.$RMCTL_PROCESS_RANK; exit 3" TERM; echo $$ >pid.$RMCTL_PROCESS_RANK; while :; do sleep 0.1; done'`)
		var pids []string
		for _, rank := range []string{"0", "1", "2"} {
			m.awaitFile(t, m.file("pid."+rank))
			pids = append(pids, strings.TrimSpace(m.read(t, m.file("pid."+rank))))
		}
		m.awaitState(t, id, "RUNNING")
		m.do(t, "suspend", id)
		for _, pid := range pids {
			// A shell that starts a program waits for it in state D while that is stopped.
			require.Eventually(t, func() bool {
				_, rest, _ := strings.Cut(m.read(t, filepath.Join("/proc", pid, "stat")), ") ")
				return strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "D")
			}, patience, time.Millisecond, "the process goes on")
		}
		m.do(t, "resume", id)
		m.do(t, "cancel", id)
		require.Equal(t, "CANCELED", m.awaitEnd(t, id)["state"])
		for _, rank := range []string{"0", "1", "2"} {
			require.FileExists(t, m.file("term."+rank))
		}
		for _, pid := range pids {
			require.False(t, alive(t, pid))
		}
	})
}

func TestSignalsThatProgramsHandleEndNoJobOfSeveralProcesses(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		for signal, number := range map[string]syscall.Signal{"USR1": syscall.SIGUSR1, "HUP": syscall.SIGHUP} {
			id := m.submit(t, spread+`2 sh -c 'trap "exit 5" `+signal+`; echo $$ >`+signal+`.$RMCTL_PROCESS_RANK; while :; do sleep 0.1; done'`)
			m.awaitFile(t, m.file(signal+".0"))
			m.awaitFile(t, m.file(signal+".1"))
			group, err := strconv.Atoi(m.noted(t, id, "process"))
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(-group, number))
			ended := m.awaitEnd(t, id)
			require.Equal(t, "5", ended["code"], "%s %s", signal, ended)
		}
	})
}
