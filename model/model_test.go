package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// row is a row of the resource manager "rm" with attributes written id=value.
func row(kind model.Kind, parent, id string, attributes ...string) model.Row {
	r := model.Row{Manager: "rm", Kind: kind, Parent: parent, ID: id}
	for _, attribute := range attributes {
		name, value, _ := strings.Cut(attribute, "=")
		r.Attributes = append(r.Attributes, model.Attribute{ID: name, Text: value})
	}
	return r
}

// whole is a row with all values.
func whole(r model.Row) model.Row {
	r.Whole = true
	return r
}

func put(m *model.Model, rows ...model.Row) []model.Problem {
	return m.Update(func(u *model.Update) {
		for _, r := range rows {
			u.Put(r)
		}
	})
}

// cluster is a model with a machine, a queue, two nodes, a job and two processes.
func cluster(t *testing.T) *model.Model {
	m := model.New()
	require.Empty(t, put(m,
		row(model.ResourceManager, "", "rm", "rmState=STARTED", "name=Slurm"),
		row(model.Machine, "", "m1", "machineState=UP"), row(model.Machine, "", "m2"), row(model.Queue, "", "batch"), row(model.Queue, "", "debug"),
		row(model.Node, "m1", "n1", "nodeState=UP"), row(model.Node, "m1", "n2"),
		row(model.Job, "batch", "7", "jobState=RUNNING", "userId=ann"),
		row(model.Process, "7", "7.0", "processNodeId=n1"), row(model.Process, "7", "7.1", "processNodeId=n2"),
	))
	return m
}

func get(t *testing.T, m *model.Model, kind model.Kind, id string) *model.Element {
	t.Helper()
	manager, known := m.Snapshot().Manager("rm")
	require.True(t, known)
	element, known := manager.Get(kind, id)
	require.True(t, known, "%s %s", kind, id)
	return element
}

func ids(elements func(func(*model.Element) bool)) []string {
	var all []string
	for element := range elements {
		all = append(all, element.ID())
	}
	return all
}

func TestElementsHaveTheirAttributesAndDefaults(t *testing.T) {
	m := cluster(t)
	job := get(t, m, model.Job, "7")
	require.EqualValues(t, vocabulary.StateRunning, job.State())
	require.Equal(t, "batch", job.Parent())
	require.Equal(t, "7", job.Name(), "an element without a name goes by its id")
	procs, known := job.Value("jobNumProcs")
	require.True(t, known)
	require.Equal(t, int64(1), procs.Integer())
	_, known = job.Value("nodeState")
	require.False(t, known)
	require.EqualValues(t, vocabulary.StateUnknown, get(t, m, model.Machine, "m2").State())
	put(m, row(model.Job, "batch", "7", "partition=gpu", "name=<b>\x1b[1m"))
	partition, known := get(t, m, model.Job, "7").Value("partition")
	require.True(t, known)
	require.Equal(t, model.String, partition.Type())
	require.Equal(t, "<b>\x1b[1m", get(t, m, model.Job, "7").Name())
	require.EqualValues(t, vocabulary.StateRunning, get(t, m, model.Job, "7").State())
	put(m, whole(row(model.Job, "batch", "7", "name=x")))
	_, known = get(t, m, model.Job, "7").Value("partition")
	require.False(t, known, "a whole row unsets what it does not give")
	require.EqualValues(t, vocabulary.StateRunning, get(t, m, model.Job, "7").State(), "but not the state")
}

func TestChildrenAreListedInTheOrderOfTheirIDs(t *testing.T) {
	m := cluster(t)
	put(m, row(model.Job, "batch", "10"), row(model.Job, "batch", "9"), row(model.Job, "debug", "8"), row(model.Job, "batch", "9[2]"), row(model.Job, "debug", "007"))
	manager, _ := m.Snapshot().Manager("rm")
	require.Equal(t, []string{"007", "7", "8", "9", "9[2]", "10"}, ids(manager.All(model.Job)))
	require.Equal(t, []string{"7", "9", "9[2]", "10"}, ids(manager.Children(model.Job, "batch")))
	require.Equal(t, []string{"7.0", "7.1"}, ids(manager.Children(model.Process, "7")))
	require.Equal(t, []string{"7.1"}, ids(manager.OnNode("n2")))
	require.Equal(t, []string{"m1", "m2"}, ids(manager.Children(model.Machine, "rm")))
	require.Equal(t, 6, manager.Len(model.Job))
	put(m, row(model.Process, "7", "7.1", "processNodeId=n1"))
	manager, _ = m.Snapshot().Manager("rm")
	require.Equal(t, []string{"7.0", "7.1"}, ids(manager.OnNode("n1")), "a process is listed below the node it moved to")
	require.Empty(t, ids(manager.OnNode("n2")))
}

func TestSnapshotsDoNotChange(t *testing.T) {
	m := cluster(t)
	for i := range 1000 {
		put(m, row(model.Job, "batch", fmt.Sprint(100+i)))
	}
	before := m.Snapshot()
	m.Update(func(u *model.Update) {
		for i := range 1000 {
			switch id := fmt.Sprint(100 + i); {
			case i%2 == 0:
				u.Remove("rm", model.Job, id)
			default:
				u.Put(row(model.Job, "batch", id, "jobState=RUNNING"))
				u.Put(row(model.Job, "batch", id+".new"))
			}
		}
	})
	manager, _ := before.Manager("rm")
	require.Equal(t, 1001, manager.Len(model.Job))
	require.Len(t, ids(manager.Children(model.Job, "batch")), 1001)
	job, _ := manager.Get(model.Job, "101")
	require.EqualValues(t, vocabulary.StatePending, job.State())
	manager, _ = m.Snapshot().Manager("rm")
	require.Equal(t, 1001, manager.Len(model.Job))
	_, known := manager.Get(model.Job, "100")
	require.False(t, known)
}

func TestIllegalTransitionsAreRefusedAndReported(t *testing.T) {
	m := cluster(t)
	require.Empty(t, put(m, row(model.Job, "batch", "7", "jobState=TERMINATED")))
	problems := put(m, row(model.Job, "batch", "7", "jobState=RUNNING", "userId=eve"))
	require.Len(t, problems, 1)
	require.Equal(t, "transition", problems[0].What)
	require.Contains(t, problems[0].Example, "illegal transition")
	require.EqualValues(t, vocabulary.StateTerminated, get(t, m, model.Job, "7").State())
	user, _ := get(t, m, model.Job, "7").Value("userId")
	require.Equal(t, "eve", user.Text(), "the rest of the row counts")
	problems = put(m, row(model.ResourceManager, "", "rm", "rmState=STOPPED"))
	require.Contains(t, problems[0].Example, "illegal transition")
}

func TestBadRowsAreCounted(t *testing.T) {
	m := cluster(t)
	problems := put(m,
		row(model.Node, "m2", "n1"), row(model.Job, "nowhere", "8"), row(model.Job, "batch", ""), row(model.Job, "batch", strings.Repeat("x", 2000)),
		row(model.Job, "batch", "9", "jobState=\x1b[31mHELD", "jobNumProcs=many"), row(model.Job, "batch", "10", "jobState=HELD"),
		row(model.Job, "batch", "11", "name="+strings.Repeat("x", 10<<20)),
	)
	counted := map[string]int{}
	for _, problem := range problems {
		counted[string(problem.What)+" "+problem.Of.String()+" "+problem.Attribute] = problem.Count
		require.NotContains(t, problem.Example, "\x1b")
		require.Less(t, len(problem.Example), 500)
	}
	require.Equal(t, map[string]int{"elsewhere node ": 1, "parent job ": 1, "id job ": 2, "value job jobState": 2, "value job jobNumProcs": 1, "value job name": 1}, counted)
	require.Equal(t, "m1", get(t, m, model.Node, "n1").Parent())
	require.EqualValues(t, vocabulary.StatePending, get(t, m, model.Job, "9").State())
}

func TestUndefinedAttributesAreBounded(t *testing.T) {
	m := cluster(t)
	var problems []model.Problem
	for i := range 1200 {
		problems = append(problems, put(m, row(model.Job, "batch", "7", fmt.Sprintf("a%d=x", i)))...)
	}
	require.Greater(t, len(problems), 200)
	require.Contains(t, problems[0].Example, "invalid attribute definition")
	defined := 0
	for i := range 1200 {
		if _, known := m.Snapshot().Definition(fmt.Sprintf("a%d", i)); known {
			defined++
		}
	}
	require.Equal(t, 1200-len(problems), defined)
}

func TestDefinitionsCanBeAddedButNotReplaced(t *testing.T) {
	m := cluster(t)
	m.Update(func(u *model.Update) {
		require.NoError(t, u.Define(model.Definition{ID: "gpus", Type: model.Integer, Default: []string{"0"}}))
		require.ErrorContains(t, u.Define(model.Definition{ID: "gpus", Type: model.String, Default: []string{""}}), "invalid attribute definition")
		require.ErrorContains(t, u.Define(model.Definition{ID: "jobState", Type: model.String, Default: []string{""}}), "invalid attribute definition")
		require.ErrorContains(t, u.Define(model.Definition{ID: "x", Type: "TEXT", Default: []string{""}}), "invalid attribute definition")
		require.ErrorContains(t, u.Define(model.Definition{ID: "x", Type: model.Integer, Default: []string{"one"}}), "illegal value")
	})
	problems := put(m, row(model.Job, "batch", "7", "gpus=four"))
	require.Contains(t, problems[0].Example, "illegal value")
}

func TestStoppedResourceManagersLoseTheirElements(t *testing.T) {
	m := cluster(t)
	require.Empty(t, put(m, row(model.ResourceManager, "", "rm", "rmState=ERROR")))
	manager, _ := m.Snapshot().Manager("rm")
	require.EqualValues(t, vocabulary.StateError, manager.Element().State())
	require.Equal(t, 1, manager.Len(model.Job), "what was last seen stays in view")
	problems := m.Update(func(u *model.Update) { u.Remove("rm", model.ResourceManager, "rm") })
	require.Equal(t, "removal", problems[0].What)
	require.Empty(t, put(m, row(model.ResourceManager, "", "rm", "rmState=STOPPED")))
	manager, _ = m.Snapshot().Manager("rm")
	for kind := model.Machine; kind <= model.Process; kind++ {
		require.Zero(t, manager.Len(kind), kind)
	}
	require.Empty(t, m.Update(func(u *model.Update) { u.Remove("rm", model.ResourceManager, "rm") }))
	_, known := m.Snapshot().Manager("rm")
	require.False(t, known)
}
