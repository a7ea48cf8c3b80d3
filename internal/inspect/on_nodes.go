package inspect

import (
	"fmt"
	"regexp"

	"github.com/rmctl/rmctl/config"
)

// StartsProcess reports whether an x:on-nodes starts a process. Otherwise the job runs where
// the commands of the target run.
func StartsProcess(c *config.Command) bool { return len(c.Arguments) > 0 || c.Over != "" }

// IsForJob reports whether an x:on-nodes is for the job with an id.
func IsForJob(c *config.Command, id string) (bool, error) {
	if !c.JobIDs.IsSet() {
		return true, nil
	}
	ids, err := regexp.Compile("^(?:" + c.JobIDs.Text + ")$")
	if err != nil {
		return false, fmt.Errorf("%s: %w", c.JobIDs.Position, err)
	}
	return ids.MatchString(id), nil
}
