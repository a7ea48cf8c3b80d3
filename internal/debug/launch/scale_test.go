package launch_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/launch"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/remote"
)

// played are ranks that another process plays, behind a relay.
type played struct {
	session *debug.Session
	all     debug.Ranks
}

// play connects a session to ranks, and returns once all have joined.
func play(t testing.TB, count int) played {
	t.Helper()
	folder, err := os.MkdirTemp("/var/tmp", "rmctl-debug-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	rmctltest.NodeProgram(t, folder)
	local, err := remote.NewLocal()
	require.NoError(t, err)
	directory, err := nodes.NewDirectory(local, filepath.Join(folder, "node"), filepath.Join(folder, "rmctl"))
	require.NoError(t, err)
	top, err := onnodes.OpenTop(t.Context(), local, directory, "debug", "")
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	ranks := exec.Command(self)
	ranks.Env = append(os.Environ(), fmt.Sprintf("%s=%d", playedRanks, count), playedDirectory+"="+top.Directory)
	ranks.Stderr = os.Stderr
	require.NoError(t, ranks.Start())

	p := played{&debug.Session{}, ranges.Set{{First: 0, Last: count - 1}}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	joined := make(chan struct{}, count)
	go func() {
		ended <- launch.Gather(ctx, p.session, top.AcceptStream, func() { joined <- struct{}{} })
	}()
	t.Cleanup(func() {
		require.NoError(t, top.Close())
		cancel()
		require.Error(t, <-ended)
		_ = ranks.Process.Kill() // it may have ended with its connections
		_ = ranks.Wait()
	})
	for range count {
		select {
		case <-joined:
		case <-time.After(time.Minute):
			require.Fail(t, "ranks do not join", "%d of %d are there", p.session.Ranks().Count(), count)
		}
	}
	return p
}

// where requests the stacks of all ranks.
func (p played) where(t testing.TB, thread int) []debug.Part {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return p.session.Ask(ctx, debug.Question{Ranks: p.all, Request: debug.Request{Verb: debug.Stack, Thread: thread, Count: 20}})
}

const many = 4096

func TestManyRanksAreOneSession(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 4,096 ranks")
	}
	p := play(t, many)
	require.Equal(t, "0-4095", p.session.Ranks(debug.Ready).String())
	begun := time.Now()
	equal := p.where(t, 0)
	tookEqual := time.Since(begun)
	require.Len(t, equal, 1)
	require.Equal(t, "0-4095", equal[0].Ranks.String())
	require.Len(t, equal[0].Frames, 12)
	begun = time.Now()
	different := p.where(t, differentThread)
	tookDifferent := time.Since(begun)
	require.Len(t, different, many)
	require.Equal(t, "4095", different[many-1].Ranks.String())
	require.Equal(t, 4095, different[many-1].Frames[0].Line)
	t.Logf("all equal: %s; all different: %s; most memory: %s", tookEqual, tookDifferent, mostMemory(t))
	require.Less(t, tookEqual, 5*time.Second, "the target is 150 ms on an idle machine")
	require.Less(t, tookDifferent, 10*time.Second, "the target is 1 s on an idle machine")
}

// mostMemory returns the most resident memory that this process had.
func mostMemory(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, isFound := strings.CutPrefix(line, "VmHWM:"); isFound {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// BenchmarkWhere measures a question to 4,096 ranks, with an answer that all have or with one for each rank.
func BenchmarkWhere(b *testing.B) {
	p := play(b, many)
	for name, thread := range map[string]int{"equal": 0, "different": differentThread} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NotEmpty(b, p.where(b, thread))
			}
			b.Logf("most memory: %s", mostMemory(b))
		})
	}
}
