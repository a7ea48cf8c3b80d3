package remotetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

func testTerminals(t *testing.T, s *suite) {
	// To make a terminal, and to end it, is mostly waiting.
	run := func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
	run("a process has one for all its streams", func(t *testing.T) {
		script := `test -t 0 && test -t 1 && test -t 2 && stty size < /dev/tty`
		require.Equal(t, result{"43 132\r\n", "", 0}, s.onTerminal(t, shellCommand(script)))
	})
	run("without one it has none", func(t *testing.T) {
		require.Zero(t, s.shell(t, `! test -t 0 && ! test -t 1 && ! test -t 2`).code)
	})
	run("errors go to Stdout, and lines end as on a terminal", func(t *testing.T) {
		require.Equal(t, result{"out\r\nerr\r\n", "", 7}, s.onTerminal(t, shellCommand("echo out; echo err >&2; exit 7")))
	})
	run("TERM is its type", func(t *testing.T) {
		require.Equal(t, "vt220\r\n", s.onTerminal(t, shellCommand("echo $TERM")).stdout)
		command := shellCommand("echo $TERM")
		command.Unset = []string{"TERM"} // that of the place, not of the command
		require.Equal(t, "vt220\r\n", s.onTerminal(t, command).stdout)
		command.Environment = map[string]string{"TERM": "ansi"}
		require.Equal(t, "ansi\r\n", s.onTerminal(t, command).stdout)
		command = shellCommand("echo $TERM")
		command.Terminal = &remote.Terminal{}
		require.Equal(t, "dumb\r\n", s.run(t, command).stdout)
	})
	run("arguments, environment and directory are those of the command", func(t *testing.T) {
		command := shellCommand(`stty -opost; printf '%s|' "$@" "$RMCTL_TEXT" "$PWD"`, hostileTexts()...)
		command.Environment = map[string]string{"RMCTL_TEXT": "a 'b' \"c\" $d\n"}
		command.Directory = "/"
		expected := strings.Join(hostileTexts(), "|") + "|a 'b' \"c\" $d\n|/|"
		require.Equal(t, expected, s.onTerminal(t, command).stdout)
	})
	run("what is typed is echoed and read, to its end", func(t *testing.T) {
		command := remote.Command{Arguments: []string{"cat"}, Stdin: strings.NewReader("hello\n")}
		require.Equal(t, result{"hello\r\nhello\r\n", "", 0}, s.onTerminal(t, command))
	})
	run("the end is seen after an unfinished line too", func(t *testing.T) {
		command := remote.Command{Arguments: []string{"cat"}, Stdin: strings.NewReader("hel")}
		require.Equal(t, result{"helhel", "", 0}, s.onTerminal(t, command))
	})
	run("without a reader there is no input", func(t *testing.T) {
		require.Equal(t, result{"", "", 0}, s.onTerminal(t, remote.Command{Arguments: []string{"cat"}}))
	})
	run("a signal is 128 plus its number", func(t *testing.T) {
		require.Equal(t, 128+9, s.onTerminal(t, shellCommand("kill -KILL $$")).code)
	})
	run("large output is complete", func(t *testing.T) {
		const size = 1 << 20
		flood := s.onTerminal(t, shellCommand(fmt.Sprintf(`head -c %d /dev/zero | tr '\0' x; echo; echo end`, size)))
		require.Zero(t, flood.code)
		require.Equal(t, size+len("\r\nend\r\n"), len(flood.stdout))
		require.Equal(t, strings.Repeat("x", size), flood.stdout[:size])
	})
	run("sizes are followed", func(t *testing.T) { testSizes(t, s) })
	run("Ctrl-C interrupts", func(t *testing.T) {
		// Without noflsh the system drops what the program prints before the terminal was flushed.
		talk := s.converse(t, timeLimit(t), "stty -echo noflsh; trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.05; done")
		talk.expect(t, "ready\r\n")
		talk.write(t, "\x03")
		talk.expect(t, "interrupted\r\n")
		talk.ends(t, 3)

		talk = s.converse(t, timeLimit(t), "echo ready; exec sleep 300")
		talk.expect(t, "ready\r\n")
		talk.write(t, "\x03")
		talk.ends(t, 128+2)
	})
	run("bytes pass unchanged when the program wants it so", func(t *testing.T) {
		talk := s.converse(t, timeLimit(t), "stty raw -echo; echo ready; dd bs=1 count=256 2>/dev/null; exit 4")
		talk.expect(t, "ready\n")
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		talk.write(t, string(all))
		talk.expect(t, string(all))
		talk.ends(t, 4)
	})
	run("a conversation goes to and fro", func(t *testing.T) {
		talk := s.converse(t, timeLimit(t), `stty -echo; printf 'name? '; read name; printf 'hello %s\n' "$name"; read more; exit 5`)
		talk.expect(t, "name? ")
		talk.write(t, "World\n")
		talk.expect(t, "hello World\r\n")
		talk.write(t, "bye\n")
		talk.ends(t, 5)
	})
	run("a background process that keeps it does not hold Wait", func(t *testing.T) {
		talk := s.converse(t, timeLimit(t), `trap '' HUP; sleep 300 & echo $!; exit 4`)
		id := s.readWords(t, talk.output, 1)[0]
		talk.ends(t, 4)
		s.shell(t, `kill -KILL "$1"`, id)
		s.requireGone(t, id)
	})
	run("ending it ends what runs on it", func(t *testing.T) { testTerminalEnding(t, s) })
}

func testSizes(t *testing.T, s *suite) {
	sizes := make(chan remote.Size)
	command := shellCommand(`trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done`)
	command.Terminal = &remote.Terminal{Size: remote.Size{Columns: 80, Rows: 24}, Resized: sizes}
	talk := s.converseWith(t, timeLimit(t), command)
	talk.expect(t, "ready\r\n")
	for _, size := range []remote.Size{{Columns: 100, Rows: 50}, {Columns: 1000, Rows: 1}, {Columns: 80, Rows: 25}} {
		select {
		case sizes <- size:
		case <-timeLimit(t).Done():
			require.FailNow(t, "nobody takes the size")
		}
		talk.expect(t, fmt.Sprintf("%d %d\r\n", size.Rows, size.Columns))
	}
	close(sizes)
	talk.process.Terminate()
	talk.ends(t, 128+15)
}

func testTerminalEnding(t *testing.T, s *suite) {
	// With -m the shell gives each command a group of its own, as interactive
	// ones do.
	const jobs = "set -m; sh -c \"$1\" & sh -c \"$1\" & echo $$; wait"
	start := func(t *testing.T, ctx context.Context, s *suite, work string) (*conversation, []string) {
		command := shellCommand(jobs, "echo $$; "+work)
		command.Terminal = &remote.Terminal{}
		talk := s.converseWith(t, ctx, command)
		return talk, s.readWords(t, talk.output, 3)
	}
	requireEnded := func(t *testing.T, talk *conversation, ids []string) {
		_, err := talk.process.Wait()
		require.NoError(t, err)
		for _, id := range ids {
			s.requireGone(t, id)
		}
	}
	t.Run("by cancelling", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(timeLimit(t))
		defer cancel()
		talk, ids := start(t, ctx, s, "exec sleep 300")
		cancel()
		requireEnded(t, talk, ids)
	})
	t.Run("by Terminate", func(t *testing.T) {
		t.Parallel()
		talk, ids := start(t, timeLimit(t), s, "exec sleep 300")
		talk.process.Terminate()
		requireEnded(t, talk, ids)
	})
	t.Run("though it does not want to", func(t *testing.T) {
		t.Parallel()
		talk, ids := start(t, timeLimit(t), s.impatient(t), "trap '' TERM HUP; while :; do sleep 0.05; done")
		talk.process.Terminate()
		requireEnded(t, talk, ids)
	})
	t.Run("a shell that heeds only the hang-up too", func(t *testing.T) {
		t.Parallel()
		talk := s.converse(t, timeLimit(t), "trap '' TERM; trap 'exit 42' HUP; echo ready; while :; do sleep 0.01; done")
		talk.expect(t, "ready\r\n")
		talk.process.Terminate()
		talk.ends(t, 42)
	})
	t.Run("a process may end in its own way", func(t *testing.T) {
		t.Parallel()
		talk := s.converse(t, timeLimit(t), "trap '' HUP; trap 'exit 42' TERM; echo ready; while :; do sleep 0.01; done")
		talk.expect(t, "ready\r\n")
		talk.process.Terminate()
		talk.ends(t, 42)
	})
}

// onTerminal runs a command to its end, on a terminal if it names none.
func (s *suite) onTerminal(t *testing.T, command remote.Command) result {
	t.Helper()
	command.Terminal = &remote.Terminal{Type: "vt220", Size: remote.Size{Columns: 132, Rows: 43}}
	return s.run(t, command)
}

// conversation is a process with which a test talks.
type conversation struct {
	process remote.Handle
	output  *io.PipeReader
	input   *io.PipeWriter
}

// converse starts a script on a terminal.
func (s *suite) converse(t *testing.T, ctx context.Context, script string) *conversation {
	t.Helper()
	command := shellCommand(script)
	command.Terminal = &remote.Terminal{Size: remote.Size{Columns: 80, Rows: 24}}
	return s.converseWith(t, ctx, command)
}

// converseWith starts a command whose input and output are the test's.
func (s *suite) converseWith(t *testing.T, ctx context.Context, command remote.Command) *conversation {
	t.Helper()
	output, stdout := io.Pipe()
	stdin, input := io.Pipe()
	command.Stdin, command.Stdout = stdin, stdout
	process, err := s.connection.Start(ctx, command)
	require.NoError(t, err)
	done := boundReads(t, output)
	t.Cleanup(func() {
		done()
		process.Terminate()
		require.NoError(t, output.Close())
		require.NoError(t, input.Close())
	})
	return &conversation{process, output, input}
}

// expect reads what the process must print next.
func (c *conversation) expect(t *testing.T, text string) {
	t.Helper()
	read := make([]byte, len(text))
	count, err := io.ReadFull(c.output, read)
	require.NoError(t, err, "after %q", read[:count])
	require.Equal(t, text, string(read))
}

func (c *conversation) write(t *testing.T, text string) {
	t.Helper()
	_, err := io.Copy(c.input, bytes.NewBufferString(text))
	require.NoError(t, err)
}

// ends waits for the end of the process; what it prints until then passes.
func (c *conversation) ends(t *testing.T, code int) {
	t.Helper()
	passed := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, c.output)
		passed <- err
	}()
	actual, err := c.process.Wait()
	require.NoError(t, err)
	require.Equal(t, code, actual)
	require.NoError(t, c.output.Close())
	require.ErrorIs(t, <-passed, io.ErrClosedPipe)
}
