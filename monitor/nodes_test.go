package monitor_test

import (
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
