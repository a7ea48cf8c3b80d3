package rank_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rank"
)

// A machine is a folder that looks like /proc.
type machine struct {
	t      *testing.T
	folder string
}

func newMachine(t *testing.T) *machine { return &machine{t, t.TempDir()} }

// runs adds a process. Its name contains characters that break careless parsers of stat.
func (m *machine) runs(pid, parent int, words, environment string) {
	m.t.Helper()
	folder := filepath.Join(m.folder, strconv.Itoa(pid))
	require.NoError(m.t, os.Mkdir(folder, 0o700))
	executable, _, _ := strings.Cut(words, " ")
	stat := fmt.Sprintf("%d (a) b (c) S %d 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %d 1 1\n", pid, parent, pid*10)
	for name, content := range map[string]string{
		"stat": stat, "environ": strings.ReplaceAll(environment, " ", "\x00") + "\x00", "cmdline": strings.ReplaceAll(words, " ", "\x00") + "\x00",
	} {
		require.NoError(m.t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	require.NoError(m.t, os.Symlink(executable, filepath.Join(folder, "exe")))
}

// finds returns the processes found for job 7, each as RANK:PID.
func (m *machine) finds() []string {
	m.t.Helper()
	members, err := rank.Find(rank.Match{Folder: m.folder, Variables: map[string]string{"JOB": "7"}})
	require.NoError(m.t, err)
	found := []string{}
	for _, member := range members {
		text := fmt.Sprintf("%d:%d", member.Rank, member.PID)
		if member.Problem != "" {
			text = member.Problem
		}
		found = append(found, text)
		require.Equal(m.t, uint64(member.PID*10), member.Start)
	}
	return found
}

func TestAnIDOfFluxIsTheSameInEachLocale(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(10, 1, "/home/ann/prog", "FLUX_JOB_ID=ƒ2xVg FLUX_TASK_RANK=0")
	m.runs(11, 1, "/home/ann/prog", "FLUX_JOB_ID=f2xVg FLUX_TASK_RANK=1")
	m.runs(12, 1, "/home/ann/prog", "FLUX_JOB_ID=g2xVg FLUX_TASK_RANK=2")
	members, err := rank.Find(rank.Match{Folder: m.folder, Variables: map[string]string{"FLUX_JOB_ID": "f2xVg"}})
	require.NoError(t, err)
	require.Len(t, members, 2)
}

func TestTheProgramOfEachRankIsFoundBelowShellsAndTheWrapper(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(10, 1, "/bin/bash job.sh", "JOB=7")
	m.runs(11, 10, "/usr/bin/mpirun prog", "JOB=7")
	m.runs(20, 11, "/home/ann/rmctl-node-0123456789abcdef track --job d -- prog", "JOB=7 PMI_RANK=1")
	m.runs(21, 20, "/bin/sh wrapper", "JOB=7 PMI_RANK=1")
	m.runs(22, 21, "/home/ann/prog", "JOB=7 PMI_RANK=1")
	m.runs(23, 22, "/home/ann/helper", "JOB=7 PMI_RANK=1")
	m.runs(30, 11, "/home/ann/prog", "JOB=7 PMI_RANK=0")
	m.runs(40, 1, "/home/ann/prog", "JOB=8 PMI_RANK=5")
	require.Equal(t, []string{"0:30", "1:22"}, m.finds())

	programs, err := rank.Programs(m.folder, []int{20, 30, 99})
	require.NoError(t, err)
	require.Len(t, programs, 2)
	require.Equal(t, 22, programs[20].PID)
	require.Equal(t, 30, programs[30].PID)
}

func TestRelaysAndTheirDebuggersAreIgnored(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(10, 1, "/home/ann/prog", "JOB=7 SLURM_STEP_ID=0 SLURM_PROCID=0")
	m.runs(20, 1, "/home/ann/rmctl-node-0123456789abcdef relay", "JOB=7 SLURM_STEP_ID=1 SLURM_PROCID=0")
	m.runs(21, 20, "/usr/bin/gdb -p 10", "JOB=7 SLURM_STEP_ID=1 SLURM_PROCID=0")
	m.runs(22, 21, "/usr/bin/py-spy", "JOB=7 SLURM_STEP_ID=1 SLURM_PROCID=0")
	// A relay on one node starts that of another, and has ended.
	m.runs(30, 1, "/usr/bin/srun rmctl-node-0123456789abcdef relay", "JOB=7 SLURM_STEP_ID=2 SLURM_PROCID=0 "+rank.ObserverVariable+"=1")
	// slurmstepd is about to become a relay.
	m.runs(40, 1, "/usr/sbin/slurmstepd", "JOB=7 SLURM_STEP_ID=3 SLURM_PROCID=0 "+rank.ObserverVariable+"=1")
	require.Equal(t, []string{"0:10"}, m.finds())
}

func TestAJobWithoutRanksIsItsOutermostProcess(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(10, 1, "/bin/sh job.sh", "JOB=7 SLURM_PROCID=0")
	m.runs(11, 10, "/home/ann/prog", "JOB=7 SLURM_PROCID=0")
	m.runs(12, 10, "/usr/bin/tee log", "JOB=7 SLURM_PROCID=0")
	require.Equal(t, []string{"0:11"}, m.finds())
}

func TestTwoProgramsWithOneRankAreBothFound(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(10, 5, "/home/ann/prog", "JOB=7 PMI_RANK=0")
	m.runs(11, 5, "/home/ann/prog", "JOB=7 PMI_RANK=0")
	m.runs(12, 1, "/home/ann/daemon", "JOB=7 PMI_RANK=0")
	require.Equal(t, []string{"0:10", "0:11"}, m.finds(), "what a rank left in the background is no second one")

	m = newMachine(t)
	m.runs(10, 1, "/home/ann/daemon", "JOB=7 PMI_RANK=0")
	require.Equal(t, []string{"0:10"}, m.finds())
}

func TestAnInvalidRankIsAProblem(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(10, 5, "/home/ann/prog", "JOB=7 PMI_RANK=zero")
	m.runs(11, 5, "/home/ann/prog", "JOB=7 PMI_RANK=1")
	require.Equal(t, []string{`PMI_RANK is not a rank: "zero"`, "1:11"}, m.finds())
}

func TestProcessesThatChangeDuringReadingAreIgnored(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(10, 5, "/home/ann/prog", "JOB=7 PMI_RANK=0")
	for pid, stat := range map[int]string{11: "", 12: "12 (x", 13: "13 (x) Z 5", 14: strings.Repeat("(", 1<<20), 15: "15 (x) S x 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 150 1 1\n"} {
		m.runs(pid, 5, "/home/ann/prog", "JOB=7 PMI_RANK=1")
		require.NoError(t, os.WriteFile(filepath.Join(m.folder, strconv.Itoa(pid), "stat"), []byte(stat), 0o600))
	}
	m.runs(16, 5, "/home/ann/prog", "JOB=7 PMI_RANK=2")
	require.NoError(t, os.Remove(filepath.Join(m.folder, "16", "environ")))
	require.Equal(t, []string{"0:10"}, m.finds())
}

func TestWithoutVariablesNoProcessIsFound(t *testing.T) {
	t.Parallel()
	_, err := rank.Find(rank.Match{})
	require.ErrorContains(t, err, "no variable")
	_, err = rank.Find(rank.Match{Folder: filepath.Join(t.TempDir(), "absent"), Variables: map[string]string{"JOB": "7"}})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestRealProcessesAreFound(t *testing.T) {
	t.Parallel()
	job := fmt.Sprintf("test-%d", os.Getpid())
	var pids []string
	for number := range 3 {
		shell := exec.Command("sh", "-c", "sleep 1000; true")
		shell.Env = append(os.Environ(), "RMCTL_TEST_JOB="+job, fmt.Sprintf("PMI_RANK=%d", number))
		require.NoError(t, shell.Start())
		t.Cleanup(func() { _ = shell.Wait() })
		pids = append(pids, strconv.Itoa(shell.Process.Pid))
		t.Cleanup(func() { _ = shell.Process.Kill() })
	}
	var members []rank.Member
	require.Eventually(t, func() bool {
		var err error
		members, err = rank.Find(rank.Match{Variables: map[string]string{"RMCTL_TEST_JOB": job}})
		require.NoError(t, err)
		isProgram := func(member rank.Member) bool {
			return filepath.Base(member.Executable) == "sleep" || filepath.Base(member.Executable) == "coreutils"
		}
		return len(members) == 3 && isProgram(members[0]) && isProgram(members[1]) && isProgram(members[2])
	}, 10*time.Second, 10*time.Millisecond)
	for number, member := range members {
		require.Equal(t, number, member.Rank)
		require.Equal(t, pids[number], strconv.Itoa(member.Parent))
		sleep, err := os.FindProcess(member.PID)
		require.NoError(t, err)
		require.NoError(t, sleep.Kill())
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("10 (a) b (c) S 5 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 100 1 1\n"), []byte("JOB=7\x00PMI_RANK=1\x00"))
	f.Add([]byte("10 ("), []byte("="))
	folder := f.TempDir()
	process := filepath.Join(folder, "10")
	require.NoError(f, os.Mkdir(process, 0o700))
	require.NoError(f, os.Symlink("/prog", filepath.Join(process, "exe")))
	f.Fuzz(func(t *testing.T, stat, environment []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(process, "stat"), stat, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(process, "environ"), environment, 0o600))
		members, err := rank.Find(rank.Match{Folder: folder, Variables: map[string]string{"JOB": "7"}})
		require.NoError(t, err)
		require.LessOrEqual(t, len(members), 1)
	})
}
