package control

import (
	"context"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// ListEnded returns the jobs that x:list-ended reports for some ids.
func (c *Controller) ListEnded(ctx context.Context, jobs []job.Job) (map[string]job.Observation, error) {
	listed, err := c.listEnded(ctx, c.definition.Command(config.ListEnded), jobs)
	ended := map[string]job.Observation{}
	for i := range jobs {
		if seen, isListed := listed.About(&jobs[i]); isListed {
			ended[jobs[i].ID] = seen
		}
	}
	return ended, err
}
