package track_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/jobdirectory"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

var installation string

const patience = 20 * time.Second

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "rmctl-node-built-")
	if err != nil {
		panic(err)
	}
	installation = folder
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // otherwise programs ignore it if nohup runs the tests
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// newJob returns the directory of a job.
func newJob(t testing.TB) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "jobs", "tag")
	require.NoError(t, jobdirectory.Prepare(directory, "", time.Now()))
	return directory
}

// tracked returns a program that is tracked in the directory of a job.
func tracked(t testing.TB, job string, words ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(rmctltest.NodeProgram(t, installation), append([]string{"track", "--job", job, "--"}, words...)...)
	command.Env = append(os.Environ(), "SLURMD_NODENAME=n1")
	return command
}

// known returns the recorded state of the only process of a job.
func known(t testing.TB, job string) jobdirectory.Member {
	t.Helper()
	members, err := jobdirectory.Read(job)
	require.NoError(t, err)
	require.Len(t, members, 1)
	return members[0]
}

func TestTheWrapperKeepsAndRecordsTheEndOfTheProgram(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"exit 0", "exit 7", "exit 255", "kill -TERM $$", "kill -KILL $$", "kill -SEGV $$", "kill -ABRT $$", "kill -USR1 $$", "kill -PIPE $$", "kill -HUP $$"} {
		bare := exec.Command("sh", "-c", script)
		_ = bare.Run()
		job := newJob(t)
		wrapped := tracked(t, job, "sh", "-c", script)
		_ = wrapped.Run()
		before, after := bare.ProcessState.Sys().(syscall.WaitStatus), wrapped.ProcessState.Sys().(syscall.WaitStatus)
		require.Equal(t, [2]any{before.Signaled(), before.ExitStatus()}, [2]any{after.Signaled(), after.ExitStatus()}, script)
		member := known(t, job)
		require.Equal(t, "n1", member.Node)
		if before.Signaled() {
			require.Equal(t, before.Signal(), after.Signal(), script)
			require.Equal(t, jobdirectory.StateSignalled, member.State, script)
			require.Equal(t, int(before.Signal()), *member.Signal, script)
		} else {
			require.Equal(t, jobdirectory.StateExited, member.State, script)
			require.Equal(t, before.ExitStatus(), *member.ExitCode, script)
		}
	}
}

func TestStreamsStaySeparateAndTheirEndsAreKept(t *testing.T) {
	t.Parallel()
	job := newJob(t)
	command := tracked(t, job, "sh", "-c", "cat; seq 100000; echo oops >&2")
	var output, errorOutput bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader("input\n"), &output, &errorOutput
	require.NoError(t, command.Run())
	require.True(t, strings.HasPrefix(output.String(), "input\n1\n2\n"))
	require.Equal(t, 6+588895, output.Len())
	require.Equal(t, "oops\n", errorOutput.String())
	member := known(t, job)
	require.True(t, strings.HasSuffix(member.Output, "\n99999\n100000\n"))
	require.LessOrEqual(t, len(member.Output), 4096)
	require.Equal(t, "oops\n", member.ErrorOutput)
}

func TestTheRankIsRecordedAndScriptsGetTheVariable(t *testing.T) {
	t.Parallel()
	job := newJob(t)
	command := tracked(t, job, "sh", "-c", "$RMCTL_NODE_TRACK sh -c 'echo inner; exit 4'")
	command.Env = append(command.Env, "MY_RANK=x")
	output, err := command.Output()
	require.Error(t, err)
	require.Equal(t, "inner\n", string(output))
	members, err := jobdirectory.Read(job)
	require.NoError(t, err)
	require.Len(t, members, 1)

	job = newJob(t)
	command = tracked(t, job, "sh", "-c", "$RMCTL_NODE_TRACK sh -c 'exit 4'")
	command.Args = append([]string{command.Args[0], "track", "--job", job, "--rank-from", "MY_RANK", "--"}, command.Args[5:]...)
	command.Args = command.Args[:len(command.Args)-1]
	command.Args = append(command.Args, "MY_RANK=3 $RMCTL_NODE_TRACK sh -c 'exit 4'")
	require.Error(t, command.Run())
	member := known(t, job)
	require.Equal(t, 3, member.Rank, "a process without a rank gives way to one with a rank")
	require.Equal(t, 4, *member.ExitCode)
}

func TestTheProgramRunsEvenIfRecordingFails(t *testing.T) {
	t.Parallel()
	for _, job := range []string{"/nonexistent/jobs/tag", "/proc/jobs", "relative"} {
		command := tracked(t, job, "sh", "-c", "echo hello; exit 3")
		var output, errorOutput bytes.Buffer
		command.Stdout, command.Stderr = &output, &errorOutput
		var failed *exec.ExitError
		require.ErrorAs(t, command.Run(), &failed)
		require.Equal(t, 3, failed.ExitCode())
		require.Equal(t, "hello\n", output.String())
		require.Equal(t, 1, strings.Count(errorOutput.String(), "\n"), "%s", errorOutput.String())
		require.Contains(t, errorOutput.String(), "rmctl-node: the program is not tracked")
	}
}

func TestAProgramThatDoesNotStartHasTheExitCodeOfShells(t *testing.T) {
	t.Parallel()
	notExecutable := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(notExecutable, nil, 0o600))
	for program, code := range map[string]int{"rmctl-absent-program": 127, "/nonexistent": 127, notExecutable: 126, "/": 126} {
		job := newJob(t)
		var failed *exec.ExitError
		require.ErrorAs(t, tracked(t, job, program).Run(), &failed)
		require.Equal(t, code, failed.ExitCode(), program)
		member := known(t, job)
		require.Equal(t, jobdirectory.StateError, member.State)
		require.NotEmpty(t, member.Problem)
	}
}

// startedWith starts a tracked program and waits until it has printed a line.
func startedWith(t *testing.T, command *exec.Cmd) io.Reader {
	t.Helper()
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line := make([]byte, len("ready\n"))
	_, err = io.ReadFull(output, line)
	require.NoError(t, err)
	require.Equal(t, "ready\n", string(line))
	return output
}

func TestSignalsReachTheProgram(t *testing.T) {
	t.Parallel()
	for _, each := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		command := tracked(t, newJob(t), "sh", "-c", fmt.Sprintf(`trap "exit 9" %d; echo ready; while :; do sleep 0.01; done`, each))
		startedWith(t, command)
		require.NoError(t, command.Process.Signal(each))
		var failed *exec.ExitError
		require.ErrorAs(t, command.Wait(), &failed)
		require.Equal(t, 9, failed.ExitCode(), each)
	}
}

// A signal to a group reaches the program once: the wrapper does not repeat it.
func TestASignalToAllProcessesReachesTheProgramOnce(t *testing.T) {
	t.Parallel()
	command := tracked(t, newJob(t), "sh", "-c", `n=0; trap "n=\$((n+1))" USR1; trap 'echo $n; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output := startedWith(t, command)
	require.Eventually(t, func() bool { // the sentinel waits for signals
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", command.Process.Pid, command.Process.Pid))
		require.NoError(t, err)
		fields := strings.Fields(string(children))
		if len(fields) < 2 {
			return false
		}
		status, err := os.ReadFile("/proc/" + fields[1] + "/status")
		return err == nil && strings.Contains(string(status), "SigIgn:\t0000000000380000") // what it ignores, it does last
	}, patience, 5*time.Millisecond)
	require.NoError(t, syscall.Kill(-command.Process.Pid, syscall.SIGUSR1))
	require.Eventually(t, func() bool { return signalIsHandled(t, command.Process.Pid) }, patience, 5*time.Millisecond)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM)) // only to the wrapper
	count, err := io.ReadAll(output)
	require.NoError(t, err)
	require.Equal(t, "1\n", string(count))
	require.NoError(t, command.Wait())
}

// signalIsHandled reports whether no signal is pending for a process.
func signalIsHandled(t *testing.T, pid int) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	return strings.Contains(string(status), "ShdPnd:\t0000000000000000")
}

func TestAnIgnoredHangUpStaysIgnored(t *testing.T) {
	t.Parallel()
	command := tracked(t, newJob(t))
	command.Args = append([]string{"nohup"}, append(command.Args, "sh", "-c", "kill -HUP $$; exit 5")...)
	nohup, err := exec.LookPath("nohup")
	require.NoError(t, err)
	command.Path = nohup
	var failed *exec.ExitError
	require.ErrorAs(t, command.Run(), &failed)
	require.Equal(t, 5, failed.ExitCode())
}

func TestProgramAndWrapperDieTogether(t *testing.T) {
	t.Parallel()
	command := tracked(t, newJob(t), "sh", "-c", "echo ready; exec sleep 1000")
	output := startedWith(t, command)
	require.NoError(t, command.Process.Kill())
	_, err := io.ReadAll(output) // the program also has it open
	require.NoError(t, err)
	require.Error(t, command.Wait())
}

func TestTheReaderOfTheOutputMayCloseIt(t *testing.T) {
	t.Parallel()
	job := newJob(t)
	command := tracked(t, job, "yes")
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	require.NoError(t, output.Close())
	var failed *exec.ExitError
	require.ErrorAs(t, command.Wait(), &failed)
	require.Equal(t, syscall.SIGPIPE, failed.Sys().(syscall.WaitStatus).Signal())
	require.Equal(t, jobdirectory.StateSignalled, known(t, job).State)
}

func TestWaitingForOrphansIsBounded(t *testing.T) {
	t.Parallel()
	job := newJob(t)
	begun := time.Now()
	output, err := tracked(t, job, "sh", "-c", "sleep 100 & echo $!").Output()
	require.NoError(t, err)
	require.Less(t, time.Since(begun), patience)
	pid, err := strconv.Atoi(strings.TrimSpace(string(output)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Equal(t, jobdirectory.StateExited, known(t, job).State)
}

func TestInheritedDescriptorsReachTheProgram(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	command := tracked(t, newJob(t), "sh", "-c", "echo through >&5")
	command.ExtraFiles = []*os.File{nil, nil, writer} // as PMI_FD
	require.NoError(t, command.Run())
	require.NoError(t, writer.Close())
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, "through\n", string(text))
}

func TestATerminalStaysATerminal(t *testing.T) {
	t.Parallel()
	const script = `test -t 0; a=$?; test -t 1; b=$?; test -t 2; echo "$a$b$?"`
	for name, each := range map[string]struct {
		input, output bool // whether they are the terminal
		want          string
	}{"interactive": {true, true, "001"}, "output": {false, true, "101"}, "input": {true, false, "011"}} {
		job := newJob(t)
		command := tracked(t, job, "sh", "-c", script)
		terminal, device, err := pty.Open()
		require.NoError(t, err)
		var piped bytes.Buffer
		command.Stdout = &piped
		if each.input {
			command.Stdin = device
		}
		if each.output {
			command.Stdout = device
		}
		require.NoError(t, command.Run(), name)
		require.NoError(t, device.Close())
		shown, err := io.ReadAll(terminal)
		require.True(t, err == nil || errors.Is(err, syscall.EIO))
		require.NoError(t, terminal.Close())
		require.Equal(t, each.want, strings.TrimSpace(string(shown)+piped.String()), name)
		require.Equal(t, each.input && each.output, known(t, job).Output == "", "the end is kept unless a user works with the program")
	}
}

func TestTwoProcessesWithOneRankAreReported(t *testing.T) {
	t.Parallel()
	job := newJob(t)
	first := tracked(t, job, "sh", "-c", "echo ready; read x")
	first.Env = append(first.Env, "PMI_RANK=2")
	input, err := first.StdinPipe()
	require.NoError(t, err)
	startedWith(t, first)
	require.Eventually(t, func() bool {
		members, err := jobdirectory.Read(job)
		return err == nil && len(members) == 1
	}, patience, 10*time.Millisecond)
	second := tracked(t, job, "sh", "-c", "exit 0")
	second.Env = append(second.Env, "PMI_RANK=2")
	var complaint bytes.Buffer
	second.Stderr = &complaint
	require.NoError(t, second.Run())
	require.Regexp(t, `^rmctl-node: PMI_RANK says rank 2 for process \d+ on n1 and for process \d+ on n1\n$`, complaint.String())
	require.NoError(t, input.Close())
	require.Error(t, first.Wait())

	invalid := tracked(t, newJob(t), "sh", "-c", "exit 0")
	invalid.Env = append(invalid.Env, "PMI_RANK=many")
	complaint.Reset()
	invalid.Stderr = &complaint
	require.NoError(t, invalid.Run())
	require.Equal(t, "rmctl-node: PMI_RANK is not a rank: \"many\"\n", complaint.String())
}

func TestManyRanksOfANodeAreRecorded(t *testing.T) {
	t.Parallel()
	job := newJob(t)
	const ranks = 40
	var commands []*exec.Cmd
	for number := range ranks {
		command := tracked(t, job, "sh", "-c", fmt.Sprintf("echo %d; exit %d", number, number))
		command.Env = append(command.Env, fmt.Sprintf("PMI_RANK=%d", number))
		require.NoError(t, command.Start())
		commands = append(commands, command)
	}
	for _, command := range commands {
		_ = command.Wait()
	}
	members, err := jobdirectory.Read(job)
	require.NoError(t, err)
	require.Len(t, members, ranks)
	for number, member := range members {
		require.Equal(t, number, member.Rank)
		require.Equal(t, jobdirectory.StateExited, member.State)
		require.Equal(t, number, *member.ExitCode)
		require.Equal(t, fmt.Sprintln(number), member.Output)
	}
}

func TestAProcessKilledWithItsWrapperHasAnUnknownEnd(t *testing.T) {
	t.Parallel()
	job := newJob(t)
	killed := tracked(t, job, "sh", "-c", "echo ready; exec sleep 1000")
	killed.Env = append(killed.Env, "PMI_RANK=0")
	startedWith(t, killed)
	require.Eventually(t, func() bool {
		members, err := jobdirectory.Read(job)
		return err == nil && len(members) == 1
	}, patience, 10*time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	other := tracked(t, job, "true")
	other.Env = append(other.Env, "PMI_RANK=1")
	require.NoError(t, other.Run())
	members, err := jobdirectory.Read(job)
	require.NoError(t, err)
	require.Len(t, members, 2)
	require.Equal(t, jobdirectory.StateUnknown, members[0].State)
}

// The difference of the two is the delay of a tracked program.
func BenchmarkStart(b *testing.B) {
	job := newJob(b)
	for name, command := range map[string]func() *exec.Cmd{
		"bare": func() *exec.Cmd { return exec.Command("date", "+%s%N") }, "tracked": func() *exec.Cmd { return tracked(b, job, "date", "+%s%N") },
	} {
		b.Run(name, func(b *testing.B) {
			var delay time.Duration
			for b.Loop() {
				begun := time.Now()
				output, err := command().Output()
				require.NoError(b, err)
				started, err := strconv.ParseInt(strings.TrimSpace(string(output)), 10, 64)
				require.NoError(b, err)
				delay += time.Unix(0, started).Sub(begun)
			}
			b.ReportMetric(float64(delay.Microseconds())/float64(b.N)/1000, "ms-until-it-starts")
		})
	}
}

func BenchmarkOutput(b *testing.B) {
	job := newJob(b)
	const size = 1 << 30
	words := []string{"dd", "if=/dev/zero", "bs=1M", "count=1024", "status=none"}
	for name, command := range map[string]func() *exec.Cmd{
		"bare": func() *exec.Cmd { return exec.Command(words[0], words[1:]...) }, "tracked": func() *exec.Cmd { return tracked(b, job, words...) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				one := command()
				one.Stdout = discard{}
				require.NoError(b, one.Run())
			}
		})
	}
}

// discard is io.Discard with a pipe before it.
type discard struct{}

func (discard) Write(data []byte) (int, error) { return len(data), nil }
