package bothends_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// A viewed is a view of the agent's cluster.
type viewed struct {
	*views.Views
	b          *testing.B
	connection remote.Connection
}

// view starts the agent and a view of its cluster, and waits until the view shows all jobs.
func view(b *testing.B) *viewed {
	folder := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(folder, settings.TargetsFile), []byte("[targets.cluster]\nagent = [\"agent\"]\n"), 0o600))
	targets, err := settings.LoadTargets(settings.Folders{User: folder})
	require.NoError(b, err)
	store, err := jobstore.Open(b.Context(), filepath.Join(folder, "state"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	local, err := remote.NewLocal()
	require.NoError(b, err)
	program, err := os.Executable()
	require.NoError(b, err)
	connection := bridge.New(local, bridge.Options{Agent: []string{program}, Environment: map[string]string{agentEnd: "1"}})
	v := &viewed{b: b, connection: connection}
	v.Views, err = views.New(views.Options{Targets: targets, Folders: settings.Folders{User: folder}, Store: store,
		Open: func(ctx context.Context, target settings.Target) (*control.Controller, func() error, error) {
			read, err := bridge.Definition(ctx, connection, target.Name)
			if err != nil {
				return nil, nil, err
			}
			return control.New(control.Options{Target: target.Name, Definition: read, Connection: connection, Store: store}), connection.Close, nil
		}})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, v.Close()) })
	require.NoError(b, v.Start("cluster"))
	snapshot := v.Model().Snapshot()
	for jobs := 0; jobs < clusterJobs; {
		snapshot, err = v.Model().Next(b.Context(), snapshot)
		require.NoError(b, err)
		if manager, known := snapshot.Manager("cluster"); known {
			jobs = manager.Len(model.Job)
		}
	}
	return v
}

// operate sends an operation to the agent.
func (v *viewed) operate(operation string) (f figures) {
	var refusal bytes.Buffer
	process, err := v.connection.Start(v.b.Context(), remote.Command{Arguments: []string{definition.Command, "operate", operation, "4000000"}, Stderr: &refusal})
	require.NoError(v.b, err)
	code, err := process.Wait()
	require.NoError(v.b, err)
	if operation != "release" {
		require.Zero(v.b, code, refusal.String())
		return f
	}
	_, err = fmt.Sscan(refusal.String(), &f.processor, &f.written, &f.highest)
	require.NoError(v.b, err)
	return f
}

// delays waits until the view has shown a number of changes, and returns how late each was shown.
func (v *viewed) delays(snapshot *model.Snapshot, count int) []time.Duration {
	var took []time.Duration
	for len(took) < count {
		next, err := v.Model().Next(v.b.Context(), snapshot)
		require.NoError(v.b, err)
		now := time.Now().UnixNano()
		before, _ := snapshot.Manager("cluster")
		after, _ := next.Manager("cluster")
		for change := range after.Changes(model.Job, before) {
			value, _ := change.After.Value(vocabulary.AttributeJobMessage)
			changed, err := strconv.ParseInt(value.Text(), 10, 64)
			require.NoError(v.b, err)
			took = append(took, time.Duration(now-changed))
		}
		snapshot = next
	}
	slices.Sort(took)
	return took
}

// BenchmarkView views the cluster of an agent: until all is shown, without changes for ten seconds,
// with one change after the other, and with 1,000 a second.
func BenchmarkView(b *testing.B) {
	for b.Loop() {
		begun, own := time.Now(), processorTime()
		v := view(b)
		b.ReportMetric(time.Since(begun).Seconds(), "s-shown")
		b.ReportMetric((processorTime() - own).Seconds(), "cpu-s-shown")

		<-time.After(20 * time.Second) // wait for the listing and garbage collection
		own = processorTime()
		<-time.After(10 * time.Second)
		b.ReportMetric((processorTime()-own).Seconds()*10, "%-idle")

		var single []time.Duration
		own = processorTime()
		for range 20 {
			snapshot := v.Model().Snapshot()
			v.operate("resume")
			single = append(single, v.delays(snapshot, 1)...)
			<-time.After(200 * time.Millisecond)
		}
		slices.Sort(single)
		b.ReportMetric((processorTime()-own).Seconds()*1000/20, "cpu-ms-one")
		b.ReportMetric(float64(single[len(single)/2].Microseconds())/1000, "ms-one-p50")
		b.ReportMetric(float64(single[len(single)-1].Microseconds())/1000, "ms-one-most")

		snapshot := v.Model().Snapshot()
		own = processorTime()
		v.operate("suspend")
		many := v.delays(snapshot, changes*9/10)
		b.ReportMetric((processorTime()-own).Seconds()*10, "%-many")
		b.ReportMetric(float64(many[len(many)/2].Microseconds())/1000, "ms-many-p50")
		b.ReportMetric(float64(many[len(many)*99/100].Microseconds())/1000, "ms-many-p99")
		b.ReportMetric(float64(highest())/1024, "MiB")
	}
}
