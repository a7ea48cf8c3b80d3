package recovery

import (
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
)

// ProvesAbsence reports whether the answer of a command, which lacks the job of a submission,
// proves that the submission made no job.
func ProvesAbsence(tried *config.Command, result *command.Result, outcome config.OutcomeKind, created, now time.Time) bool {
	if tried.Read == nil || result.Answer == nil || outcome != config.Succeeded {
		return tried.Read == nil
	}
	return result.Answer.Absence.Proves(created, now)
}
