package tree

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/internal/ranges"
)

// Each run of chaos has relays on nodes, tracked processes on hosts, a top and a client.
const (
	chaosNodes = 8
	chaosRanks = 2 // of a node
	chaosHosts = 2 // with two tracked processes each
)

// running returns the processes that have a text in their environment and have not ended.
func running(t testing.TB, text string) []int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	var found []int
	for _, path := range paths {
		environment, err := os.ReadFile(path)
		if err == nil && bytes.Contains(environment, []byte(text)) { // that of one that has ended is empty
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			require.NoError(t, err)
			found = append(found, pid)
		}
	}
	return found
}

// Whatever is killed at whatever time, no process stays behind, no answer names a wrong
// rank, and each rank has an answer or a problem. RMCTL_CHAOS is the number of runs,
// RMCTL_SEED draws other kills.
func TestKillsLeaveNoProcessAndNoWrongRank(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	var seen chaosCounts
	for run := range number(t, "RMCTL_CHAOS", 20) {
		seed := uint64(number(t, "RMCTL_SEED", 1))
		chaos{t, rand.New(rand.NewPCG(seed, uint64(run))), fmt.Sprintf("chaos-%d-%d-%d", os.Getpid(), seed, run), &seen}.run()
	}
	t.Logf("%+v", seen)
	require.Positive(t, seen.Answers)
	require.Positive(t, seen.Lost)
}

// chaosCounts count the events of the kills.
type chaosCounts struct{ Questions, Answers, Lost, Gone int }

type chaos struct {
	t      *testing.T
	random *rand.Rand
	name   string
	seen   *chaosCounts
}

func (c chaos) run() {
	t := c.t
	j := newJob(t)
	rank := chaosNodes * chaosRanks
	for host := range chaosHosts {
		for range 2 {
			here := *j
			here.private = filepath.Join(j.private, strconv.Itoa(host))
			require.NoError(t, os.MkdirAll(here.private, 0o700))
			here.run = c.name
			here.track(rank, fmt.Sprintf("h%d", host))
			j.groups = append(j.groups, here.groups[len(here.groups)-1])
			rank++
		}
	}
	top := part{Play: "relay", Node: "login", Place: "login", Job: j.job, Listen: "127.0.0.1", FanOut: 3, Run: c.name}.launch(t)
	process, err := startProcess(top.Words, environmentOf(top), false)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var killing errgroup.Group
	delays := []time.Duration{time.Duration(c.random.IntN(40)) * time.Millisecond, time.Duration(c.random.IntN(40)) * time.Millisecond}
	picks := []int{c.random.IntN(1 << 20), c.random.IntN(1 << 20)}
	closes := c.random.IntN(4) == 0
	client, err := Connect(ctx, process, testSecret)
	require.NoError(t, err)
	killing.Go(func() error {
		for i, delay := range delays {
			pause(ctx, delay)
			if all := running(t, c.name); len(all) > 0 {
				_ = syscall.Kill(all[picks[i]%len(all)], syscall.SIGKILL) // it may have ended
			}
		}
		if closes {
			return client.Close()
		}
		return nil
	})
	c.ask(ctx, client)
	require.NoError(t, killing.Wait())
	require.NoError(t, client.Close())
	process.stop()
	for _, group := range j.groups { // the programs of the job end
		_ = syscall.Kill(-group, syscall.SIGKILL) // some were killed before
	}
	require.Eventually(t, func() bool { return len(running(t, c.name)) == 0 }, 20*time.Second, 5*time.Millisecond, "%s: processes stay: %v", c.name, running(t, c.name))
}

// ask launches relays and asks several times. Errors are those of a killed top or client.
func (c chaos) ask(ctx context.Context, client *Client) {
	var launches []Launch
	for node := range chaosNodes {
		name := fmt.Sprintf("n%d", node)
		first := node * chaosRanks
		p := part{Play: "relay", Node: name, Place: name, FanOut: 3, Run: c.name, Ranks: ranges.Set{{First: first, Last: first + chaosRanks - 1}}.String()}
		launches = append(launches, p.launch(c.t))
	}
	failed, err := client.Launch(ctx, launches, Launching{FromNodes: true})
	if err != nil {
		return
	}
	all := ranges.Set{{First: 0, Last: chaosNodes*chaosRanks + 2*chaosHosts - 1}}
	for range 3 {
		c.seen.Questions++
		parts, err := client.Ask(ctx, Question{Kind: "late", Ranks: all, Timeout: 5 * time.Second})
		if err != nil {
			c.seen.Gone++
			return
		}
		var named ranges.Set
		for _, part := range parts {
			require.NotEmpty(c.t, part.Ranks, "%s: %v", c.name, part)
			require.Empty(c.t, intersect(named, part.Ranks), "%s: two parts have one rank", c.name)
			named = named.Union(part.Ranks)
			if part.Problem != "" {
				c.seen.Lost += part.Ranks.Count()
			} else {
				c.seen.Answers++
				require.Equal(c.t, part.Ranks.String(), string(part.Body), "%s: an answer of another rank", c.name)
			}
		}
		require.Equal(c.t, all, named, "%s (not started: %v)", c.name, failed)
	}
}

// Whatever is killed, the receiver gets the beginning of the sent bytes, and new streams pass.
func TestStreamsUnderRandomKills(t *testing.T) {
	j := newJob(t).withSecret()
	random := rand.New(rand.NewPCG(2, uint64(number(t, "RMCTL_SEED", 1))))
	f := j.topOf()
	for range max(number(t, "RMCTL_CHAOS", 20)/5, 1) {
		node := f.relayOf(j, "n1")
		var using sync.WaitGroup
		for range 8 {
			p := f.streamOf([]*jobFixture{j, node}[random.IntN(2)])
			for _, way := range []pair{{p.process, p.rmctl}, {p.rmctl, p.process}} {
				using.Go(func() { sendNumbers(way.process) })
				using.Go(func() { requireNumbers(t, way.rmctl) })
			}
			if random.IntN(4) == 0 {
				time.AfterFunc(time.Duration(random.IntN(20))*time.Millisecond, func() { _ = p.process.Close() })
			} else {
				time.AfterFunc(time.Duration(20+random.IntN(20))*time.Millisecond, func() { _ = p.rmctl.Close() })
			}
		}
		pause(t.Context(), time.Duration(random.IntN(20))*time.Millisecond)
		require.NoError(t, f.relayProcess(t, "n1").Kill())
		using.Wait()
		parts, err := f.Ask(t.Context(), ask("same"))
		require.NoError(t, err)
		for _, part := range parts {
			require.Contains(t, part.Problem, "relay on n1 lost")
		}
	}
	require.Eventually(t, func() bool { return f.held()+countOf(f.relay.carrier) == 0 }, 30*time.Second, time.Millisecond, "streams stay")
}

// sendNumbers counts until the stream ends.
func sendNumbers(to io.Writer) {
	text := make([]byte, 0, 8<<10)
	for next := uint64(0); ; {
		for text = text[:0]; len(text)+8 <= cap(text); next++ {
			text = binary.BigEndian.AppendUint64(text, next)
		}
		if _, err := to.Write(text); err != nil {
			return
		}
	}
}

// requireNumbers reads the bytes of sendNumbers.
func requireNumbers(t *testing.T, from io.Reader) {
	for next, text := uint64(0), make([]byte, 8); ; next++ {
		if _, err := io.ReadFull(from, text); err != nil {
			return
		}
		if found := binary.BigEndian.Uint64(text); found != next {
			t.Errorf("%d arrived instead of %d", found, next)
			return
		}
	}
}
