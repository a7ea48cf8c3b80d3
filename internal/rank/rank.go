// Package rank finds the rank and the job of a process from its environment.
package rank

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// An Identity identifies a process in its job.
type Identity struct {
	Namespace string // of the ranks: one start of a parallel program; may be empty
	Rank      int
	Variable  string // that says the rank; empty if the process is the only one
}

// Variables of launchers.
const (
	slurmRank      = "SLURM_PROCID"
	slurmStep      = "SLURM_STEP_ID"
	slurmStepOld   = "SLURM_STEPID" // as versions before 14 have it
	pmixNamespace  = "PMIX_NAMESPACE"
	slurmBatchStep = "4294967291"
)

// launchers are the variables with ranks, that of the innermost launcher first: an MPI that
// Slurm starts inherits the variables of Slurm.
var launchers = []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "FLUX_TASK_RANK", "RMCTL_PROCESS_RANK", slurmRank}

const (
	// mostRank bounds ranks: the largest machines have 10 million cores.
	mostRank = 1 << 26
	// mostNamespace bounds names of namespaces, in bytes.
	mostNamespace = 128
)

// An InvalidError reports that a variable has no valid rank.
type InvalidError struct{ Variable, Value string }

// Error names the variable and its value.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s is not a rank: %.40q", e.Variable, e.Value)
}

// Of returns the identity of a process by its environment. The function variable returns the
// value of a variable, or "". If from is not empty, it names the variable with the rank, instead
// of those of launchers. Without a variable Of returns false. The error is an *InvalidError.
func Of(variable func(name string) string, from string) (Identity, bool, error) {
	names := launchers
	if from != "" {
		names = []string{from}
	}
	for _, name := range names {
		value := variable(name)
		if value == "" || name == slurmRank && from == "" && isBatchStep(variable) {
			continue
		}
		number, isRank := parse(value)
		if !isRank {
			return Identity{}, false, &InvalidError{name, value}
		}
		return Identity{Namespace: namespaceOf(variable), Rank: number, Variable: name}, true, nil
	}
	return Identity{}, false, nil
}

// isBatchStep reports whether a process belongs to the script of a batch job, which Slurm
// gives a rank, too.
func isBatchStep(variable func(name string) string) bool {
	for _, name := range []string{slurmStep, slurmStepOld} {
		if step := variable(name); step != "" {
			return step == slurmBatchStep
		}
	}
	return true
}

// namespaceOf returns the namespace that all ranks of one start of a program share.
func namespaceOf(variable func(name string) string) string {
	namespace := variable(pmixNamespace)
	if step := variable(slurmStep); namespace == "" && !isBatchStep(variable) {
		namespace = step
	}
	isPlain := !strings.ContainsFunc(namespace, func(r rune) bool { return r <= ' ' || r > '~' })
	if len(namespace) > mostNamespace || !isPlain {
		hash := sha256.Sum256([]byte(namespace))
		return hex.EncodeToString(hash[:16])
	}
	return namespace
}

// parse reads a rank in decimal digits.
func parse(text string) (int, bool) {
	if len(text) > len("67108864") || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	number, err := strconv.Atoi(text)
	return number, err == nil && number <= mostRank
}
