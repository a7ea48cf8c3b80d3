package control

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/directory"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/rendering"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// Results and errors of resolving a submission.
type (
	// A ValueError names an attribute that could not be given a value, and why.
	ValueError = submission.ValueError
	// A VariableNameError reports an environment variable with an invalid name.
	VariableNameError = submission.VariableNameError
	// An UnsupportedError names a command that a definition lacks.
	UnsupportedError = submission.UnsupportedError
	// A Rendering shows what a submission would do, without doing it.
	Rendering = rendering.Rendering
)

// Form returns the launch tab of the definition, filled in with the values of a submission,
// and the page of the submission. A definition without a launch tab gets one with everything.
// It starts a session if needed. Errors of values are *ValueError or *attribute.InvalidError.
func (c *Controller) Form(ctx context.Context, s job.Submission) (*form.Form, *form.Page, error) {
	env, err := c.submissionEnvironment(ctx, s, c.refresh())
	if err != nil {
		return nil, nil, err
	}
	return c.resolver.FormOver(env, s, c.stat(ctx))
}

// FormWithoutSession is Form without a session: it lacks the findings of start-up
// commands.
func (c *Controller) FormWithoutSession(ctx context.Context, s job.Submission) (*form.Form, *form.Page, error) {
	return c.resolver.FormOver(c.resolver.NewEnvironment(), s, c.stat(ctx))
}

// FormEnvironment returns the environment of a form: the findings of the session, with the
// values of the target.
func (c *Controller) FormEnvironment(ctx context.Context) (*attribute.Environment, error) {
	env, err := c.submissionEnvironment(ctx, job.Submission{}, c.refresh())
	if err != nil {
		return nil, err
	}
	_, err = c.resolver.AssignDefaults(env)
	return env, err
}

// Stat looks files up for the validators of a form, relative ones in the folder
// of the submission.
func (c *Controller) Stat(ctx context.Context, s job.Submission) attribute.Stat {
	stat := c.stat(ctx)
	return func(name string) (fs.FileInfo, error) { return stat(submission.Within(s.Directory, name)) }
}

// List returns the content of a directory on the target; see [directory.List].
func (c *Controller) List(ctx context.Context, folder string) ([]directory.Entry, error) {
	return directory.List(ctx, c.connection, folder)
}

// Press runs the command of a form button with the entered values, and keeps its findings.
// FormEnvironment returns the new environment for a form that the button refreshes.
func (c *Controller) Press(ctx context.Context, button *launchtab.PushButton, s job.Submission) (*command.Result, error) {
	if button.Action.Name == "" {
		return nil, fmt.Errorf("the form's button %q has no action", button.Title.Text)
	}
	return c.action(ctx, button.Action.Name, s, button.ClearValue.Name)
}

// Render resolves everything that a submission, and the commands after it, would run. Ids
// that are known only later are @jobId and, in file names, UUID. For a definition that
// submits nothing it shows the other commands.
func (c *Controller) Render(s job.Submission) (*Rendering, error) {
	s, err := c.tracked.Wrap(s, "UUID")
	if err != nil {
		return nil, err
	}
	return rendering.Over(c.resolver, c.resolver.NewEnvironment(), s)
}

// Preview is Render with the findings of the session, including attributes that start-up
// commands constructed. It starts a session if there is no recent one.
func (c *Controller) Preview(ctx context.Context, s job.Submission) (*Rendering, error) {
	env, err := c.submissionEnvironment(ctx, s, c.refresh())
	if err == nil {
		s, err = c.tracked.Wrap(s, "UUID")
	}
	if err != nil {
		return nil, err
	}
	return rendering.Over(c.resolver, env, s)
}
