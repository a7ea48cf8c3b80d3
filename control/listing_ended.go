package control

import (
	"context"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/listing"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// listEnded lists ended jobs with x:list-ended: with one command or, if the command uses ids,
// in batches. Jobs that the listing lacks may still exist. With an error it returns the rows
// of the earlier commands.
func (c *tracker) listEnded(ctx context.Context, list *config.Command, jobs []job.Job) (*listing.Listing, error) {
	whole := c.newListing(list)
	request := listRequest{command: list, origins: originsOf(list), earliest: c.now()}
	form, err := c.ids()
	if err != nil {
		return whole, err
	}
	var batches submission.IDBatches
	for i := range jobs {
		if jobs[i].Created.Before(request.earliest) {
			request.earliest = jobs[i].Created
		}
		if _, task, isID := form.Split(jobs[i].ID); isID && task == "" { // rows are about whole jobs
			batches.Add(jobs[i].ID)
		}
	}
	if !namesIDs(c.session, list) {
		batches.Texts = []string{""}
	}
	for _, request.ids = range batches.Texts {
		listed, err := c.listWith(ctx, request)
		if err != nil {
			return whole, err
		}
		whole.AddAll(listed)
	}
	return whole, nil
}
