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
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/job"
)

// prepared is a submission that is ready to run.
type prepared struct {
	tag        string
	env        *attribute.Environment
	job        *attribute.Attribute // named once the scheduler's id is known
	submit     *config.Command
	files      []StagedFile
	invocation *command.Invocation // what submit was resolved to
	request    job.Submission
}

// scope is what the texts of the submission are resolved against.
func (p *prepared) scope() command.Scope { return command.Scope{Environment: p.env, Job: p.tag} }

// prepare resolves a submission in one pass, before anything of it happens: the
// environment of the session, the values in it, the files, and the submit command.
func (c *Controller) prepare(ctx context.Context, s job.Submission, interactive bool) (*prepared, error) {
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
	if err := c.resolveValues(p.env, s, c.stat(ctx)); err != nil {
		return nil, err
	}
	if p.files, err = c.stagedFiles(s, p.scope(), p.tag, uuid.NewString); err != nil {
		return nil, err
	}
	p.invocation, err = command.Resolve(p.submit, p.scope(), s.Environment)
	return p, err
}

// resolveValues gives attributes the values of a submission, in the order of the
// reference: those of the target and the caller, nothing for visible attributes that no
// control of the form sets, what the engine knows of the program, and links.
func (c *Controller) resolveValues(env *attribute.Environment, s job.Submission, stat attribute.Stat) error {
	assigned, err := c.assign(env, s, stat)
	if err != nil {
		return err
	}
	for _, note := range assigned.notes {
		c.log.Warn(note, "target", c.target)
	}
	selection, err := form.Select(c.definition, env, s.Tab, s.Script != "", assigned.given)
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

// otherKind is the error of a definition that runs jobs of the other kind only.
func (c *Controller) otherKind(interactive bool) error {
	if interactive {
		return &UnsupportedError{Definition: c.definition.Name, Lacks: "command for interactive jobs",
			Help: "it runs batch ones: use rmctl submit, with --wait to wait for the end"}
	}
	return &UnsupportedError{Definition: c.definition.Name, Lacks: "command for batch jobs", Help: "it runs interactive ones: use rmctl run"}
}

// Check tries the values of a submission on the definition alone, without running
// anything. Values that depend on what start-up commands find are not checked. Errors
// are *ValueError and *attribute.InvalidError, several joined.
func (c *Controller) Check(s job.Submission) error {
	env := c.newEnvironment()
	s.Values = slices.DeleteFunc(slices.Clone(s.Values), func(value job.Assignment) bool {
		return c.mayFind(value.Name, env.Lookup(value.Name) != nil)
	})
	_, err := c.assign(env, s, nil)
	return err
}

// mayFind reports whether start-up commands may decide which values an attribute takes:
// one of the definition they may describe, another one they may construct.
func (c *Controller) mayFind(name string, isDefined bool) bool {
	constructs := func(parser *config.Parser) bool {
		return slices.ContainsFunc(parser.Targets, func(target *config.Target) bool { return !target.Ref.Set })
	}
	return slices.ContainsFunc(c.definition.CommandsOf(config.StartUpCommand), func(startUp *config.Command) bool {
		if isDefined {
			return startUp.MayDescribe(name)
		}
		return slices.ContainsFunc(startUp.Parsers(), constructs)
	})
}

func (c *Controller) stat(ctx context.Context) attribute.Stat {
	return func(name string) (fs.FileInfo, error) { return c.connection.Stat(ctx, name) }
}
