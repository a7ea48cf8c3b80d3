package control

import (
	"context"
	"fmt"

	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/recovery"
	"github.com/rmctl/rmctl/job"
)

// Adopt records that a submission without an outcome became the job with an id that the user
// gives. The scheduler must know the job, and nothing may contradict it: another submission
// with that job, its tag, its owner, or its submission time. If the scheduler does not know
// it, the error is a *NotFoundError.
func (c *Controller) Adopt(ctx context.Context, tag, id string) (job.Job, error) {
	j, err := c.store.ByTag(ctx, tag)
	switch {
	case err != nil:
		return job.Job{}, err
	case j.ID != "":
		return j, fmt.Errorf("submission %s is on record as job %s", tag, j.ID)
	case j.Phase == job.PhaseIntended && presence.IsAlive(j.Submitter):
		return j, fmt.Errorf("submission %s is being submitted right now", tag)
	}
	found, said, err := c.look(ctx, id)
	if err != nil {
		return j, err
	}
	owned := found
	owned.Owner = ownerOf(said, found)
	if err := c.claims().Contradiction(ctx, j, owned, c.place.User); err != nil {
		return j, err
	}
	if j, err = c.store.Accept(ctx, tag, found); err != nil {
		return j, err
	}
	return c.store.Observe(ctx, tag, found.Observation)
}

// claims returns the claims on jobs of this scheduler.
func (c *session) claims() *recovery.Claims {
	return &recovery.Claims{Store: c.store, Target: c.target, Definition: c.definition.File, Connection: c.sessionKey()}
}

// ownerOf returns the user whose job an answer is about; empty if it does not say so.
func ownerOf(said answer, found job.Job) (owner string) {
	for _, attempt := range said.attempts {
		if element := elementOf(attempt.result.Answer, found); element != nil {
			owner = element.Fact("owner")
		}
	}
	return owner
}
