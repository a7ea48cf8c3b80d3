package control

import (
	"context"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// A Rendering shows what a submission would do, without doing it.
type Rendering struct {
	Script   string // empty where the definition has none
	Files    []StagedFile
	Commands []*command.Invocation // all of the definition, in document order, and its probes; some may have nothing to run
}

// Render resolves everything that a submission, and the commands that follow
// it, would run. In place of ids that are known only later stand @jobId and,
// in file names, UUID. Of a definition that submits nothing it shows the rest.
func (c *Controller) Render(s job.Submission) (*Rendering, error) {
	return c.renderOver(c.newEnvironment(), s)
}

// Preview is Render with what the session has found, attributes that start-up
// commands have constructed among it. It starts a session where none is young enough.
func (c *Controller) Preview(ctx context.Context, s job.Submission) (*Rendering, error) {
	env, err := c.submissionEnvironment(ctx, s, c.refresh())
	if err != nil {
		return nil, err
	}
	return c.renderOver(env, s)
}

func (c *Controller) renderOver(env *attribute.Environment, s job.Submission) (*Rendering, error) {
	jobAttribute(env, attribute.JobPlaceholder, attribute.JobPlaceholder, attribute.JobPlaceholder)
	if err := c.resolveValues(env, s, nil); err != nil {
		return nil, err
	}
	scope := command.Scope{Environment: env}
	files, err := c.stagedFiles(s, scope, "UUID", func() string { return "UUID" })
	if err != nil {
		return nil, err
	}
	rendering := &Rendering{Files: files, Script: env.Text(attributeScript)}
	submit, err := c.submitCommand(s.Debug)
	if err != nil && s.Debug {
		return nil, err
	}
	for _, each := range c.definition.Commands {
		if each.Element.IsSubmit() && each != submit {
			continue
		}
		launch := job.Environment{}
		if each.Element.IsSubmit() || each.Element == config.ButtonAction {
			launch = s.Environment
		}
		for _, one := range append([]*config.Command{each}, each.Fallbacks...) {
			invocation, err := command.Preview(one, scope, launch)
			if err != nil {
				return nil, err
			}
			rendering.Commands = append(rendering.Commands, invocation)
		}
	}
	for _, probe := range c.definition.Probes {
		invocation, err := command.Preview(probe.Command, scope, job.Environment{})
		if err != nil {
			return nil, err
		}
		rendering.Commands = append(rendering.Commands, invocation)
	}
	return rendering, nil
}
