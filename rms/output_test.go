package rms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/taskfile"
)

func TestWhereTasksOfArraysWrite(t *testing.T) {
	for _, c := range []struct{ definition, id, job, task string }{
		{"slurm", "51", "/w/slurm-51.out", "/w/slurm-51_3.out"},
		{"slurm", "51", "/w/%A_%a.out", "/w/51_3.out"},
		{"slurm", "51", "/w/all.out", "/w/all.out"},
		{"slurm-rest", "51", "/w/slurm-51.out", "/w/slurm-51_3.out"},
		{"pbs", "51[].pbs01", "/w/sim.o51", "/w/sim.o51.3"},
		{"pbs", "51[].pbs01", "/w/sim.e51", "/w/sim.e51.3"},
		{"pbs", "51[].pbs01", "/w/out.^array_index^", "/w/out.3"},
		{"torque", "51[].head", "/w/sim.o51", "/w/sim.o51-3"},
		{"gridengine", "51", "/w/sim.o51", "/w/sim.o51.3"},
		{"gridengine", "5", "/w.o5/sim.o51", "/w.o5/sim.o51"},
		{"gridengine", "51", "/w/$JOB_ID/$TASK_ID", "/w/51/3"},
		{"htcondor", "51", "/w/sim.o51.0", "/w/sim.o51.3"},
		{"lsf", "51", "/w/sim.%J.%I", "/w/sim.51.3"},
		{"pjm", "51", "/w/sim.%j.%b", "/w/sim.51.3"},
	} {
		defined := shippedDefinition(t, c.definition).IDs
		ids, err := reader.NewIDs(defined)
		require.NoError(t, err)
		number, _, isID := ids.Split(c.id)
		require.True(t, isID)
		require.Equal(t, c.task, taskfile.Path(defined.Outputs, c.job, number, "3"), c.definition)
	}
}
