package listing_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

func TestJobsThatFailedAreCountedApartFromThoseThatNeverStarted(t *testing.T) {
	m := model.New()
	require.Empty(t, m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		for id, states := range map[string][2]string{
			"ran": {"TERMINATED", "FAILED"}, "refused": {"ERROR", "FAILED"}, "well": {"TERMINATED", "COMPLETED"}, "canceled": {"TERMINATED", "CANCELED"},
		} {
			u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: id, Attributes: []model.Attribute{
				{ID: vocabulary.AttributeJobState, Text: states[0]}, {ID: vocabulary.AttributeJobDetail, Text: states[1]},
			}})
		}
	}))
	manager, known := m.Snapshot().Manager("rm")
	require.True(t, known)
	require.Equal(t, map[model.State]int{listing.Failed: 1, vocabulary.StateError: 1, vocabulary.StateTerminated: 2}, listing.Count(manager, nil).Jobs.ByState)
	words := map[string]string{}
	for job := range manager.All(model.Job) {
		words[job.ID()] = listing.JobMark(job).Tone + " " + listing.JobMark(job).Word
	}
	require.Equal(t, map[string]string{"ran": "red failed", "refused": "red failed to start", "well": "grey completed", "canceled": "grey canceled"}, words)

	ledger := listing.NewLedger("me")
	chosen := ledger.Choose(m.Snapshot(), listing.JobsQuery{State: "failed"})
	require.Len(t, chosen.Jobs, 2)
	require.Len(t, ledger.Choose(m.Snapshot(), listing.JobsQuery{State: "ended"}).Jobs, 2)
}
