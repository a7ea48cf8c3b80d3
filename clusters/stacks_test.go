package clusters_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// deviating waits forever, rank 2 in another function than all others.
const deviating = `#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void alone(void) { for (;;) pause(); }
static void together(int depth) { if (depth) together(depth - 1); else for (;;) pause(); }
int main(int argc, char **argv) {
	const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}, *rank = "0";
	for (int i = 3; i >= 0; i--) if (getenv(names[i])) rank = getenv(names[i]);
	if (strcmp(rank, "2") == 0) alone(); else together(3);
}
`

// byHand starts four ranks without MPI.
const byHand = `for rank in 0 1 2 3; do PMI_RANK=$rank "$0" & done; wait`

// A deviatingProgram is the program, in a folder that all users can read.
func deviatingProgram(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "rmctl-program-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755))
	source, program := filepath.Join(folder, "deviating.c"), filepath.Join(folder, "deviating")
	require.NoError(t, os.WriteFile(source, []byte(deviating), 0o644))
	output, err := exec.Command("gcc", "-g", "-O0", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return program
}

// A frame is one of the tree that rmctl prints.
type frame struct {
	Function, Ranks string
	Children        []frame
}

// stackOf returns the functions of a rank, outermost first.
func stackOf(t *testing.T, frames []frame, rank int) (functions []string) {
	t.Helper()
	for _, each := range frames {
		set, isSet := ranges.Parse(each.Ranks)
		require.True(t, isSet, each.Ranks)
		if slices.ContainsFunc(set, func(r ranges.Range) bool { return r.First <= rank && rank <= r.Last }) {
			return append([]string{each.Function}, stackOf(t, each.Children, rank)...)
		}
	}
	return nil
}

// processesOf returns the process ids of a program by its ranks.
func processesOf(t *testing.T, program string) map[int]int {
	t.Helper()
	found := map[int]int{}
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	require.NoError(t, err)
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != program {
			continue
		}
		folder := filepath.Dir(link)
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		require.NoError(t, err)
		pid, err := strconv.Atoi(filepath.Base(folder))
		require.NoError(t, err)
		rank := 0
		for _, name := range []string{"SLURM_PROCID", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"} {
			for variable := range strings.SplitSeq(string(environment), "\x00") {
				if value, has := strings.CutPrefix(variable, name+"="); has {
					rank, err = strconv.Atoi(value)
					require.NoError(t, err)
				}
			}
		}
		require.NotContains(t, found, rank, "two processes have it")
		found[rank] = pid
	}
	return found
}

// frameOfGDB is a frame that gdb prints: its function.
var frameOfGDB = regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?(\S+) \(`)

// gdbSays returns the functions of a process, outermost first, as gdb prints them.
func gdbSays(t *testing.T, pid int) (functions []string) {
	t.Helper()
	output, err := exec.Command("gdb", "-nx", "-batch", "-p", strconv.Itoa(pid), "-ex", "bt").Output()
	require.NoError(t, err)
	for _, match := range frameOfGDB.FindAllStringSubmatch(string(output), -1) {
		functions = append(functions, match[1])
	}
	slices.Reverse(functions)
	return functions
}

// showsStacks waits until a job has four ranks, and compares their stacks with those of gdb.
// Afterwards all processes run.
func showsStacks(t *testing.T, d *rmctltest.Desk, program, id string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(processesOf(t, program)) == 4 }, 5*time.Minute, 50*time.Millisecond)
	becomes(t, d, `"detail":"RUNNING"`, "status", "--json", "--fresh", id)
	processes := processesOf(t, program)
	var printed struct {
		Ranks  string
		Stacks int
		Tree   []frame
	}
	output := d.Does("stacks", "--json", id)
	require.NoError(t, json.Unmarshal([]byte(output), &printed), output)
	require.Equal(t, "0-3", printed.Ranks)
	require.Equal(t, 2, printed.Stacks)
	for rank, pid := range processes {
		own := stackOf(t, printed.Tree, rank)
		require.Contains(t, own, map[bool]string{true: "alone", false: "together"}[rank == 2])
		require.Equal(t, gdbSays(t, pid), own, "rank %d", rank)
	}
	require.Equal(t, processes, processesOf(t, program))
	for rank, pid := range processes {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		require.NoError(t, err)
		require.Regexp(t, `State:\tS`, string(status), "rank %d", rank)
		require.Regexp(t, `TracerPid:\t0\n`, string(status), "rank %d", rank)
	}
	text := d.Does("stacks", id)
	require.Regexp(t, `(?s)^4 ranks 0-3: 2 different stacks\n.*-- rank 2\n.*-- 3 ranks 0-1,3\n`, text)
	require.Contains(t, d.Does("status", "--json", "--fresh", id), `"detail":"RUNNING"`)
}

func TestStacksOfSlurmJobs(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "stacks")
	program := deviatingProgram(t)
	d := rmctltest.NewDesk(t, "", cluster.Setting())
	id := d.Does("submit", "-t", "slurm", "-s", "nodes=2", "-s", "tasksPerNode=2", "-s", "exclusive=true", "--", "sh", "-c", `exec srun "$0"`, program)
	showsStacks(t, d, program, id)
	d.Does("cancel", id)
}

func TestStacksOfGridEngineJobs(t *testing.T) {
	t.Parallel()
	cell := rmctltest.GridEngine(t, "stacks")
	program := deviatingProgram(t)
	d := rmctltest.NewDesk(t, "", cell.Settings()...)
	id := d.Does("submit", "-t", "gridengine", "-s", "pe=mpi", "-s", "slots=4", "--", "sh", "-c", byHand, program)
	showsStacks(t, d, program, id)
	d.Does("cancel", id)
}

// It is not parallel: a machine can run only one OAR.
func TestStacksOfOARJobs(t *testing.T) {
	rmctltest.StartOAR(t, "suite")
	program := deviatingProgram(t)
	d := rmctltest.NewDesk(t, "", "RMCTL_BACKGROUND=off")
	d.BelongsTo(rmctltest.OARUser)
	id := d.Does("submit", "-t", "oar", "-s", "nodes=2", "-s", "wallTime=10m", "--", "sh", "-c", byHand, program)
	showsStacks(t, d, program, id)
	d.Does("cancel", id)
}

func TestStacksOfMPI(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	rmctltest.ClusterScript(t, "install.sh")
	for target, options := range map[string][]string{
		"openmpi": {"-s", "tasks=4", "-s", "oversubscribe=true"}, "mpich": {"-s", "tasks=4"},
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			program := deviatingProgram(t)
			d := rmctltest.NewDesk(t, "", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			launcher := d.Command(ctx, slices.Concat([]string{"run", "-t", target}, options, []string{"--", program})...)
			launcher.WaitDelay = time.Minute
			launcher.Cancel = func() error { return launcher.Process.Signal(syscall.SIGTERM) }
			require.NoError(t, launcher.Start())
			printed := becomes(t, d, `"detail":"RUNNING"`, "jobs", "--json")
			id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(printed)
			require.NotNil(t, id, printed)
			showsStacks(t, d, program, id[1])
			cancel()
			require.Error(t, launcher.Wait())
		})
	}
}

// The job is at a target behind ssh, where rmctl puts rmctl-node.
func TestStacksBehindSSH(t *testing.T) {
	t.Parallel()
	daemons := rmctltest.SSHD(t, "stacks")
	program := deviatingProgram(t)
	d := rmctltest.NewDesk(t, "", "SSH_AUTH_SOCK=")
	d.Reaches("there", "local", "ssh", "rmtest-target", daemons.Configuration)
	id := d.Does("submit", "-t", "there", "--", "sh", "-c", byHand, program)
	showsStacks(t, d, program, id)
	d.Does("cancel", id)
}
