package rank_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rank"
)

func TestTheNumberOfRanksComesFromTheLauncher(t *testing.T) {
	for name, test := range map[string]struct {
		environment map[string]string
		size        int
	}{
		"slurm":       {map[string]string{"SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "8"}, 4},
		"old slurm":   {map[string]string{"SLURM_STEPID": "0", "SLURM_PROCID": "1", "SLURM_NTASKS": "8"}, 8},
		"inner first": {map[string]string{"SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_NTASKS": "2", "PMI_RANK": "3", "PMI_SIZE": "16"}, 16},
		"too small":   {map[string]string{"PMI_RANK": "3", "PMI_SIZE": "3"}, 0},
		"no number":   {map[string]string{"PMI_RANK": "3", "PMI_SIZE": "many"}, 0},
		"unknown":     {map[string]string{"PMIX_RANK": "3", "PMI_SIZE": "4"}, 0},
		"local":       {map[string]string{"RMCTL_PROCESS_RANK": "0", "RMCTL_PROCESSES": "2"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			variable := func(name string) string { return test.environment[name] }
			identity, hasRank, err := rank.Of(variable, "")
			require.NoError(t, err)
			require.True(t, hasRank)
			require.Equal(t, test.size, rank.SizeOf(variable, identity))
		})
	}
}
