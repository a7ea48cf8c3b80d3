package monitor_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

func TestTheStateOfAMachineIsThatOfItsNodes(t *testing.T) {
	for name, c := range map[string]struct {
		states []string
		want   string
	}{
		"all up":                      {[]string{"UP", "UP"}, vocabulary.StateUp},
		"some down":                   {[]string{"UP", "DOWN"}, vocabulary.StateAlert},
		"some in error":               {[]string{"UP", "ERROR"}, vocabulary.StateAlert},
		"some unknown":                {[]string{"UP", "UNKNOWN"}, vocabulary.StateUp},
		"all down":                    {[]string{"DOWN", "DOWN"}, vocabulary.StateDown},
		"none up and some in error":   {[]string{"DOWN", "ERROR"}, vocabulary.StateError},
		"none up and nothing is said": {[]string{"UNKNOWN"}, vocabulary.StateDown},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, w *watch) {
				var rows []row
				for i, state := range c.states {
					rows = append(rows, rowOf(string(rune('a'+i)), "state="+state))
				}
				w.source.set(model.Node, nil, rows...)
				w.begin()
				require.Equal(t, c.want, w.value(model.Machine, "cluster", vocabulary.AttributeMachineState))
			})
		})
	}
}

func TestANodeKeepsItsIndexInItsMachine(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		numbers := func() map[string]string {
			all := map[string]string{}
			for _, id := range w.ids(model.Node) {
				all[id] = w.value(model.Node, id, "nodeNumber")
			}
			return all
		}
		w.source.set(model.Node, nil, rowOf("c", "state=UP"), rowOf("a", "state=UP"), rowOf("b", "state=UP"), rowOf("d", "state=UP", "machine=other"))
		w.begin()
		require.Equal(t, map[string]string{"c": "0", "a": "1", "b": "2", "d": "0"}, numbers())

		w.source.set(model.Node, nil, rowOf("b", "state=DOWN"), rowOf("c", "state=UP"))
		w.again()
		require.Equal(t, map[string]string{"c": "0", "b": "2"}, numbers())

		w.source.set(model.Node, nil, rowOf("f", "state=UP"), rowOf("e", "state=UP"), rowOf("b", "state=DOWN"), rowOf("c", "state=UP"))
		w.again()
		require.Equal(t, map[string]string{"c": "0", "b": "2", "f": "1", "e": "3"}, numbers())
	})
}

func TestNodesShowWhoUsesThem(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		var nodes []row
		for i := range 8 {
			used := "1"
			if i%2 == 0 {
				used = "4"
			}
			nodes = append(nodes, rowOf(fmt.Sprintf("n%d", i), "state=UP", "cpus=4", "cpusUsed="+used))
		}
		w.source.set(model.Node, nil, nodes...)
		w.source.set(model.Job, nil,
			rowOf("1", "state=RUNNING", "owner=me@login", "nodes=n[0-1]"),
			rowOf("2", "state=RUNNING", "owner=her", "nodes=n[2,3]"),
			rowOf("3", "state=RUNNING", "owner=her", "nodes=n4"), rowOf("4", "state=RUNNING", "owner=him", "nodes=n4"),
			rowOf("5", "state=QUEUED_ACTIVE", "owner=her", "nodes=n[0-99999999999]"),
			rowOf("6", "state=SUSPENDED", "owner=her", "nodes=n[5-99999999999]"))
		w.begin()
		var extra []string
		for _, id := range w.ids(model.Node) {
			extra = append(extra, w.value(model.Node, id, vocabulary.AttributeNodeExtraState))
		}
		require.Equal(t, []string{"USER_ALLOC_EXCL", "USER_ALLOC_SHARED", "OTHER_ALLOC_EXCL", "OTHER_ALLOC_SHARED", "OTHER_ALLOC_SHARED", "OTHER_ALLOC_SHARED", "OTHER_ALLOC_EXCL", "OTHER_ALLOC_SHARED"}, extra)
		w.source.set(model.Job, nil)
		w.again()
		require.Equal(t, "NONE", w.value(model.Node, "n0", vocabulary.AttributeNodeExtraState))
	})
}
