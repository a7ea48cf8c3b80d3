package monitor_test

import (
	"fmt"
	"testing"
	"time"

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

func TestMachinesAndTheSchedulerAreListedIfTheyHaveAnInterval(t *testing.T) {
	watching(t, func(t *testing.T, w *watch) {
		w.options.Intervals = map[model.Kind]time.Duration{model.ResourceManager: time.Second, model.Machine: time.Second}
		w.source.set(model.ResourceManager, nil, rowOf("x", `attributes={"licenses":"4","rmState":"STOPPED"}`))
		w.source.set(model.Machine, nil, rowOf("big", "state=ERROR", `attributes={"rack":"7"}`), rowOf("small", "state=UNKNOWN"), rowOf("odd", "state=x"))
		w.source.set(model.Node, nil, rowOf("n1", "state=UP", "machine=big"), rowOf("n2", "state=UP", "machine=small"), rowOf("n3", "state=DOWN", "machine=small"), rowOf("n4", "state=UP", "machine=other"))
		w.begin()
		require.Equal(t, []string{"big", "odd", "other", "small"}, w.ids(model.Machine))
		require.Equal(t, "ERROR", w.value(model.Machine, "big", "machineState"), "as it is listed")
		require.Equal(t, "7", w.value(model.Machine, "big", "rack"))
		require.Equal(t, "1", w.value(model.Machine, "big", "numNodes"))
		require.Equal(t, "ALERT", w.value(model.Machine, "small", "machineState"), "as its nodes are")
		require.Equal(t, "UP", w.value(model.Machine, "odd", "machineState"))
		require.Equal(t, "4", w.own("licenses"))
		require.Equal(t, "STARTING", w.own("rmState"))

		w.source.set(model.ResourceManager, nil, rowOf("x", `attributes={"users":"8"}`))
		w.source.set(model.Machine, nil, rowOf("big", "state=ALERT"))
		w.again()
		require.Equal(t, "ALERT", w.value(model.Machine, "big", "machineState"))
		require.Empty(t, w.value(model.Machine, "big", "rack"))
		require.Equal(t, []string{"big", "other", "small"}, w.ids(model.Machine), "one without nodes is gone")
		require.Empty(t, w.own("licenses"))
		require.Equal(t, "8", w.own("users"))

		w.source.set(model.Machine, nil)
		w.again()
		require.Equal(t, "UP", w.value(model.Machine, "big", "machineState"), "nobody says more than its nodes")
	})
}

func TestExtraAttributesOfRowsAreLimited(t *testing.T) {
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
