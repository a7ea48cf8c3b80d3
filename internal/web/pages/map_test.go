package pages

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/webtest"
)

func TestTheMapHasAllNodesInFewOutlines(t *testing.T) {
	m := webtest.Demonstration(t, 0, 10_000, webtest.Noon)
	manager, _ := m.Snapshot().Manager("cluster")
	drawn := mapOf(manager, "login.example.org", 100)
	require.Equal(t, 10_000, drawn.Nodes)
	require.LessOrEqual(t, len(drawn.Layers), int(listing.NumberOfLooks))
	cells := 0
	for _, layer := range drawn.Layers {
		places := strings.Count(layer.Path, "M")
		require.Equal(t, layer.Count, listing.Thousands(places))
		cells += places
	}
	require.Equal(t, 10_000, cells)
	require.Equal(t, `[["n",5,1,10000]]`, drawn.Names)
	require.Contains(t, drawn.Words, "free")
}

func TestNamesOfNodesFoldAndUnfold(t *testing.T) {
	names := []string{"n01", "n02", "n03", "n10", "gpu", "<b>7", "x9", "x10", "x11", "a000000000012", "", `q"1`, "007"}
	var folded []any
	require.NoError(t, json.Unmarshal([]byte(listing.FoldNames(names)), &folded))
	var unfolded []string
	for _, entry := range folded {
		run, isRun := entry.([]any)
		if !isRun {
			name, isName := entry.(string)
			require.True(t, isName)
			unfolded = append(unfolded, name)
			continue
		}
		for i := range int(run[3].(float64)) {
			unfolded = append(unfolded, listing.Numbered(run[0].(string), int(run[1].(float64)), int(run[2].(float64))+i))
		}
	}
	require.Equal(t, names, unfolded)
	require.Equal(t, "0 3 5 1 9 2", runs([]int{0, 1, 2, 5, 9, 10}))
}
