package monitor_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

func TestAttributesWithoutAColumnAreShownAsTheyAreDescribed(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.options.Describe = func(id string) (name, description string) {
			if id == "gpus" {
				return "GPUs", "Number of GPUs"
			}
			return "", ""
		}
		w.source.set(model.Queue, nil, rowOf("batch", "state=NORMAL", `attributes={"priority":"high"}`))
		w.source.set(model.Node, nil, rowOf("n1", "state=UP", `attributes={"gpus":"4 a100","modules":["gcc","mpi"],"colour":"green"}`))
		w.source.set(model.Job, nil, rowOf("7", "state=RUNNING", `attributes={"execName":"sums","progArgs":["a","b c"],"jobNumProcs":"4","gpus":"2"}`), rowOf("8", "state=RUNNING", "attributes=x"))
		w.begin()
		require.Equal(t, "high", w.value(model.Queue, "batch", "priority"))
		require.Equal(t, "4 a100", w.value(model.Node, "n1", "gpus"))
		require.Equal(t, "green", w.value(model.Node, "n1", "colour"))
		node, _ := w.manager().Get(model.Node, "n1")
		modules, _ := node.Value("modules")
		require.Equal(t, []string{"gcc", "mpi"}, modules.Array())
		definition, _ := w.model.Snapshot().Definition("gpus")
		require.Equal(t, model.Definition{ID: "gpus", Type: model.String, Name: "GPUs", Description: "Number of GPUs", Default: []string{""}, Display: true}, *definition)
		job, _ := w.manager().Get(model.Job, "7")
		arguments, _ := job.Value("progArgs")
		require.Equal(t, []string{"a", "b c"}, arguments.Array())
		require.Equal(t, "4", w.value(model.Job, "7", "jobNumProcs"))
		require.Equal(t, "sums", w.value(model.Job, "7", "execName"))

		w.source.set(model.Node, nil, rowOf("n1", "state=UP", `attributes={"gpus":"3"}`))
		w.again()
		require.Equal(t, "3", w.value(model.Node, "n1", "gpus"))
		require.Empty(t, w.value(model.Node, "n1", "colour"), "it is gone")
		require.Empty(t, w.problems())
	})
}

func TestAttributesOfRowsReplaceNoOthersAndAreFew(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.source.set(model.Node, nil, rowOf("n1", "state=UP", `attributes={"nodeState":"DOWN","nodeNumber":"7","name":"x","id":"y","rmState":"ERROR"}`))
		var jobs []row
		for i := range 300 {
			jobs = append(jobs, rowOf(fmt.Sprint(i), "state=RUNNING", fmt.Sprintf(`attributes={"made.up.%d":"x"}`, i)))
		}
		w.source.set(model.Job, nil, jobs...)
		w.begin()
		require.Equal(t, "UP", w.value(model.Node, "n1", "nodeState"))
		require.Equal(t, "0", w.value(model.Node, "n1", "nodeNumber"))
		require.Equal(t, "STARTING", w.own("rmState"))
		require.Equal(t, "x", w.value(model.Job, "150", "made.up.150"))
		require.Empty(t, w.value(model.Job, "299", "made.up.299"))
		require.Equal(t, map[string]int{"node: an attribute cannot be shown": 5, "job: an attribute cannot be shown": 105}, w.problems())
	})
}
