package remotetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

func testInfo(t *testing.T, s *suite) {
	info := s.connection.Info()
	require.NotEmpty(t, info.Transport)
	require.NotEmpty(t, info.Host)
	require.True(t, strings.HasPrefix(info.Home, "/"), info.Home)
	require.Equal(t, s.shell(t, "id -un").stdout, info.User+"\n")
	if info.System != "" {
		require.Equal(t, strings.ToLower(s.shell(t, "uname -s").stdout), info.System+"\n")
	}
	if info.Arch != "" {
		require.Equal(t, s.shell(t, "uname -m").stdout, info.Arch+"\n")
	}
	require.Equal(t, s.shell(t, "date +%z").stdout, time.Now().In(info.Location()).Format("-0700")+"\n")
}

func testExitCodes(t *testing.T, s *suite) {
	t.Run("the code of the process is returned", func(t *testing.T) {
		for _, code := range []int{0, 1, 2, 127, 130, 255} {
			require.Equal(t, code, s.shell(t, `exit "$1"`, fmt.Sprint(code)).code)
		}
	})
	t.Run("a signal is 128 plus its number", func(t *testing.T) {
		require.Equal(t, 128+9, s.shell(t, "kill -KILL $$").code)
		require.Equal(t, 128+15, s.shell(t, "kill -TERM $$").code)
	})
	t.Run("waiting again returns the same", func(t *testing.T) {
		process, err := s.connection.Start(timeLimit(t), shellCommand("exit 7"))
		require.NoError(t, err)
		for range 2 {
			code, err := process.Wait()
			require.NoError(t, err)
			require.Equal(t, 7, code)
		}
		process.Terminate()
	})
}

func testStreams(t *testing.T, s *suite) {
	t.Run("stdout and stderr are kept apart", func(t *testing.T) {
		require.Equal(t, result{"out\n", "err\n", 0}, s.shell(t, "echo out; echo err >&2"))
	})
	t.Run("bytes pass unchanged", func(t *testing.T) {
		require.Equal(t, "\x00\xff\r\n\x1b[0m no newline", s.shell(t, `printf '\000\377\r\n\033[0m no newline'`).stdout)
	})
	t.Run("streams without a writer are discarded", func(t *testing.T) {
		process, err := s.connection.Start(timeLimit(t), shellCommand("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 3"))
		require.NoError(t, err)
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 3, code)
	})
	t.Run("one writer for both keeps their order", func(t *testing.T) {
		var merged bytes.Buffer
		var expected strings.Builder
		for i := range 100 {
			fmt.Fprintf(&expected, "o%d\ne%d\n", i, i)
		}
		command := shellCommand(`i=0; while [ $i -lt 100 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done`)
		command.Stdout, command.Stderr = &merged, &merged
		process, err := s.connection.Start(timeLimit(t), command)
		require.NoError(t, err)
		_, err = process.Wait()
		require.NoError(t, err)
		require.Equal(t, expected.String(), merged.String())
	})
	t.Run("large output on both streams at once is complete", func(t *testing.T) {
		const size = 8 << 20
		flood := s.shell(t, fmt.Sprintf(`head -c %d /dev/zero | tr '\0' e >&2 & head -c %d /dev/zero | tr '\0' o; wait`, size, size))
		require.Zero(t, flood.code)
		require.Equal(t, sha256.Sum256(bytes.Repeat([]byte("o"), size)), sha256.Sum256([]byte(flood.stdout)))
		require.Equal(t, sha256.Sum256(bytes.Repeat([]byte("e"), size)), sha256.Sum256([]byte(flood.stderr)))
	})
	t.Run("output arrives while the process runs", func(t *testing.T) {
		reader, writer := io.Pipe()
		hold, release := io.Pipe()
		command := shellCommand("echo first; read answer; echo $answer")
		command.Stdout, command.Stdin = writer, hold
		process, err := s.connection.Start(timeLimit(t), command)
		require.NoError(t, err)
		defer boundReads(t, reader)()

		line := make([]byte, len("first\n"))
		_, err = io.ReadFull(reader, line)
		require.NoError(t, err)
		require.Equal(t, "first\n", string(line))

		_, err = io.WriteString(release, "second\n")
		require.NoError(t, err)
		answer := make([]byte, len("second\n"))
		_, err = io.ReadFull(reader, answer)
		require.NoError(t, err)
		require.Equal(t, "second\n", string(answer))
		require.NoError(t, release.Close())
		_, err = process.Wait()
		require.NoError(t, err)
	})
	t.Run("a writer that fails is reported beside the code", func(t *testing.T) {
		full := errors.New("no room")
		command := shellCommand("head -c 1000000 /dev/zero; exit 5")
		command.Stdout = failingWriter{full}
		process, err := s.connection.Start(timeLimit(t), command)
		require.NoError(t, err)
		code, err := process.Wait()
		require.ErrorIs(t, err, full)
		require.Equal(t, 5, code)
	})
	t.Run("a slow writer loses nothing", func(t *testing.T) {
		gate := &gatedWriter{open: make(chan struct{})}
		command := shellCommand(`head -c 60000 /dev/zero`)
		command.Stdout = gate
		process, err := s.connection.Start(timeLimit(t), command)
		require.NoError(t, err)
		close(gate.open)
		_, err = process.Wait()
		require.NoError(t, err)
		require.Equal(t, 60000, gate.count)
	})
	t.Run("a background process that keeps the streams does not hold Wait", func(t *testing.T) {
		var stdout bytes.Buffer
		command := shellCommand("sleep 300 & echo $!; exit 4")
		command.Stdout = &stdout
		process, err := s.connection.Start(timeLimit(t), command)
		require.NoError(t, err)
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 4, code)

		id := strings.TrimSpace(stdout.String())
		require.True(t, s.exists(t, id), "the background process was killed")
		require.Zero(t, s.shell(t, `kill "$1"`, id).code)
	})
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// gatedWriter accepts data once it is open.
type gatedWriter struct {
	open  chan struct{}
	count int
}

func (w *gatedWriter) Write(data []byte) (int, error) {
	<-w.open
	w.count += len(data)
	return len(data), nil
}

func testInput(t *testing.T, s *suite) {
	t.Run("without a reader nothing is written", func(t *testing.T) {
		require.Equal(t, result{"", "", 0}, s.run(t, remote.Command{Arguments: []string{"cat"}}))
	})
	t.Run("it passes unchanged", func(t *testing.T) {
		text := strings.Join(hostileTexts(), "\x00")
		require.Equal(t, text, s.run(t, remote.Command{Arguments: []string{"cat"}, Stdin: strings.NewReader(text)}).stdout)
	})
	t.Run("a large one passes completely", func(t *testing.T) {
		const size = 4 << 20
		command := remote.Command{Arguments: []string{"wc", "-c"}, Stdin: bytes.NewReader(make([]byte, size))}
		require.Equal(t, fmt.Sprint(size), strings.TrimSpace(s.run(t, command).stdout))
	})
	t.Run("a process need not read it", func(t *testing.T) {
		command := shellCommand("exit 6")
		command.Stdin = bytes.NewReader(make([]byte, 4<<20))
		require.Equal(t, 6, s.run(t, command).code)
	})
	t.Run("a reader that blocks does not hold Wait", func(t *testing.T) {
		reader, writer := io.Pipe()
		command := shellCommand("exit 8")
		command.Stdin = reader
		require.Equal(t, 8, s.run(t, command).code)
		require.NoError(t, writer.Close())
	})
	t.Run("a reader that fails is reported beside the code", func(t *testing.T) {
		broken := errors.New("broken source")
		command := shellCommand("cat; exit 9")
		command.Stdin = io.MultiReader(strings.NewReader("some"), failingReader{broken})
		process, err := s.connection.Start(timeLimit(t), command)
		require.NoError(t, err)
		code, err := process.Wait()
		require.ErrorIs(t, err, broken)
		require.Equal(t, 9, code)
	})
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func testConcurrency(t *testing.T, s *suite) {
	ctx := timeLimit(t)
	directory := s.temporaryDirectory(t)
	const workers, rounds = 8, 4
	failures := make(chan error, workers*rounds)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for round := range rounds {
				failures <- s.writeAndRun(ctx, directory, fmt.Sprintf("%d.%d", worker, round))
			}
		})
	}
	group.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
}

// writeAndRun writes a script and runs it at once. What it prints identifies it.
func (s *suite) writeAndRun(ctx context.Context, directory, text string) error {
	script := "#!/bin/sh\ncat; echo \"$1\" >&2; exit 3\n"
	path := directory + "/" + text
	if err := s.connection.WriteFile(ctx, path, strings.NewReader(script), 0o700); err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	process, err := s.connection.Start(ctx, remote.Command{
		Arguments: []string{path, text}, Stdin: strings.NewReader(text), Stdout: &stdout, Stderr: &stderr,
	})
	if err != nil {
		return err
	}
	code, err := process.Wait()
	if err != nil {
		return err
	}
	if code != 3 || stdout.String() != text || stderr.String() != text+"\n" {
		return fmt.Errorf("command %s: code %d, stdout %q, stderr %q", text, code, stdout.String(), stderr.String())
	}
	return nil
}

func testEnding(t *testing.T, s *suite) {
	// What does not want to end takes a connection its grace period: together.
	t.Run("cancelling ends the whole group", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(timeLimit(t))
		defer cancel()
		process, ids := s.startPair(t, ctx, "", "sleep 300")
		cancel()
		s.requireKilled(t, process, 15, ids)
	})
	t.Run("Terminate does the same", func(t *testing.T) {
		t.Parallel()
		process, ids := s.startPair(t, timeLimit(t), "", "sleep 300")
		process.Terminate()
		process.Terminate()
		s.requireKilled(t, process, 15, ids)
	})
	t.Run("a process may end in its own way", func(t *testing.T) {
		t.Parallel()
		process, _ := s.startPair(t, timeLimit(t), "trap 'exit 42' TERM", "while :; do sleep 0.01; done")
		process.Terminate()
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 42, code)
	})
	t.Run("a group that does not want to end is killed", func(t *testing.T) {
		t.Parallel()
		s := s.impatient(t)
		process, ids := s.startPair(t, timeLimit(t), "trap '' TERM", "while :; do sleep 0.05; done")
		process.Terminate()
		s.requireKilled(t, process, 9, ids)
	})
	t.Run("a child that does not want to end is killed with its parent", func(t *testing.T) {
		t.Parallel()
		s := s.impatient(t)
		reader, writer := io.Pipe()
		command := shellCommand(`sh -c 'trap "" TERM; echo $$; while :; do sleep 0.05; done' & wait`)
		command.Stdout = writer
		process, err := s.connection.Start(timeLimit(t), command)
		require.NoError(t, err)
		id := s.readWords(t, reader, 1)[0]
		process.Terminate()
		_, err = process.Wait()
		require.NoError(t, err)
		s.requireGone(t, id)
	})
	t.Run("a stopped process is asked too", func(t *testing.T) {
		t.Parallel()
		process, ids := s.startPair(t, timeLimit(t), "trap 'exit 42' TERM", "while :; do sleep 0.01; done")
		for _, id := range ids {
			require.Zero(t, s.shell(t, `kill -STOP "$1"`, id).code)
		}
		process.Terminate()
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 42, code)
	})
	t.Run("a context that is done starts nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.connection.Start(ctx, shellCommand("exit 0"))
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("cancelling after the end changes nothing", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(timeLimit(t), time.Hour)
		process, err := s.connection.Start(ctx, shellCommand("exit 5"))
		require.NoError(t, err)
		_, err = process.Wait()
		require.NoError(t, err)
		cancel()
		code, err := process.Wait()
		require.NoError(t, err)
		require.Equal(t, 5, code)
	})
}

// startPair starts a shell and a child of it. Both do the preparation, print
// their process ids, which startPair returns, and do the work.
func (s *suite) startPair(t *testing.T, ctx context.Context, preparation, work string) (remote.Handle, []string) {
	t.Helper()
	reader, writer := io.Pipe()
	command := shellCommand(`sh -c "$1" & eval "$1"`, preparation+"\necho $$\n"+work)
	command.Stdout = writer
	process, err := s.connection.Start(ctx, command)
	require.NoError(t, err)
	return process, s.readWords(t, reader, 2)
}

// readWords reads that many words from the output of a process, and lets the
// rest of the output pass.
func (s *suite) readWords(t *testing.T, output *io.PipeReader, count int) []string {
	t.Helper()
	read := boundReads(t, output)
	words := make([]string, count)
	for i := range words {
		_, err := fmt.Fscan(output, &words[i])
		require.NoError(t, err, "after the words %q", words[:i])
	}
	read()
	drained := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, output)
		drained <- err
	}()
	t.Cleanup(func() {
		require.NoError(t, output.Close())
		require.ErrorIs(t, <-drained, io.ErrClosedPipe)
	})
	return words
}

// boundReads lets reads of a pipe fail that wait for too long, until done is called: a process
// that does not print what is expected must not hold the test.
func boundReads(t *testing.T, output *io.PipeReader) (done func() bool) {
	t.Helper()
	return context.AfterFunc(timeLimit(t), func() { output.CloseWithError(context.DeadlineExceeded) })
}
