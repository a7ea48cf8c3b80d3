package control

import (
	"context"

	"github.com/rmctl/rmctl/job"
)

// Render resolves everything that a submission, and the commands that follow
// it, would run. In place of ids that are known only later stand @jobId and,
// in file names, UUID. Of a definition that submits nothing it shows the rest.
func (c *Controller) Render(s job.Submission) (*Rendering, error) {
	return c.resolver.RenderOver(c.resolver.NewEnvironment(), s)
}

// Preview is Render with what the session has found, attributes that start-up
// commands have constructed among it. It starts a session where none is young enough.
func (c *Controller) Preview(ctx context.Context, s job.Submission) (*Rendering, error) {
	env, err := c.submissionEnvironment(ctx, s, c.refresh())
	if err != nil {
		return nil, err
	}
	return c.resolver.RenderOver(env, s)
}
