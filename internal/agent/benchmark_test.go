package agent_test

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// BenchmarkAnnouncement measures START_EVENTS with 100,000 jobs with six attributes and 10,000
// nodes, up to the last byte.
func BenchmarkAnnouncement(b *testing.B) {
	large := model.New()
	large.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: manager})
		u.Put(model.Row{Manager: manager, Kind: model.Machine, ID: "m"})
		u.Put(model.Row{Manager: manager, Kind: model.Queue, ID: "batch"})
		for i := range 10_000 {
			u.Put(model.Row{Manager: manager, Kind: model.Node, Parent: "m", ID: "n" + strconv.Itoa(i), Attributes: []model.Attribute{{ID: "nodeState", Text: "UP"}}})
		}
		for i := range 100_000 {
			u.Put(model.Row{Manager: manager, Kind: model.Job, Parent: "batch", ID: strconv.Itoa(i), Attributes: []model.Attribute{
				{ID: "name", Text: "job" + strconv.Itoa(i)}, {ID: "jobState", Text: "RUNNING"}, {ID: "userId", Text: "ada"},
				{ID: "queueId", Text: "batch"}, {ID: "jobStatus", Text: "R"}, {ID: "jobStatusMessage", Text: "None"}}})
		}
	})
	for b.Loop() {
		commands, to := io.Pipe()
		counted := &counter{whole: make(chan struct{})}
		ended := make(chan error, 1)
		go func() {
			ended <- agent.Serve(context.Background(), commands, counted, agent.Options{Model: large, Manager: manager, Scheduler: &scheduler{}, Close: func() error { return nil }})
		}()
		for i, command := range []proxy.Command{
			{ID: proxy.Init, Attributes: proxy.Attributes{{ID: "version", Value: "2.0"}, {ID: "baseId", Value: "1"}, {ID: "session", Value: "S"}}},
			{ID: proxy.ModelDefinition},
			{ID: proxy.StartEvents, Attributes: proxy.Attributes{{ID: "rmctlFeatures", Value: "details"}}},
		} {
			command.Transaction = uint32(i)
			_, err := to.Write(command.Frame().Append(nil))
			require.NoError(b, err)
		}
		<-counted.whole
		require.NoError(b, to.Close())
		require.NoError(b, <-ended)
		b.ReportMetric(float64(counted.bytes)/1e6, "MB")
	}
}

// A counter counts the bytes written, up to the change of the resource manager, which comes last.
type counter struct {
	bytes int
	whole chan struct{}
}

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += len(p)
	if bytes.Contains(p[:min(len(p), 20)], []byte("00eb:")) {
		close(c.whole)
	}
	return len(p), nil
}
