// Package bothends_test runs the agent and the client of the proxy protocol together.
package bothends_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// agentEnd is the environment variable that makes this program the agent.
const agentEnd = "RMCTL_TEST_AGENT_END"

// memory holds the figures of a process.
const memory = "/proc/self/status"

func TestMain(m *testing.M) {
	if os.Getenv(agentEnd) == "" {
		os.Exit(m.Run())
	}
	if err := serveCluster(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const manager = "cluster"

// A cluster of benchmarks.
const (
	clusterJobs  = 100_000
	clusterNodes = 10_000
	clusterQueue = 20
)

// fill puts a cluster into a model.
func fill(m *model.Model) error {
	var failed error
	problems := m.Update(func(u *model.Update) {
		put := func(kind model.Kind, parent, id string, attributes ...model.Attribute) {
			u.Put(model.Row{Manager: manager, Kind: kind, Parent: parent, ID: id, Attributes: attributes})
		}
		u.Put(model.Row{Kind: model.ResourceManager, ID: manager, Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: vocabulary.StateStarting}}})
		failed = u.Define(model.Definition{ID: vocabulary.AttributeListedJobs, Type: model.String, Default: []string{""}})
		u.Put(model.Row{Kind: model.ResourceManager, ID: manager, Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: vocabulary.StateStarted}, {ID: vocabulary.AttributeListedJobs, Text: "2026-11-20T10:00:00Z"}}})
		put(model.Machine, "", "cluster")
		for i := range clusterNodes {
			put(model.Node, "cluster", fmt.Sprint("n", i), model.Attribute{ID: vocabulary.AttributeNodeState, Text: vocabulary.StateUp})
		}
		for i := range clusterQueue {
			put(model.Queue, "", fmt.Sprint("queue", i))
		}
		for i := range clusterJobs {
			put(model.Job, fmt.Sprint("queue", i%clusterQueue), strconv.Itoa(4_000_000+i),
				model.Attribute{ID: vocabulary.AttributeName, Text: fmt.Sprintf("train-%d-of-%d", i%977, i)},
				model.Attribute{ID: vocabulary.AttributeJobState, Text: vocabulary.StatePending},
				model.Attribute{ID: vocabulary.AttributeJobStatus, Text: "PD"},
				model.Attribute{ID: vocabulary.AttributeJobUser, Text: fmt.Sprint("user", i%500)},
				model.Attribute{ID: "jobNumProcs", Text: strconv.Itoa(1 << (i % 8))},
				model.Attribute{ID: "execName", Text: fmt.Sprintf("run-%d.sh", i%7919)})
		}
	})
	if failed == nil && len(problems) > 0 {
		failed = fmt.Errorf("filling the model: %v", problems)
	}
	return failed
}

// A benchmarked is the scheduler of the agent process. Operations start or end a measurement; the error
// that ends one contains the figures.
type benchmarked struct {
	agent.Scheduler
	model   *model.Model
	written atomic.Int64 // bytes
	begun   time.Duration
	before  int64
}

// Definition implements [agent.Scheduler].
func (*benchmarked) Definition(context.Context) (*config.Definition, error) {
	return config.Read("cluster.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="cluster"><control-data/></resource-manager-builder>`), nil)
}

// Operate implements [agent.Scheduler]: hold begins a measurement of the process, release ends it,
// suspend changes a job each millisecond, resume changes one.
func (s *benchmarked) Operate(_ context.Context, _ string, operation agent.Operation) error {
	written := s.written.Load()
	switch operation {
	case "hold":
		s.begun, s.before = processorTime(), written
	case "suspend":
		go s.change()
	case "resume":
		s.changeOne(int(time.Now().UnixNano() % clusterJobs))
	case "release":
		return fmt.Errorf("%d %d %d", (processorTime() - s.begun).Nanoseconds(), written-s.before, highest())
	}
	return nil
}

const (
	changes    = 10_000
	changeTime = time.Millisecond
)

// change changes a job each millisecond to when that was.
func (s *benchmarked) change() {
	next := time.Now()
	for i := range changes {
		next = next.Add(changeTime)
		time.Sleep(time.Until(next))
		s.changeOne(i * 7919 % clusterJobs)
	}
}

// changeOne changes a job to when that was.
func (s *benchmarked) changeOne(i int) {
	s.model.Update(func(u *model.Update) {
		u.Put(model.Row{Manager: manager, Kind: model.Job, ID: strconv.Itoa(4_000_000 + i), Parent: fmt.Sprint("queue", i%clusterQueue),
			Attributes: []model.Attribute{{ID: vocabulary.AttributeJobMessage, Text: strconv.FormatInt(time.Now().UnixNano(), 10)}}})
	})
}

// Write counts what is written to the client.
func (s *benchmarked) Write(p []byte) (int, error) {
	n, err := os.Stdout.Write(p)
	s.written.Add(int64(n))
	return n, err
}

// serveCluster is the agent end.
func serveCluster() error {
	s := &benchmarked{model: model.New()}
	if err := fill(s.model); err != nil {
		return err
	}
	return agent.Serve(context.Background(), os.Stdin, s, agent.Options{Model: s.model, Manager: manager, Scheduler: s, Record: unchanged{}, Close: os.Stdout.Close})
}

// unchanged is a record without new events. Its number ends the announcement.
type unchanged struct{}

// Reflected implements [agent.Record].
func (unchanged) Reflected() int64 { return 1 }

// EachTouched implements [agent.Record].
func (unchanged) EachTouched(context.Context, int64, func(string)) (int64, error) { return 1, nil }

// processorTime returns the CPU time of this process.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// highest returns the peak memory of this process, in KiB.
func highest() int {
	text, _ := os.ReadFile(memory)
	_, rest, _ := bytes.Cut(text, []byte("VmHWM:"))
	amount, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	number, _ := strconv.Atoi(string(amount))
	return number
}

// Figures are measurements of the agent's process.
type figures struct {
	processor time.Duration
	written   int64
	highest   int // KiB
}

// start starts the agent in a separate process, and a session.
func start(b *testing.B) *agentclient.Session {
	local, err := remote.NewLocal()
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, local.Close()) })
	program, err := os.Executable()
	require.NoError(b, err)
	s, err := agentclient.Start(b.Context(), agentclient.Options{Connection: local, Agent: []string{program}, Directory: filepath.Dir(program), Environment: map[string]string{agentEnd: "1"}})
	require.NoError(b, err)
	return s
}

// operate sends an operation to the agent. It may fail only with figures.
func operate(b *testing.B, s *agentclient.Session, operation string) (f figures) {
	err := s.Operate(b.Context(), operation, "4000000")
	if operation != "release" {
		require.NoError(b, err)
		return f
	}
	refused, isRefused := errors.AsType[*agentclient.RefusedError](err)
	require.True(b, isRefused, "%v", err)
	_, err = fmt.Sscan(refused.Text, &f.processor, &f.written, &f.highest)
	require.NoError(b, err)
	return f
}
