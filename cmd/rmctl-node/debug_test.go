package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/jobdirectory"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/internal/tree"
)

// needPrograms skips the test if a program is missing, and fails it where all are installed.
func needPrograms(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("RMCTL_CLUSTERS") == "1" {
				require.NoError(t, err)
			}
			t.Skipf("%s is not installed: testdata/clusters/install.sh installs it", name)
		}
	}
}

// A debugging is a session with the relay that real processes reach it by.
type debugging struct {
	t         testing.TB
	ctx       context.Context
	programs  string // folder of the programs of this test
	node      string // rmctl-node in it
	directory string
	session   *debug.Session
	relay     *exec.Cmd
}

func newDebugging(t testing.TB) *debugging {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	d := &debugging{t: t, ctx: ctx, programs: t.TempDir(), directory: filepath.Join(t.TempDir(), "debug"), session: &debug.Session{}}
	d.node = filepath.Join(d.programs, "rmctl-node")
	program := rmctltest.NodeProgram(t, installation)
	binary, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(d.node, binary, 0o700))
	require.NoError(t, jobdirectory.Prepare(d.directory, "", time.Now()))
	d.relay = exec.Command(program, "relay", "--job", d.directory, "--top", "--streams", "--node", "here")
	d.relay.Stderr = os.Stderr
	input, err := d.relay.StdinPipe()
	require.NoError(t, err)
	output, err := d.relay.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, d.relay.Start())
	secret, err := tree.ReadSecret(d.directory)
	require.NoError(t, err)
	client, err := tree.Connect(ctx, pipes{output, input}, secret)
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := client.AcceptStream(ctx)
			if err != nil {
				return
			}
			serving.Go(func() { d.join(conn) })
		}
	})
	t.Cleanup(func() {
		cancel()
		_ = client.Close() // some tests kill the relay
		serving.Wait()
		_ = d.relay.Wait()
	})
	return d
}

// join passes the lines of a rank on.
func (d *debugging) join(conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(d.ctx, func() { _ = conn.Close() })()
	member := d.session.Join(func(line []byte) error {
		_, err := conn.Write(line)
		return err
	})
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, debug.MostLine)
	for lines.Scan() && member.Receive(lines.Bytes()) == nil {
		continue
	}
	member.Leave("the connection ended")
}

// writes writes a pass for gdb.
func (d *debugging) writes(pass server.Pass) string {
	d.t.Helper()
	needPrograms(d.t, "gdb")
	gdb, err := exec.LookPath("gdb")
	require.NoError(d.t, err)
	pass.Debugger, pass.Path = server.GDB, filepath.Join(d.programs, "gdb")
	require.NoError(d.t, os.Symlink(gdb, pass.Path))
	text, err := pass.Encode()
	require.NoError(d.t, err)
	path := filepath.Join(d.directory, "debug.json")
	require.NoError(d.t, os.WriteFile(path, text, 0o600))
	return path
}

// awaits waits until some ranks are in a state at a function, "" for any.
func (d *debugging) awaits(count int, state debug.State, function string) {
	d.t.Helper()
	for {
		all := d.session.Reports()
		found := 0
		for _, class := range d.session.Classes() {
			if class.State == state && (function == "" || class.Function == function) {
				found += class.Ranks.Count()
			}
		}
		if found == count {
			return
		}
		_ = d.session.Take()
		select {
		case <-all:
		case <-time.After(10 * time.Millisecond):
		case <-d.ctx.Done():
			require.Fail(d.t, "the ranks do not come there", "%s %s: %+v", state, function, d.session.Classes())
		}
	}
}

// asks queries all ranks, and requires that they answer.
func (d *debugging) asks(request debug.Request) []debug.Part {
	d.t.Helper()
	parts := d.session.Ask(d.ctx, debug.Question{Ranks: d.session.Ranks(), Request: request})
	for _, part := range parts {
		require.Empty(d.t, part.Problem, "%+v", part)
	}
	return parts
}

// requireNothingLeft checks that no process of the test is left.
func (d *debugging) requireNothingLeft() {
	d.t.Helper()
	var left []string
	require.Eventually(d.t, func() bool {
		left = nil
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			words, _ := os.ReadFile(file)
			if strings.Contains(string(words), d.programs) {
				left = append(left, file+": "+strings.ReplaceAll(string(words), "\x00", " "))
			}
		}
		return len(left) == 0
	}, patience, 10*time.Millisecond, "%s", &left)
}

// compiles compiles a program in C with a library, whose name is a pattern.
func (d *debugging) compiles(source, library string) string {
	d.t.Helper()
	needPrograms(d.t, "gdb", "gcc")
	found, err := filepath.Glob(library)
	require.NoError(d.t, err)
	require.NotEmpty(d.t, found, "the launcher is installed without its library")
	path := filepath.Join(d.programs, "program")
	require.NoError(d.t, os.WriteFile(path+".c", []byte(source), 0o600))
	output, err := exec.Command("gcc", "-g", "-O0", "-o", path, path+".c", found[0]).CombinedOutput()
	require.NoError(d.t, err, "%s", output)
	return path
}

// declarations are those of the headers, which Debian has in packages of their own.
const (
	declarationsOfOpenMPI = `
extern char ompi_mpi_comm_world, ompi_mpi_int, ompi_mpi_op_sum;
typedef void *MPI;
#define MPI_COMM_WORLD (&ompi_mpi_comm_world)
#define MPI_INT (&ompi_mpi_int)
#define MPI_SUM (&ompi_mpi_op_sum)
`
	declarationsOfMPICH = `
typedef int MPI;
#define MPI_COMM_WORLD 0x44000000
#define MPI_INT 0x4c000405
#define MPI_SUM 0x58000003
`
)

const ring = `
int MPI_Init(int *, char ***), MPI_Comm_rank(MPI, int *), MPI_Comm_size(MPI, int *), MPI_Abort(MPI, int), MPI_Finalize(void);
int MPI_Allreduce(const void *, void *, int, MPI, MPI, MPI);
#include <stdio.h>
#include <unistd.h>
static int work(int rank) {
	return 2 * rank;
}
int main(int argc, char **argv) {
	int rank, size, twice, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	twice = work(rank);
	MPI_Allreduce(&twice, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d: %d\n", rank, size, sum);
	if (argc > 1 && rank == 2)
		MPI_Abort(MPI_COMM_WORLD, 9);
	if (argc > 1)
		for (;;) pause();
	MPI_Finalize();
	return 0;
}
`

// A launcher starts four processes of an MPI.
type launcher struct {
	words                 []string
	declarations, library string
}

var launchers = []launcher{
	{[]string{"mpirun.openmpi", "-np", "4", "--oversubscribe", "--allow-run-as-root"}, declarationsOfOpenMPI, "/usr/lib/*/libmpi.so.40"},
	{[]string{"mpiexec.hydra", "-n", "4"}, declarationsOfMPICH, "/usr/lib/*/libmpich.so.12"},
}

// launches starts the program with arguments on four ranks.
func (l launcher) launches(d *debugging, arguments ...string) (*exec.Cmd, *text) {
	d.t.Helper()
	needPrograms(d.t, l.words[0])
	program := d.compiles(l.declarations+ring, l.library)
	file := d.writes(server.Pass{Arguments: append([]string{program}, arguments...)})
	command := exec.Command(l.words[0], append(l.words[1:], d.node, "debug", "--pass", file, "--", "nothing")...)
	command.Dir = d.t.TempDir() // for core files
	printed := &text{}
	command.Stdout, command.Stderr = printed, printed
	require.NoError(d.t, command.Start())
	return command, printed
}

func TestEachRankOfAnMPIProgramIsDebugged(t *testing.T) {
	for _, launcher := range launchers {
		t.Run(launcher.words[0], func(t *testing.T) {
			t.Parallel()
			d := newDebugging(t)
			command, printed := launcher.launches(d)
			d.session.Start(d.ctx, debug.Request{Stop: debug.StopAtMain})
			d.awaits(4, debug.Stopped, "main")
			d.session.SetBreakpoints(d.ctx, []debug.Breakpoint{{ID: 1, Function: "work"}})
			d.asks(debug.Request{Verb: debug.Continue})
			d.awaits(4, debug.Stopped, "work")
			require.Len(t, d.session.Classes(), 1)
			require.Len(t, d.asks(debug.Request{Verb: debug.Evaluate, Text: "rank"}), 4)
			require.Len(t, d.asks(debug.Request{Verb: debug.Stack, Count: 1}), 1, "one answer of all")
			d.asks(debug.Request{Verb: debug.Continue})
			require.NoError(t, command.Wait(), printed.String())
			d.awaits(4, debug.Exited, "")
			for number := range 4 {
				require.Contains(t, printed.String(), fmt.Sprintf("rank %d of 4: 12\n", number))
			}
			d.requireNothingLeft()
		})
	}
}

func TestAnMPIProgramThatAbortsLeavesNothing(t *testing.T) {
	for _, launcher := range launchers {
		t.Run(launcher.words[0], func(t *testing.T) {
			t.Parallel()
			d := newDebugging(t)
			command, _ := launcher.launches(d, "abort")
			d.session.Start(d.ctx, debug.Request{Stop: debug.StopAtMain})
			d.awaits(4, debug.Stopped, "main")
			d.asks(debug.Request{Verb: debug.Continue})
			require.Error(t, command.Wait())
			require.Equal(t, 9, command.ProcessState.ExitCode(), "that of MPI_Abort; launchers may lose their messages about it")
			d.requireNothingLeft()
		})
	}
}

func TestATimeLimitEndsRanksThatAreStopped(t *testing.T) {
	for _, launcher := range launchers {
		t.Run(launcher.words[0], func(t *testing.T) {
			t.Parallel()
			d := newDebugging(t)
			command, _ := launcher.launches(d)
			d.session.Start(d.ctx, debug.Request{Stop: debug.StopAtMain})
			d.awaits(4, debug.Stopped, "main")
			require.NoError(t, command.Process.Signal(syscall.SIGTERM))
			require.Error(t, command.Wait())
			d.requireNothingLeft()
		})
	}
}

func TestRanksThatAreNotDebuggedBecomeTheProgram(t *testing.T) {
	t.Parallel()
	d := newDebugging(t)
	file := d.writes(server.Pass{Arguments: []string{"sh", "-c", "echo $$ $MINE; exit 4"}, Environment: []string{"MINE=1"}, Ranks: ranges.Set{{First: 1, Last: 3}}})
	command := exec.Command(d.node, "debug", "--pass", file, "--", "false")
	command.Env = append(os.Environ(), "PMI_RANK=0")
	output, err := command.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 4, exit.ExitCode())
	require.Equal(t, fmt.Sprintf("%d 1\n", command.Process.Pid), string(output), "it is the same process")
}

func TestAServerEndsAsItsProgram(t *testing.T) {
	t.Parallel()
	d := newDebugging(t)
	file := d.writes(server.Pass{Arguments: []string{"sh", "-c", "read word; echo $word >&2; kill -USR1 $$"}})
	command := exec.Command(d.node, "debug", "--pass", file)
	var printed text
	command.Stdin, command.Stderr = strings.NewReader("its input\n"), &printed
	require.NoError(t, command.Start())
	d.session.Start(d.ctx, debug.Request{Stop: debug.StopNot})
	d.awaits(1, debug.Stopped, "")
	require.Equal(t, "SIGUSR1", d.session.Classes()[0].Signal)
	d.asks(debug.Request{Verb: debug.Continue})
	require.Error(t, command.Wait())
	status, isStatus := command.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, isStatus)
	require.Equal(t, syscall.SIGUSR1, status.Signal())
	require.Equal(t, "its input\n", printed.String())
	d.requireNothingLeft()
}

func TestAttachingToAProcessByItsNumber(t *testing.T) {
	t.Parallel()
	d := newDebugging(t)
	file := d.writes(server.Pass{})
	sleeper := exec.Command("sleep", "1000")
	require.NoError(t, sleeper.Start())
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	start, isRunning := rank.StartOf(sleeper.Process.Pid)
	require.True(t, isRunning)
	command := exec.Command(d.node, "debug", "--pass", file, "--attach", fmt.Sprint(sleeper.Process.Pid), "--start", fmt.Sprint(start), "--rank", "5")
	require.NoError(t, command.Start())
	d.session.Start(d.ctx, debug.Request{Stop: debug.StopAtEntry})
	d.awaits(1, debug.Stopped, "")
	require.Equal(t, "5", d.session.Ranks().String())
	d.asks(debug.Request{Verb: debug.Detach})
	require.NoError(t, command.Wait())
	status, _ := guard.ReadStatus(sleeper.Process.Pid)
	require.Zero(t, status.Tracer)
	require.False(t, status.IsStopped())
	d.requireNothingLeft()
}

func TestAServerWithoutRmctlEnds(t *testing.T) {
	t.Parallel()
	d := newDebugging(t)
	require.NoError(t, d.relay.Process.Kill())
	file := d.writes(server.Pass{Arguments: []string{"echo", "ran"}, Wait: 200 * time.Millisecond})
	output, err := exec.Command(d.node, "debug", "--pass", file).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "rmctl cannot be reached")
	require.NotContains(t, string(output), "ran")

	require.NoError(t, os.Remove(filepath.Join(d.programs, "gdb")))
	file = d.writes(server.Pass{Arguments: []string{"echo", "ran"}, Wait: 200 * time.Millisecond, WhenLeft: server.Release})
	output, err = exec.Command(d.node, "debug", "--pass", file).Output()
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(output))

	require.NoError(t, os.Remove(filepath.Join(d.programs, "gdb")))
	command := exec.Command(d.node, "debug", "--pass", d.writes(server.Pass{Arguments: []string{"echo", "ran"}}))
	require.NoError(t, command.Start())
	require.Eventually(t, func() bool { // it catches signals
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid))
		return strings.Contains(string(status), "rmctl-node") && !strings.Contains(string(status), "SigCgt:\t0000000000000000")
	}, patience, time.Millisecond)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.Error(t, command.Wait())
	status, isStatus := command.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, isStatus)
	require.Equal(t, syscall.SIGTERM, status.Signal())
}
