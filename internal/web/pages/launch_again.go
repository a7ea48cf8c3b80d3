package pages

import (
	"context"
	"net/http"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
)

// again returns the address of the form that is filled in with what was submitted as a job;
// empty if that is not known.
func (p *Pages) again(ctx context.Context, manager string, record job.Job) string {
	if record.Tag == "" || record.Interactive {
		return ""
	}
	if _, err := p.Platform.Controller(manager); err != nil {
		return ""
	}
	complete, err := p.Store.ByTag(ctx, record.Tag)
	if err == nil {
		_, err = requested.Of(complete)
	}
	if err != nil {
		return ""
	}
	return listing.AddressOf(launchAddress, listing.Query("rm", manager, "again", record.Tag))
}

// launchAgain returns the submission that repeats the one of a job, with changes.
func (p *Pages) launchAgain(ctx context.Context, controller *control.Controller, manager, id string, changes job.Submission) (job.Submission, error) {
	before, err := p.Platform.Recorded(ctx, manager, id)
	if err == nil {
		before, err = p.Store.ByTag(ctx, before.Tag) // which has what was requested
	}
	if err != nil {
		return changes, err
	}
	submission, err := requested.Again(before, changes, controller.Definition)
	if err != nil {
		return submission, answer.Errorf(http.StatusConflict, "%w", err)
	}
	return submission, nil
}
