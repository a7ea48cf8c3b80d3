package remotetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// What a stream of any length may add to the memory in use, in bytes; it holds
// what the collector has not looked at yet. And how many bytes a second are to
// pass at least.
const (
	volumeMemory = 64 << 20
	volumeSpeed  = 4 << 20
)

func testVolume(t *testing.T, s *suite) {
	ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(s.options.Volume/volumeSpeed)*time.Second)
	t.Cleanup(cancel)

	t.Run("output of any length needs no memory", func(t *testing.T) {
		meter := newMemoryMeter(s.options.Volume)
		command := remote.Command{Arguments: []string{"head", "-c", fmt.Sprint(s.options.Volume), "/dev/zero"}, Stdout: meter}
		s.requireCode(t, ctx, command, 0)
		require.Equal(t, s.options.Volume, meter.count)
		meter.requireModest(t)
	})
	t.Run("nor does input", func(t *testing.T) {
		size := s.options.Volume / 4
		meter := newMemoryMeter(size)
		var stdout bytes.Buffer
		command := remote.Command{
			Arguments: []string{"wc", "-c"}, Stdout: &stdout,
			Stdin: io.TeeReader(io.LimitReader(zeros{}, size), meter),
		}
		s.requireCode(t, ctx, command, 0)
		require.Equal(t, fmt.Sprint(size), strings.TrimSpace(stdout.String()))
		meter.requireModest(t)
	})
	t.Run("both at once pass unchanged", func(t *testing.T) {
		size := min(8<<20, s.options.Volume)
		sent, received := sha256.New(), sha256.New()
		source := rand.NewChaCha8([32]byte{1})
		command := remote.Command{Arguments: []string{"cat"}, Stdin: io.TeeReader(io.LimitReader(source, size), sent), Stdout: received}
		s.requireCode(t, ctx, command, 0)
		require.Equal(t, sum(sent), sum(received))
	})
	t.Run("so do files", func(t *testing.T) {
		size := min(8<<20, s.options.Volume)
		path := s.temporaryDirectory(t) + "/large"
		sent, received := sha256.New(), sha256.New()
		content := io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{2}), size), sent)
		require.NoError(t, s.connection.WriteFile(ctx, path, content, 0o600))
		file, err := s.connection.Open(ctx, path)
		require.NoError(t, err)
		count, err := io.Copy(received, file)
		require.NoError(t, err)
		require.EqualValues(t, size, count)
		require.NoError(t, file.Close())
		require.Equal(t, sum(sent), sum(received))
	})
	t.Run("a process that outlives its command and prints for ever does not hold Wait", func(t *testing.T) {
		var stderr bytes.Buffer
		command := shellCommand("yes & echo $! >&2; exit 4")
		command.Stdout, command.Stderr = io.Discard, &stderr
		s.requireCode(t, ctx, command, 4)
		s.shell(t, `kill -KILL "$1"`, strings.TrimSpace(stderr.String())) // it may have ended by itself
		s.requireGone(t, strings.TrimSpace(stderr.String()))
	})
}

func sum(of hash.Hash) string { return fmt.Sprintf("%x", of.Sum(nil)) }

// requireCode runs a command to its end.
func (s *suite) requireCode(t *testing.T, ctx context.Context, command remote.Command, expected int) {
	t.Helper()
	process, err := s.connection.Start(ctx, command)
	require.NoError(t, err)
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, expected, code)
}

// zeros are without end.
type zeros struct{}

func (zeros) Read(buffer []byte) (int, error) {
	clear(buffer)
	return len(buffer), nil
}

// memoryMeter counts what is written to it, and looks every now and then at how
// much memory is in use.
type memoryMeter struct {
	count, step, next int64
	before, peak      uint64
}

func newMemoryMeter(expected int64) *memoryMeter {
	runtime.GC()
	return &memoryMeter{step: max(expected/32, 1), before: heapInUse()}
}

func heapInUse() uint64 {
	var statistics runtime.MemStats
	runtime.ReadMemStats(&statistics)
	return statistics.HeapInuse
}

func (m *memoryMeter) Write(data []byte) (int, error) {
	m.count += int64(len(data))
	if m.count >= m.next {
		m.peak = max(m.peak, heapInUse())
		m.next = m.count + m.step
	}
	return len(data), nil
}

func (m *memoryMeter) requireModest(t *testing.T) {
	t.Helper()
	require.Less(t, m.peak, m.before+volumeMemory, "bytes of memory in use")
}

func testParallel(t *testing.T, s *suite) {
	ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(s.options.Commands)*100*time.Millisecond)
	t.Cleanup(cancel)
	failures := make([]error, s.options.Commands)
	var group sync.WaitGroup
	for number := range s.options.Commands {
		group.Go(func() { failures[number] = s.runNumbered(ctx, number) })
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
}

// runNumbered runs a command whose outputs and exit code identify it.
func (s *suite) runNumbered(ctx context.Context, number int) error {
	text := fmt.Sprint("command ", number)
	var stdout, stderr bytes.Buffer
	command := shellCommand(`cat; echo "$1" >&2; exit "$2"`, text, fmt.Sprint(number%256))
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(text), &stdout, &stderr
	process, err := s.connection.Start(ctx, command)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	code, err := process.Wait()
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	if code != number%256 || stdout.String() != text || stderr.String() != text+"\n" {
		return fmt.Errorf("%s: code %d, stdout %q, stderr %q", text, code, stdout.String(), stderr.String())
	}
	return nil
}
