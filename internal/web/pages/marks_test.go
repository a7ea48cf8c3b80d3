package pages

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

func TestAStateThatNobodySawIsNotShown(t *testing.T) {
	m := model.New()
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: "1"})
	})
	manager, _ := m.Snapshot().Manager("rm")
	for _, kind := range []model.Kind{model.Queue, model.Job} {
		for e := range manager.All(kind) {
			require.Equal(t, listing.MarkOfState(kind, ""), listing.MarkOf(e), "the default of its kind is what nobody saw: %s", kind)
		}
	}
	job, _ := manager.Get(model.Job, "1")
	require.Empty(t, rowOf(listing.ListedJob{Manager: manager, Job: job}, nil).Procs, "its number of processes is unknown")
}

func TestNodesOfOnesOwnProcessesAreInUse(t *testing.T) {
	m := model.New()
	webtest.DefineAttributes(t, m)
	require.Empty(t, m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "mpi", Attributes: webtest.Attributes(vocabulary.AttributeRMState, "STARTING")})
		u.Put(model.Row{Kind: model.ResourceManager, ID: "mpi", Attributes: append(webtest.Attributes(vocabulary.AttributeRMState, "STARTED"), model.Attribute{ID: vocabulary.AttributeUnlisted, Elements: []string{"queue", "node"}})})
		u.Put(model.Row{Manager: "mpi", Kind: model.Machine, ID: "here"})
		for id, use := range map[string]string{"n1": "RUNNING_PROCESS", "n2": "EXITED_PROCESS", "n3": "NONE"} {
			u.Put(model.Row{Manager: "mpi", Kind: model.Node, Parent: "here", ID: id, Attributes: webtest.Attributes(vocabulary.AttributeNodeState, "UP", vocabulary.AttributeNodeExtraState, use)})
		}
	}))
	drawn := drawMachines(listing.NewLedger("me"), m.Snapshot(), machinesQuery{State: "used", Page: 1})
	require.Equal(t, "1 free, 1 with your processes, 1 with your ended processes", drawn.Map.Words, "who sees no map hears it")
	require.Equal(t, []string{"n1", "n2"}, []string{drawn.Rows[0].Name, drawn.Rows[1].Name})
	require.Len(t, drawn.Rows, 2, "a node whose processes have ended is the job's still")
	require.Equal(t, "cannot list its nodes; showing nodes with processes of your jobs", drawn.Notes[0].Text)
	manager, _ := m.Snapshot().Manager("mpi")
	require.Contains(t, managerRowOf(listing.NewLedger("me"), m.Snapshot(), manager).Facts, fact{Name: "rmUnlisted", Value: "queue, node"})
	used, free, unusable := listing.Count(manager, nil).AnyNode.Use()
	require.Equal(t, []int{2, 1, 0}, []int{used, free, unusable})
}
