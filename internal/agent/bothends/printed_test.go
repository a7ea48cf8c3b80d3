package bothends_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

// A printing scheduler has one job, which writes to two files.
type printing struct {
	benchmarked
	put func(id, state, tag string)
}

// Submit implements [agent.Scheduler].
func (p *printing) Submit(_ context.Context, s job.Submission) (job.Job, error) {
	p.put("42", vocabulary.StateRunning, s.Tag)
	return job.Job{ID: "42", Tag: s.Tag}, nil
}

// Printed implements [agent.Scheduler].
func (*printing) Printed(context.Context, string, int64) (agent.Printed, error) {
	return agent.Printed{Stdout: "step 1\nstep 2\n", Stderr: "step 2 is slow\n"}, nil
}

func TestAJobWithTwoFilesGivesBothSeparately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := model.New()
		put := func(row model.Row) { require.Empty(t, m.Update(func(u *model.Update) { u.Put(row) })) }
		for _, state := range []string{vocabulary.StateStarting, vocabulary.StateStarted} {
			put(model.Row{Kind: model.ResourceManager, ID: manager, Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: state}}})
		}
		put(model.Row{Manager: manager, Kind: model.Queue, ID: "batch"})
		m.Update(func(u *model.Update) {
			require.NoError(t, u.Define(model.Definition{ID: vocabulary.AttributeJobTag, Type: model.String, Default: []string{""}}))
		})
		p := &printing{put: func(id, state, tag string) {
			put(model.Row{Manager: manager, Kind: model.Job, Parent: "batch", ID: id, Attributes: []model.Attribute{{ID: vocabulary.AttributeJobState, Text: state}, {ID: vocabulary.AttributeJobTag, Text: tag}}})
		}}
		serve := func(ctx context.Context, command remote.Command) int {
			if agent.Serve(ctx, command.Stdin, command.Stdout, agent.Options{Model: m, Manager: manager, Scheduler: p, Close: func() error { return nil }}) != nil {
				return 1
			}
			return 0
		}
		// The client agrees on no features, like one that is not rmctl.
		s, err := agentclient.Start(t.Context(), agentclient.Options{Agent: []string{"agent"}, Connection: &agenttest.Place{Agent: serve}, Features: []string{}})
		require.NoError(t, err)
		accepted, err := s.Submit(t.Context(), proxy.Attributes{{ID: "execName", Value: "sums"}})
		require.NoError(t, err)
		_, known := s.Output(accepted.Job, agentclient.Stdout)
		require.False(t, known)
		p.put("42", vocabulary.StateTerminated, p.tag(t, m))
		synctest.Wait()
		for stream, want := range map[agentclient.Stream]string{agentclient.Stdout: "step 1\nstep 2\n", agentclient.Stderr: "step 2 is slow\n"} {
			text, known := s.Output(accepted.Job, stream)
			require.True(t, known)
			content, err := io.ReadAll(text)
			require.NoError(t, err)
			require.Equal(t, want, string(content))
		}
		require.NoError(t, s.Close())
	})
}

// tag returns the tag of the job.
func (*printing) tag(t *testing.T, m *model.Model) string {
	now, _ := m.Snapshot().Manager(manager)
	element, known := now.Get(model.Job, "42")
	require.True(t, known)
	tag, _ := element.Value(vocabulary.AttributeJobTag)
	return tag.Text()
}
