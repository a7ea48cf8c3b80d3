package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
)

// newLocal returns a connection whose patience suits tests: what wants to end may take
// as long as it does on a busy machine.
func newLocal(t testing.TB) remote.Connection {
	t.Helper()
	return newLingering(t, 100*time.Millisecond)
}

// newLingering is newLocal with another time for the output of what outlives a process.
func newLingering(t testing.TB, linger time.Duration) remote.Connection {
	t.Helper()
	local, err := remote.NewLocalWith(6*time.Second, linger)
	require.NoError(t, err)
	return local
}

// newImpatient returns one that soon kills what does not want to end, and waits for the end
// of that.
func newImpatient(t *testing.T) remote.Connection {
	t.Helper()
	local, err := remote.NewLocalWith(300*time.Millisecond, time.Minute)
	require.NoError(t, err)
	return local
}

func TestLocalConforms(t *testing.T) {
	remotetest.RunWith(t, func(t *testing.T) remote.Connection { return newLocal(t) }, remotetest.Options{Volume: 1 << 30, Impatient: newImpatient})
}

// shell starts a script that holds the given streams.
func shell(t *testing.T, ctx context.Context, local remote.Connection, script string, command remote.Command) remote.Handle {
	t.Helper()
	command.Arguments = []string{"sh", "-c", script}
	process, err := local.Start(ctx, command)
	require.NoError(t, err)
	return process
}

func waitFor(t *testing.T, process remote.Handle, expected int) {
	t.Helper()
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, expected, code)
}

func TestHomeIsTheOneOfTheEnvironment(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home+"/")
	require.Equal(t, home, newLocal(t).Info().Home)
	for _, useless := range []string{"", "relative"} {
		t.Setenv("HOME", useless)
		require.True(t, filepath.IsAbs(newLocal(t).Info().Home))
	}
}

func TestPWDNamesTheDirectoryOfTheCommand(t *testing.T) {
	t.Setenv("PWD", "/elsewhere")
	directory := t.TempDir()
	var stdout bytes.Buffer
	process, err := newLocal(t).Start(t.Context(), remote.Command{Arguments: []string{"env"}, Directory: directory, Stdout: &stdout})
	require.NoError(t, err)
	waitFor(t, process, 0)
	require.Contains(t, strings.Split(stdout.String(), "\n"), "PWD="+directory)
}

func TestRelativeDirectoriesInPATHAreNotSearched(t *testing.T) {
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "rmctl-test-program"), []byte("#!/bin/sh\n"), 0o755))
	t.Chdir(directory) // so that neither meaning of relative finds it
	for _, path := range []string{".", "", ":/nonexistent", "./"} {
		_, err := newLocal(t).Start(t.Context(), remote.Command{
			Arguments: []string{"rmctl-test-program"}, Directory: directory, Environment: map[string]string{"PATH": path},
		})
		require.ErrorIs(t, err, remote.ErrCommandNotFound, "PATH=%q", path)
	}
}

func TestFilesArePassedThrough(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(path)
	require.NoError(t, err)
	process := shell(t, t.Context(), newLocal(t), "test -f /dev/stdin && test -f /dev/stdout && test -f /dev/stderr && echo done",
		remote.Command{Stdin: file, Stdout: file, Stderr: file})
	waitFor(t, process, 0)
	require.NoError(t, file.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "done\n", string(content))

	var none *os.File
	waitFor(t, shell(t, t.Context(), newLocal(t), "cat", remote.Command{Stdin: none, Stdout: none, Stderr: none}), 0)
}

func TestForegroundProcessesShareTheGroup(t *testing.T) {
	for _, foreground := range []bool{true, false} {
		var stdout bytes.Buffer
		process := shell(t, t.Context(), newLocal(t), "echo $$; ps -o pgid= -p $$", remote.Command{Stdout: &stdout, Foreground: foreground})
		waitFor(t, process, 0)
		var id, group int
		_, err := fmt.Sscan(stdout.String(), &id, &group)
		require.NoError(t, err)
		if foreground {
			require.Equal(t, syscall.Getpgrp(), group)
		} else {
			require.Equal(t, id, group)
		}
	}
}

func TestTerminateEndsAForegroundProcessAlone(t *testing.T) {
	process := shell(t, t.Context(), newLocal(t), "exec sleep 300", remote.Command{Foreground: true})
	process.Terminate()
	waitFor(t, process, 128+15)
}

// startWithHeir starts a shell that prints its id and that of a background
// process, which keeps the shell's output open when the shell has ended with
// code 4. The shell's last words are size bytes. Output is written to sink after
// the first line.
func startWithHeir(t *testing.T, ctx context.Context, local remote.Connection, size int, sink io.Writer) (process remote.Handle, shellID int) {
	t.Helper()
	first := &firstLine{rest: sink, line: make(chan string, 1)}
	script := fmt.Sprintf("sleep 300 & echo $$ $!; head -c %d /dev/zero; exit 4", size)
	process = shell(t, ctx, local, script, remote.Command{Stdout: first})
	var line string
	impatience := time.NewTimer(time.Minute)
	defer impatience.Stop()
	select {
	case line = <-first.line:
	case <-impatience.C:
		require.FailNow(t, "the shell does not print its id")
	}
	var heirID int
	_, err := fmt.Sscan(line, &shellID, &heirID)
	require.NoError(t, err)
	t.Cleanup(func() {
		// The state of one that was killed and that nobody took note of is Z.
		state, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(heirID)).Output()
		require.NoError(t, err, "the background process was killed")
		require.NotContains(t, string(state), "Z", "the background process was killed")
		require.NoError(t, syscall.Kill(heirID, syscall.SIGKILL))
	})
	return process, shellID
}

// firstLine hands out the first line and passes on the rest.
type firstLine struct {
	rest io.Writer
	seen []byte
	done bool
	line chan string
}

func (w *firstLine) Write(data []byte) (int, error) {
	if w.done {
		return w.rest.Write(data)
	}
	w.seen = append(w.seen, data...)
	line, rest, whole := bytes.Cut(w.seen, []byte("\n"))
	if whole {
		w.done = true
		w.line <- string(line)
		if _, err := w.rest.Write(rest); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}

// requireReaped waits until a child was waited for.
func requireReaped(t *testing.T, id int) {
	t.Helper()
	require.Eventually(t, func() bool { return syscall.Kill(id, 0) == syscall.ESRCH }, time.Minute, time.Millisecond)
}

func TestCancellingEndsTheWaitForOutputOfOthers(t *testing.T) {
	for _, end := range []string{"cancel", "Terminate"} {
		t.Run(end, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			local := newLingering(t, time.Hour)
			process, shellID := startWithHeir(t, ctx, local, 0, io.Discard)
			requireReaped(t, shellID)
			if end == "cancel" {
				cancel()
			} else {
				process.Terminate()
			}
			waitFor(t, process, 4)
		})
	}
}

func TestOutputThatIsLateToBeTakenIsComplete(t *testing.T) {
	const size = 50_000
	const linger = time.Millisecond
	local := newLingering(t, linger)
	gate := &gatedWriter{open: make(chan struct{})}
	process, shellID := startWithHeir(t, t.Context(), local, size, gate)
	requireReaped(t, shellID)
	deadline := time.NewTimer(5 * linger) // by then only what is in the pipe is left
	<-deadline.C
	close(gate.open)
	waitFor(t, process, 4)
	require.Equal(t, size, gate.count)
}

type gatedWriter struct {
	open  chan struct{}
	count int
}

func (w *gatedWriter) Write(data []byte) (int, error) {
	<-w.open
	w.count += len(data)
	return len(data), nil
}

func TestAProgramThatIsStillBeingWrittenIsWaitedFor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux refuses to execute a file that is open for writing")
	}
	path := filepath.Join(t.TempDir(), "program")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = file.WriteString("#!/bin/sh\nexit 9\n")
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = newLocal(t).Start(ctx, remote.Command{Arguments: []string{path}})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	closed := make(chan error, 1)
	time.AfterFunc(time.Second, func() { closed <- file.Close() })
	process, err := newLocal(t).Start(t.Context(), remote.Command{Arguments: []string{path}})
	require.NoError(t, err)
	waitFor(t, process, 9)
	require.NoError(t, <-closed)
}

func TestNoDescriptorIsLeftOpen(t *testing.T) {
	local := newLocal(t)
	count := func() int {
		entries, err := os.ReadDir("/dev/fd")
		require.NoError(t, err)
		return len(entries)
	}
	work := func() {
		var stdout, stderr bytes.Buffer
		waitFor(t, shell(t, t.Context(), local, "cat; echo x >&2", remote.Command{Stdin: strings.NewReader("x"), Stdout: &stdout, Stderr: &stderr}), 0)
		waitFor(t, shell(t, t.Context(), local, "cat", remote.Command{Terminal: &remote.Terminal{}, Stdin: strings.NewReader("x"), Stdout: &stdout}), 0)
		for _, terminal := range []*remote.Terminal{nil, {}} {
			_, err := local.Start(t.Context(), remote.Command{
				Arguments: []string{"sh", strings.Repeat("x", 1<<22)}, Terminal: terminal,
				Stdin: strings.NewReader("x"), Stdout: &stdout, Stderr: &stderr,
			})
			require.Error(t, err, "the arguments are too long")
		}
		require.NoError(t, local.WriteFile(t.Context(), filepath.Join(t.TempDir(), "file"), strings.NewReader("x"), 0o600))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector would close what was forgotten
	work()                                           // opens what the runtime keeps
	before := count()
	for range 5 {
		work()
	}
	require.Equal(t, before, count())
}

func TestFilesAreServedOnATerminalToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("typed\n"), 0o600))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	waitFor(t, shell(t, t.Context(), newLocal(t), "stty -echo; test -t 0 && test -t 1 && cat",
		remote.Command{Terminal: &remote.Terminal{}, Foreground: true, Stdin: file, Stdout: file}), 0)
	require.NoError(t, file.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Regexp(t, `typed\r\n$`, string(content))

	var none *os.File
	waitFor(t, shell(t, t.Context(), newLocal(t), "echo; cat", remote.Command{Terminal: &remote.Terminal{}, Stdin: none, Stdout: none}), 0)
}

func TestSizesBeyondWhatATerminalKnowsAreCut(t *testing.T) {
	var stdout bytes.Buffer
	terminal := &remote.Terminal{Size: remote.Size{Columns: 1 << 20, Rows: -1}}
	waitFor(t, shell(t, t.Context(), newLocal(t), "stty size", remote.Command{Terminal: terminal, Stdout: &stdout}), 0)
	require.Equal(t, "0 65535\r\n", stdout.String())
}

func TestSignalsReachNobodyOnceTheProcessIsReaped(t *testing.T) {
	local := newLingering(t, time.Hour)
	gate := &gatedWriter{open: make(chan struct{})}
	process, shellID := startWithHeir(t, t.Context(), local, 1, gate)
	requireReaped(t, shellID)
	// Its group lives, but its id may be given to others: what is left of it
	// is not to be reached by it.
	require.NoError(t, process.Signal(syscall.SIGKILL))
	close(gate.open)
	process.Terminate()
	waitFor(t, process, 4)
}

func TestNoGoroutineIsLeft(t *testing.T) {
	local := newLocal(t)
	for _, terminal := range []*remote.Terminal{nil, {Resized: make(chan remote.Size)}} {
		remotetest.GoroutinesEnd(t, func() {
			process := shell(t, t.Context(), local, "sleep 300", remote.Command{Terminal: terminal, Stdin: strings.NewReader("x"), Stdout: io.Discard})
			process.Terminate()
			waitFor(t, process, 128+15)
		})
	}
}

func BenchmarkStart(b *testing.B) {
	local := newLocal(b)
	var stdout bytes.Buffer
	for b.Loop() {
		stdout.Reset()
		process, err := local.Start(b.Context(), remote.Command{Arguments: []string{"true"}, Stdout: &stdout, Stderr: &stdout})
		require.NoError(b, err)
		_, err = process.Wait()
		require.NoError(b, err)
	}
}

func TestAPlaceWithoutAZoneIsInThatOfThisMachine(t *testing.T) {
	require.Same(t, time.Local, remote.Info{}.Location())
}

func TestAFileThatNeedNotLastIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	swift, isSwift := local.(interface {
		WriteTransient(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error
	})
	require.True(t, isSwift)
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, swift.WriteTransient(t.Context(), path, strings.NewReader("whole"), 0o640))

	broken := errors.New("broken source")
	require.ErrorIs(t, swift.WriteTransient(t.Context(), path, io.MultiReader(strings.NewReader("new"), iotest.ErrReader(broken)), 0o600), broken)

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "whole", string(content))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
