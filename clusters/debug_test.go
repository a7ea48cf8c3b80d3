package clusters_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/debugtest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// summing adds numbers, and exits with 3 in rank 2.
const summing = `#include <stdio.h>
#include <stdlib.h>
int sum(int rank, int count) {
	int result = rank * 100;
	for (int i = 0; i < count; i++) result += i;
	return result;
}
int main(int argc, char **argv) {
	const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}, *text = "0";
	for (int i = 3; i >= 0; i--) if (getenv(names[i])) text = getenv(names[i]);
	int rank = atoi(text);
	printf("rank %d: %d\n", rank, sum(rank, 5));
	return rank == 2 ? 3 : 0;
}
`

// debugScript stops each rank in sum, steps one of them, and lets all end.
const debugScript = `break sum
continue
print rank
where
focus 2
next
print result
focus all
continue
`

// debugs debugs four ranks of the program and compares the output with the source.
func debugs(t *testing.T, d *rmctltest.Desk, options ...string) {
	t.Helper()
	program := compiled(t, "summing", summing)
	script := filepath.Join(t.TempDir(), "commands")
	require.NoError(t, os.WriteFile(script, []byte(debugScript), 0o644))
	command := d.Command(t.Context(), slices.Concat([]string{"debug", "-x", script}, options, []string{"--", program})...)
	var errors strings.Builder
	command.Stderr = &errors
	output, err := command.Output()
	text := string(output)
	exit := &exec.ExitError{}
	require.ErrorAs(t, err, &exit, "%s\n%s", text, &errors)
	require.Equal(t, 3, exit.ExitCode(), "the exit code is the worst of the ranks: %s\n%s", text, &errors)
	require.Contains(t, text, "0-3: stopped in sum at summing.c:4 (breakpoint 1)\n")
	require.Contains(t, text, "0: 0 | 1: 1 | 2: 2 | 3: 3\n")
	require.Contains(t, text, "0-3:\n  >#0 sum at summing.c:4\n   #1 main at summing.c:12\n")
	require.Contains(t, text, "2: stopped in sum at summing.c:5\n")
	require.Contains(t, text, "2: 200\n")
	for rank := range 4 {
		require.Contains(t, text, fmt.Sprintf("[%d] rank %d: %d\n", rank, rank, rank*100+10))
	}
	require.Contains(t, text, "2: exited with code 3\n")
	require.Empty(t, processesOf(t, program))
}

// compiled returns a program in a folder that all users can read.
func compiled(t testing.TB, name, text string) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "rmctl-program-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755))
	source, program := filepath.Join(folder, name+".c"), filepath.Join(folder, name)
	require.NoError(t, os.WriteFile(source, []byte(text), 0o644))
	output, err := exec.Command("gcc", "-g", "-O0", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return program
}

func TestDebuggingSlurmJobs(t *testing.T) {
	t.Parallel()
	cluster := rmctltest.Slurm(t, "debug")
	for name, options := range map[string][]string{
		"batch":       {"-t", "slurm", "-s", "launcher=srun", "-s", "nodes=2", "-s", "tasksPerNode=2"},
		"interactive": {"-t", "slurm-interactive", "-s", "nodes=2", "-s", "tasksPerNode=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			debugs(t, rmctltest.NewDesk(t, "", cluster.Setting()), options...)
		})
	}
	t.Run("attach", func(t *testing.T) {
		t.Parallel()
		program := deviatingProgram(t)
		d := rmctltest.NewDesk(t, "", cluster.Setting())
		id := d.Does("submit", "-t", "slurm", "-s", "launcher=srun", "-s", "nodes=2", "-s", "tasksPerNode=2", "--", program)
		attaches(t, d, program, id)
		d.Does("cancel", id)
	})
}

// attaches attaches debuggers to the deviating program, and leaves it unchanged.
func attaches(t *testing.T, d *rmctltest.Desk, program, id string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(processesOf(t, program)) == 4 }, 5*time.Minute, 50*time.Millisecond)
	becomes(t, d, `"detail":"RUNNING"`, "status", "--json", "--fresh", id)
	processes := processesOf(t, program)
	script := filepath.Join(t.TempDir(), "commands")
	require.NoError(t, os.WriteFile(script, []byte("where\nfocus 0-1,3\nup\nfocus 2\nraw info inferiors\n"), 0o644))
	text := d.Does("debug", "attach", "-x", script, id)
	require.Regexp(t, `(?s)2:\n[^:]*pause.*alone at deviating.c:4`, text)
	require.Regexp(t, `(?s)0-1,3:\n[^:]*pause.*together at deviating.c:5\n.*together at deviating.c:5\n.*main`, text)
	require.Contains(t, text, fmt.Sprintf("process %d", processes[2]), "gdb says which process rank 2 is")
	require.Equal(t, processes, processesOf(t, program), "the job is as it was")
	for rank, pid := range processes {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		require.NoError(t, err)
		require.Regexp(t, `State:\tS`, string(status), "rank %d", rank)
		require.Regexp(t, `TracerPid:\t0\n`, string(status), "rank %d", rank)
	}
}

func TestDebuggingMPI(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	rmctltest.ClusterScript(t, "install.sh")
	for target, options := range map[string][]string{
		"openmpi": {"-s", "tasks=4", "-s", "oversubscribe=true"}, "mpich": {"-s", "tasks=4"},
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			d := rmctltest.NewDesk(t, "", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			debugs(t, d, slices.Concat([]string{"-t", target}, options)...)
		})
	}
}

// The program is copied to a target behind SSH. Each copy of the job there has its own rank.
func TestDebuggingBehindSSH(t *testing.T) {
	t.Parallel()
	daemons := rmctltest.SSHD(t, "debug")
	d := rmctltest.NewDesk(t, "", "SSH_AUTH_SOCK=")
	d.Reaches("there", "local", "ssh", "rmtest-target", daemons.Configuration)
	program := compiled(t, "summing", summing)
	folder := filepath.Dir(program)
	require.NoError(t, os.Chmod(folder, 0o777))
	remote := filepath.Join(folder, "copied")
	script := filepath.Join(t.TempDir(), "commands")
	require.NoError(t, os.WriteFile(script, []byte("break sum\ncontinue\nprint rank\nwhere\ncontinue\n"), 0o644))
	text := d.Does("debug", "-t", "there", "-x", script, "--copy", program, "--", remote)
	require.Contains(t, text, "0: stopped in sum at summing.c:4 (breakpoint 1)\n")
	require.Contains(t, text, "[0] rank 0: 10\n")
	copied, err := os.ReadFile(remote)
	require.NoError(t, err)
	original, err := os.ReadFile(program)
	require.NoError(t, err)
	require.Equal(t, original, copied)
	before, err := os.Stat(remote)
	require.NoError(t, err)
	d.Does("debug", "-t", "there", "-x", script, "--copy", program, "--", remote)
	after, err := os.Stat(remote)
	require.NoError(t, err)
	require.Equal(t, before.Sys().(*syscall.Stat_t).Ino, after.Sys().(*syscall.Stat_t).Ino, "an equal file stays")
}

// A debug command as in PTP's definitions: the servers of rmctl replace that debugger and its
// first rank.
const ownDebugCommand = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="own">
  <control-data>
    <submit-interactive name="run"><arg>false</arg></submit-interactive>
    <submit-interactive-debug name="debug">
      <arg>${ptp_rm:debuggerExecutablePath#value} ${ptp_rm:debuggerArgs#value} --server=0</arg>
    </submit-interactive-debug>
  </control-data>
</resource-manager-builder>`

func TestADefinitionsOwnDebugCommandDebugs(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	rmctltest.ClusterScript(t, "install.sh")
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "own.xml"), []byte(ownDebugCommand), 0o600))
	script := filepath.Join(folder, "commands")
	require.NoError(t, os.WriteFile(script, []byte("break sum\ncontinue\nprint count\ncontinue\n"), 0o600))
	text := rmctltest.NewDesk(t, folder).Does("debug", "-t", "own", "-x", script, "--", compiled(t, "summing", summing))
	require.Contains(t, text, "0: stopped in sum at summing.c:4 (breakpoint 1)\n")
	require.Contains(t, text, "\n0: 5\n")
	require.Contains(t, text, "[0] rank 0: 10\n")
}

// Answers are objects with the ranks for programs that read them.
func TestDebuggingPrintsJSON(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	rmctltest.ClusterScript(t, "install.sh")
	d := rmctltest.NewDesk(t, "")
	script := filepath.Join(t.TempDir(), "commands")
	require.NoError(t, os.WriteFile(script, []byte("break sum\ncontinue\nprint rank\n"), 0o644))
	output := d.Does("debug", "--json", "-t", "mpich", "-s", "tasks=4", "-x", script, "--", compiled(t, "summing", summing))
	values := map[string]string{}
	for line := range strings.Lines(output) {
		var printed struct {
			Command string
			Parts   []struct {
				Ranks     json.RawMessage
				Variables []struct{ Value string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &printed), line)
		if printed.Command == "print rank" {
			for _, part := range printed.Parts {
				values[string(part.Ranks)] = part.Variables[0].Value
			}
		}
	}
	require.Len(t, values, 4, output)
}

// BenchmarkDebugStart measures the whole command: 64 ranks with fake debuggers, until all are stopped in main.
func BenchmarkDebugStart(b *testing.B) {
	d := rmctltest.NewDesk(b, "")
	debugger, err := debugtest.Debugger(b.TempDir(), "")
	require.NoError(b, err)
	program := compiled(b, "summing", summing)
	for b.Loop() {
		command := d.Command(b.Context(), "debug", "--json", "-n", "64", "--debugger", debugger, "--", program)
		input, err := command.StdinPipe()
		require.NoError(b, err)
		output, err := command.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, command.Start())
		lines := bufio.NewScanner(output)
		for lines.Scan() && !strings.Contains(lines.Text(), `"command":"start"`) {
			continue
		}
		b.StopTimer()
		require.Contains(b, lines.Text(), `"ranks":"0-63"`)
		require.NoError(b, input.Close())
		_, err = io.Copy(io.Discard, output)
		require.NoError(b, err)
		require.NoError(b, command.Wait())
		b.StartTimer()
	}
}
