package channel_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// onlyOne returns a connection to a host that opens one channel at a time.
func onlyOne(t *testing.T, settings channel.Settings) (remote.Connection, *localDialer) {
	t.Helper()
	dialer := loginShell(t, "sh")
	dialer.limit = 1
	settings.Channels = 1
	return connect(t, dialer, settings), dialer
}

func run(t *testing.T, connection remote.Connection, command remote.Command) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	command.Stdout, command.Stderr = &out, &err
	process, failure := connection.Start(t.Context(), command)
	require.NoError(t, failure)
	code, failure = process.Wait()
	require.NoError(t, failure)
	return out.String(), err.String(), code
}

func shell(script string, arguments ...string) remote.Command {
	return remote.Command{Arguments: append([]string{"sh", "-c", script, "sh"}, arguments...)}
}

func TestEverythingWorksInTurnOverOneChannel(t *testing.T) {
	t.Parallel()
	connection, _ := onlyOne(t, quick())
	directory := t.TempDir()
	var group sync.WaitGroup
	failures := make([]error, 4)
	for number := range failures {
		group.Go(func() { failures[number] = workInTurn(t.Context(), connection, directory, number) })
	}
	group.Wait()
	for _, failure := range failures {
		require.NoError(t, failure)
	}
}

func workInTurn(ctx context.Context, connection remote.Connection, directory string, number int) error {
	text := fmt.Sprint("text ", number)
	if err := connection.WriteFile(ctx, directory+"/"+text, strings.NewReader(text), 0o600); err != nil {
		return err
	}
	file, err := connection.Open(ctx, directory+"/"+text)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(file)
	if err != nil || string(content) != text {
		return fmt.Errorf("read %q: %w", content, err)
	}
	commands := []remote.Command{shell(`printf %s "$1"`, text), {Arguments: []string{"cat"}, Stdin: strings.NewReader(text)}}
	commands = append(commands, shell(`printf %s "$1"`, text))
	commands[2].Terminal = &remote.Terminal{}
	for _, command := range commands {
		var stdout bytes.Buffer
		command.Stdout = &stdout
		process, err := connection.Start(ctx, command)
		if err != nil {
			return err
		}
		if code, err := process.Wait(); err != nil || code != 0 || stdout.String() != text {
			return fmt.Errorf("code %d, printed %q: %w", code, stdout.String(), err)
		}
	}
	return file.Close()
}

// firstWrite reports the first output.
type firstWrite struct {
	once sync.Once
	seen chan struct{}
}

func (w *firstWrite) Write(data []byte) (int, error) {
	w.once.Do(func() { close(w.seen) })
	return len(data), nil
}

func (w *firstWrite) await(t *testing.T) {
	t.Helper()
	awaitClosed(t, w.seen, "the command prints nothing")
}

func TestAProcessCanBeEndedOverTheOneChannel(t *testing.T) {
	t.Parallel()
	for name, expected := range map[string]struct {
		script string
		signal syscall.Signal
		code   int
	}{
		"asked":           {"echo; sleep 300", 0, 128 + 15},
		"in its own way":  {"trap 'exit 42' TERM; echo; while :; do sleep 0.01; done", 0, 42},
		"unwilling":       {"trap '' TERM; echo; while :; do sleep 0.01; done", 0, 128 + 9},
		"signalled":       {"trap 'exit 5' USR1; echo; while :; do sleep 0.01; done", syscall.SIGUSR1, 5},
		"with an heir":    {"(trap '' TERM; echo; while :; do sleep 0.01; done) & wait", 0, 128 + 15},
		"that is stopped": {"trap 'exit 42' TERM; (until ps -o state= -p $$ | grep -q T; do :; done; echo) & kill -STOP $$; while :; do sleep 0.01; done", 0, 42},
	} {
		for _, input := range []io.Reader{nil, strings.NewReader("")} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				settings := quick()
				if expected.code == 128+9 {
					settings = impatient()
				}
				connection, _ := onlyOne(t, settings)
				output := &firstWrite{seen: make(chan struct{})}
				command := shell(expected.script)
				command.Stdout, command.Stdin = output, input
				process, err := connection.Start(t.Context(), command)
				require.NoError(t, err)
				output.await(t)
				if expected.signal != 0 {
					require.NoError(t, process.Signal(expected.signal))
				} else {
					process.Terminate()
				}
				code, err := process.Wait()
				require.NoError(t, err)
				require.Equal(t, expected.code, code)
				_, _, code = run(t, connection, shell("exit 3"))
				require.Equal(t, 3, code, "the next command")
			})
		}
	}
}

// A signal for the program meets all who serve it, at whatever moment: they ignore it
// since before they began.
func TestWhoServesAProcessOverTheOneChannelIgnoresItsSignals(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not show which signals are ignored")
	}
	for _, replacement := range []string{"/bin/dash", "/bin/bash --posix", "/bin/busybox sh", "/bin/zsh --emulate sh"} {
		t.Run(replacement, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(strings.Fields(replacement)[0]); err != nil {
				t.Skip(err)
			}
			dialer := loginShell(t, "sh")
			dialer.replace = func(line string) string { return strings.ReplaceAll(line, "/bin/sh", replacement) }
			dialer.limit = 1
			settings := quick()
			settings.Channels = 1
			connection := connect(t, dialer, settings)
			output := &firstWrite{seen: make(chan struct{})}
			command := shell("echo; exec sleep 300")
			command.Stdin, command.Stdout, command.Stderr = strings.NewReader(""), output, io.Discard
			process, err := connection.Start(t.Context(), command)
			require.NoError(t, err)
			output.await(t)
			ids, err := exec.Command("ps", "-o", "pid=", "--sid", fmt.Sprint(dialer.ids()[0])).Output()
			require.NoError(t, err)
			heeding := 0
			for _, id := range strings.Fields(string(ids)) {
				status, err := os.ReadFile("/proc/" + id + "/status")
				require.NoError(t, err)
				_, ignored, _ := strings.Cut(string(status), "SigIgn:")
				mask, err := strconv.ParseUint(strings.Fields(ignored)[0], 16, 64)
				require.NoError(t, err)
				if mask&(1<<(syscall.SIGTERM-1)) == 0 {
					heeding++
				}
			}
			require.Equal(t, 1, heeding, "who heeds signals besides the program")
			process.Terminate()
			code, err := process.Wait()
			require.NoError(t, err)
			require.Equal(t, 128+15, code)
		})
	}
}

func TestACommandThatIsCanceledWhileItWaitsNeverStarts(t *testing.T) {
	t.Parallel()
	connection, dialer := onlyOne(t, quick())
	output := &firstWrite{seen: make(chan struct{})}
	command := shell("echo; sleep 300")
	command.Stdout = output
	process, err := connection.Start(t.Context(), command)
	require.NoError(t, err)
	output.await(t)

	ctx, cancel := context.WithCancel(t.Context())
	canceled := make(chan error, 1)
	go func() {
		_, err := connection.Start(ctx, shell("exit 0"))
		canceled <- err
	}()
	cancel()
	require.ErrorIs(t, <-canceled, context.Canceled)
	process.Terminate()
	_, err = process.Wait()
	require.NoError(t, err)
	_, all := dialer.counts()
	require.Equal(t, 1, all)
}

func TestTheLimitOfThePlaceIsFoundOut(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			worksTogether(t.Context(), t, limited(t, limit))
		})
	}
}

func TestTheLimitIsFoundOutAlthoughMoreChannelsCountedAsOpen(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			dialer := loginShell(t, "sh")
			dialer.limit = limit
			settings := quick()
			settings.Patience = time.Second
			connection := connect(t, dialer, settings)
			channel.Overcount(connection, limit+1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			worksTogether(ctx, t, connection)
		})
	}
}

// worksTogether uses a connection for several files and commands at once.
func worksTogether(ctx context.Context, t *testing.T, connection remote.Connection) {
	t.Helper()
	failures := make([]error, 6)
	var group sync.WaitGroup
	directory := t.TempDir()
	for number := range failures {
		group.Go(func() { failures[number] = workInTurn(ctx, connection, directory, number) })
	}
	group.Wait()
	for _, failure := range failures {
		require.NoError(t, failure)
	}
}

// limited returns a connection to a host that opens few channels at once, which is
// not known yet.
func limited(t *testing.T, limit int) remote.Connection {
	t.Helper()
	dialer := loginShell(t, "sh")
	dialer.limit = limit
	return connect(t, dialer, quick())
}

func TestWhatRunsIsEndedWhereFurtherChannelsEndAtOnce(t *testing.T) {
	t.Parallel()
	dialer := loginShell(t, "sh")
	connection := connect(t, dialer, quick())
	process, err := connection.Start(t.Context(), shell("exec sleep 300"))
	require.NoError(t, err)
	dialer.refuse()
	_, err = connection.Start(t.Context(), shell("exit 0"))
	require.ErrorContains(t, err, "no processes left")
	require.NoError(t, process.Signal(syscall.SIGCONT))
	process.Terminate()
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 128+15, code)
}

// The shell through which a signal goes runs a command, which may end just then.
func TestASignalArrivesThoughWhatRunsBesideItEnds(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"through the shell of the process": true, "through that of another": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dialer := loginShell(t, "sh")
			dialer.limit = 2
			sending, ended := make(chan struct{}), make(chan struct{})
			begun := sync.OnceFunc(func() { close(sending) })
			dialer.hears = func(input []byte) {
				if bytes.HasPrefix(input, []byte("!")) {
					begun()
					<-ended
				}
			}
			connection := connect(t, dialer, quick())
			pipe := filepath.Join(t.TempDir(), "pipe")
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			ending := shell(`echo; exec cat "$1"`, pipe)
			lasting := shell("trap 'exit 42' TERM; echo; while :; do sleep 0.01; done")
			if !own {
				input, hold := io.Pipe()
				t.Cleanup(func() { require.NoError(t, hold.Close()) })
				lasting.Stdin = input
			}
			processes := make([]remote.Handle, 2)
			for i, command := range []remote.Command{ending, lasting} {
				output := &firstWrite{seen: make(chan struct{})}
				command.Stdout = output
				var err error
				processes[i], err = connection.Start(t.Context(), command)
				require.NoError(t, err)
				output.await(t)
			}
			signalled := make(chan error, 1)
			if own {
				go func() { signalled <- processes[0].Signal(syscall.SIGCONT) }()
			} else {
				processes[1].Terminate()
				signalled <- nil
			}
			awaitClosed(t, sending, "nobody sends a signal")
			writer, err := remotetest.OpenPipe(pipe)
			require.NoError(t, err)
			require.NoError(t, writer.Close())
			code, err := processes[0].Wait()
			require.NoError(t, err)
			require.Zero(t, code)
			close(ended)
			require.NoError(t, <-signalled)
			processes[1].Terminate()
			code, err = processes[1].Wait()
			require.NoError(t, err)
			require.Equal(t, 42, code)
		})
	}
}

func awaitClosed(t *testing.T, closed <-chan struct{}, otherwise string) {
	t.Helper()
	impatience := time.NewTimer(time.Minute)
	defer impatience.Stop()
	select {
	case <-closed:
	case <-impatience.C:
		require.FailNow(t, otherwise)
	}
}

func TestWhatRunsIsEndedWhereAllChannelsAreTaken(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			open := func(settings channel.Settings) func(t *testing.T) remote.Connection {
				return func(t *testing.T) remote.Connection {
					dialer := loginShell(t, "sh")
					dialer.limit = limit
					connection, err := channel.New(t.Context(), dialer, settings)
					require.NoError(t, err)
					return connection
				}
			}
			remotetest.RunFull(t, limit, limit, open(quick()), open(impatient()))
		})
	}
}
