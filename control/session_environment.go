package control

import (
	"context"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// environment returns the environment of commands: that of the session. Its findings replace
// the target's values.
func (c *session) environment(ctx context.Context, oldest time.Duration) (*attribute.Environment, error) {
	found, err := c.findings(ctx, oldest, func() error { return nil })
	if err != nil {
		return nil, err
	}
	return c.restored(found)
}

// submissionEnvironment returns the environment for the values of a submission: that of the
// session without the target's values, which override the findings of the session. It refuses
// invalid values before it starts a session, unless they depend on one.
func (c *session) submissionEnvironment(ctx context.Context, s job.Submission, oldest time.Duration) (*attribute.Environment, error) {
	found, err := c.findings(ctx, oldest, func() error { return c.resolver.Check(s) })
	if err != nil {
		return nil, err
	}
	env := c.resolver.NewEnvironment()
	putFindings(env, found)
	return env, nil
}

// findings returns the findings of the session. If there is no session younger than oldest, it
// calls check, which may refuse, and starts one. For a definition without start-up commands a
// session of any age will do.
func (c *session) findings(ctx context.Context, oldest time.Duration, check func() error) (*attribute.Environment, error) {
	hasStart := len(c.definition.CommandsOf(config.StartUpCommand)) > 0
	if !hasStart {
		oldest = anyAge
	}
	found, err := c.keptFindings(ctx, oldest)
	switch {
	case err != nil:
		return nil, err
	case found != nil:
		return found, nil
	case !hasStart:
		return attribute.NewEnvironment(), nil
	}
	if err := check(); err != nil {
		return nil, err
	}
	return c.startSession(ctx)
}

// jobEnvironment returns the environment for commands on a job: that of the session
// with the values that the job was submitted with, which may say where its scheduler's
// commands are.
func (c *session) jobEnvironment(ctx context.Context, job job.Job) (*attribute.Environment, error) {
	env, err := c.environment(ctx, anyAge)
	if err != nil || job.Tag == "" {
		return env, err
	}
	recorded, err := c.store.ByTag(ctx, job.Tag)
	if err != nil {
		return nil, err
	}
	for name, value := range recorded.Attributes {
		if a := env.Variable(name); a != nil {
			a.SetValue(value)
		}
	}
	return env, nil
}

// restored returns a new environment with the findings of a session.
func (c *session) restored(found *attribute.Environment) (*attribute.Environment, error) {
	env, err := c.resolver.InitialEnvironment()
	if err != nil {
		return nil, err
	}
	putFindings(env, found)
	return env, nil
}

// putFindings adds the findings of a session to an environment.
func putFindings(env, findings *attribute.Environment) {
	for _, key := range findings.Variables() {
		found := findings.Variable(key)
		if defined := env.Variable(key); defined != nil {
			found.Validator = defined.Validator
		}
		env.Define(key, found)
	}
	for _, name := range findings.Discovered() {
		env.Discover(findings.DiscoveredAttribute(name))
	}
}
