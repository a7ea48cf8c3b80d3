package tree

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Figures of the tree: 4,096 ranks behind 128 relays, which are processes.
const (
	manyNodes    = 128
	ranksOfNode  = 32
	mostForEqual = 1 << 10 // bytes at the client
)

func TestManyRanksAnswerSoonAndInFewBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 128 processes")
	}
	f := connect(t, Options{Node: "login"})
	f.launched(t, manyNodes, ranksOfNode, Launching{FromNodes: true, Timeout: 2 * time.Minute})

	question := ask("stacks")
	question.Body = json.RawMessage("1")
	bytes := int64(math.MaxInt64)
	for range 3 { // the least of them: news of the relays may still arrive with the first
		before := f.stream.read.Load()
		parts, err := f.Ask(t.Context(), question)
		require.NoError(t, err)
		require.Len(t, parts, 1)
		require.Equal(t, "0-4095", parts[0].Ranks.String())
		require.Equal(t, stackOf(0), parts[0].Body)
		bytes = min(bytes, f.stream.read.Load()-before)
	}
	require.LessOrEqual(t, bytes, int64(mostForEqual))

	question.Body = json.RawMessage("20")
	begun := time.Now()
	parts, err := f.Ask(t.Context(), question)
	took := time.Since(begun)
	require.NoError(t, err)
	require.Len(t, parts, 20)
	for class, part := range parts {
		require.Equal(t, stackOf(class), part.Body)
		require.Equal(t, (manyNodes*ranksOfNode-class+19)/20, part.Ranks.Count())
	}
	t.Logf("4,096 ranks with 20 classes: %s; equal answers: %d bytes at the client", took, bytes)
	require.Less(t, took, 5*time.Second, "the target is 1 s on an idle machine")
}

// BenchmarkManyRanks measures a question to 4,096 ranks with 20 classes:
//
//	go test -run '^$' -bench ManyRanks -benchtime 20x ./internal/tree
func BenchmarkManyRanks(b *testing.B) {
	f := connect(b, Options{Node: "login"})
	f.launched(b, manyNodes, ranksOfNode, Launching{FromNodes: true, Timeout: 2 * time.Minute})
	question := ask("stacks")
	question.Body = json.RawMessage("20")
	before := f.stream.read.Load()
	for b.Loop() {
		parts, err := f.Ask(b.Context(), question)
		require.NoError(b, err)
		require.Len(b, parts, 20)
	}
	b.ReportMetric(float64(f.stream.read.Load()-before)/float64(b.N), "bytes/op")
}

// An idle relay of the real program, with a client, needs little memory.
func TestAnIdleRelayNeedsLittleMemory(t *testing.T) {
	folder := t.TempDir()
	program, job := filepath.Join(folder, "rmctl-node"), filepath.Join(folder, "job")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "../../cmd/rmctl-node")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.NoError(t, os.Mkdir(job, 0o700))
	secret := make([]byte, 64)
	for i := range secret {
		secret[i] = 'a'
	}
	require.NoError(t, os.WriteFile(filepath.Join(job, "secret"), secret, 0o600))
	relay, err := startProcess([]string{program, "relay", "--job", job, "--node", "n1", "--session", filepath.Base(folder)}, os.Environ(), false)
	require.NoError(t, err)
	defer relay.stop()
	loaded, err := ReadSecret(job)
	require.NoError(t, err)
	client, err := Connect(t.Context(), relay, loaded)
	require.NoError(t, err)
	members, err := client.Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 1)
	status, err := os.ReadFile("/proc/" + strconv.Itoa(relay.command.Process.Pid) + "/status")
	require.NoError(t, err)
	resident := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(string(status))
	require.Len(t, resident, 2)
	kilobytes, err := strconv.Atoi(resident[1])
	require.NoError(t, err)
	t.Logf("resident memory of an idle relay: %d KiB\n%s", kilobytes, strings.Join(regexp.MustCompile(`Rss\w+:\s+\d+ kB`).FindAllString(string(status), -1), "\n"))
	require.LessOrEqual(t, kilobytes, 10<<10)
	require.NoError(t, client.Close())
	require.True(t, relay.endsWithin(10*time.Second), "the relay stays without a client")
	require.NoError(t, relay.err)
}
