package rank

// sizes are the variables with the number of ranks, by the variables with the rank.
var sizes = map[string][]string{
	"OMPI_COMM_WORLD_RANK": {"OMPI_COMM_WORLD_SIZE"},
	"PMI_RANK":             {"PMI_SIZE"},
	"FLUX_TASK_RANK":       {"FLUX_JOB_SIZE"},
	"RMCTL_PROCESS_RANK":   {"RMCTL_PROCESSES"},
	slurmRank:              {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
}

// SizeOf returns the number of ranks started by the launcher of an identity, 0 if unknown.
func SizeOf(variable func(name string) string, identity Identity) int {
	for _, name := range sizes[identity.Variable] {
		if size, isNumber := parse(variable(name)); isNumber && size > identity.Rank {
			return size
		}
	}
	return 0
}
