package control

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/form"
)

// prepared is a submission that is ready to run.
type prepared struct {
	tag        string
	env        *attribute.Environment
	job        *attribute.Attribute // named once the scheduler's id is known
	submit     *config.Command
	files      []StagedFile
	invocation *command.Invocation // what submit was resolved to
	request    Submission
}

// scope is what the texts of the submission are resolved against.
func (p *prepared) scope() command.Scope { return command.Scope{Environment: p.env, Job: p.tag} }

// prepare resolves everything that can be wrong before anything happens.
func (c *Controller) prepare(ctx context.Context, s Submission, interactive bool) (*prepared, error) {
	p := &prepared{tag: cmp.Or(s.Tag, uuid.NewString()), request: s}
	var err error
	if p.submit, err = c.submitCommand(s.Debug); err != nil {
		return nil, err
	}
	if p.submit.Element.IsInteractive() != interactive {
		return nil, c.otherKind(interactive)
	}
	if p.env, err = c.submissionEnvironment(ctx, s, c.refresh()); err != nil {
		return nil, err
	}
	p.job = jobAttribute(p.env, p.tag, "", "")
	p.env.SetVariable(attributeTag, p.tag)
	clearFacts(p.env)
	if err := c.fill(p.env, s, c.stat(ctx)); err != nil {
		return nil, err
	}
	if p.files, err = c.stagedFiles(s, p.scope(), p.tag, uuid.NewString); err != nil {
		return nil, err
	}
	p.invocation, err = command.Resolve(p.submit, p.scope(), s.Launch)
	return p, err
}

// fill gives the environment the values of a submission, in the order of the
// reference: the caller's values, nothing for visible attributes that no
// control of the form sets, links, and what the engine knows.
func (c *Controller) fill(env *attribute.Environment, s Submission, stat attribute.Stat) error {
	assigned, err := c.assign(env, s, stat)
	if err != nil {
		return err
	}
	for _, note := range assigned.notes {
		c.log.Warn(note, "target", c.target)
	}
	selection, err := form.Select(c.definition, env, s.Tab, s.ScriptFile != "", assigned.given)
	if err != nil {
		return err
	}
	selection.Clear()
	c.setLaunch(env, s)
	if err := selection.FollowLinks(); err != nil {
		// The reference takes what it finds, and there are values for all links.
		c.log.Warn("some attributes take their defaults instead of each other's values", "error", err)
	}
	return nil
}

// otherKind tells that the definition runs jobs, but not of the kind asked for.
func (c *Controller) otherKind(interactive bool) error {
	if interactive {
		return &UnsupportedError{Definition: c.definition.Name, Lacks: "command for interactive jobs",
			Help: "it runs batch ones: use rmctl submit, with --wait to wait for the end"}
	}
	return &UnsupportedError{Definition: c.definition.Name, Lacks: "command for batch jobs", Help: "it runs interactive ones: use rmctl run"}
}

// check tries the values of a submission on the definition alone, but for those
// that have to wait for what start-up commands find.
func (c *Controller) check(s Submission) error {
	env := c.newEnvironment()
	startUp := c.definition.CommandsOf(config.StartUpCommand)
	discovers := c.discovers()
	s.Values = slices.DeleteFunc(slices.Clone(s.Values), func(value Assignment) bool {
		if env.Lookup(value.Name) == nil {
			return discovers
		}
		return slices.ContainsFunc(startUp, func(each *config.Command) bool { return each.MayDescribe(value.Name) })
	})
	_, err := c.assign(env, s, nil)
	return err
}

// discovers reports whether start-up commands construct attributes.
func (c *Controller) discovers() bool {
	for _, startUp := range c.definition.CommandsOf(config.StartUpCommand) {
		for _, parser := range []*config.Parser{startUp.StdoutParser, startUp.StderrParser, startUp.RedirectParser} {
			if parser != nil && slices.ContainsFunc(parser.Targets, func(t *config.Target) bool { return !t.Ref.Set }) {
				return true
			}
		}
	}
	return false
}

func (c *Controller) stat(ctx context.Context) attribute.Stat {
	return func(name string) (fs.FileInfo, error) { return c.connection.Stat(ctx, name) }
}
