package control

import (
	"cmp"
	"context"
	"io/fs"
	"strconv"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// prepared is a submission that is ready to run.
type prepared struct {
	tag        string
	env        *attribute.Environment
	job        *attribute.Attribute // named once the scheduler's id is known
	submit     *config.Command
	files      []submission.StagedFile
	invocation *command.Invocation // the resolved submit command
	request    job.Submission
}

// scope is the scope for resolving the texts of the submission.
func (p *prepared) scope() config.Scope { return config.Scope{Environment: p.env, Job: p.tag} }

// prepare resolves a submission in one pass, before it has any effect: the environment of the
// session, the values in it, the files, and the submit command.
func (c *submitter) prepare(ctx context.Context, s job.Submission, interactive bool) (*prepared, error) {
	p := &prepared{tag: cmp.Or(s.Tag, uuid.NewString())}
	s, err := c.tracked.Wrap(s, p.tag)
	if err != nil {
		return nil, err
	}
	p.request = s
	if p.submit, err = c.resolver.SubmitCommand(s.Debug); err != nil {
		return nil, err
	}
	if p.submit.Element.IsInteractive() != interactive {
		return nil, c.otherKind(interactive)
	}
	if interactive && !s.Terminal {
		if p.submit.NeedsTerminal {
			return nil, c.needsTerminal()
		}
		p.submit = inspect.WithoutTerminal(p.submit)
	}
	if p.env, err = c.submissionEnvironment(ctx, s, c.refresh()); err != nil {
		return nil, err
	}
	p.job = submission.JobAttribute(p.env, p.tag, "", "")
	p.env.SetVariable(submission.AttributeTag, p.tag)
	clearFacts(p.env)
	p.env.SetVariable(submission.AttributeTerminal, strconv.FormatBool(s.Terminal))
	if err := c.resolver.ResolveValues(p.env, s, c.stat(ctx)); err != nil {
		return nil, err
	}
	if p.files, err = c.resolver.StagedFiles(s, p.scope(), p.tag, uuid.NewString); err != nil {
		return nil, err
	}
	if p.invocation, err = command.Resolve(p.submit, p.scope(), s.Environment); err != nil {
		return p, err
	}
	return p, c.tracked.Check(s, p.invocation, p.files)
}

// Check checks the values of a submission against the definition without running anything. It
// does not check values that depend on start-up commands. Errors are *ValueError and
// *attribute.InvalidError, possibly joined.
func (c *Controller) Check(s job.Submission) error { return c.resolver.Check(s) }

// otherKind is the error of a definition that runs jobs of the other kind only.
func (c *submitter) otherKind(interactive bool) error {
	if interactive {
		return &UnsupportedError{Of: c.definition, Lacks: "command for interactive jobs",
			Help: "it runs batch ones: use rmctl submit, with --wait to wait for the end"}
	}
	return &UnsupportedError{Of: c.definition, Lacks: "command for batch jobs", Help: "it runs interactive ones: use rmctl run"}
}

func (c *submitter) needsTerminal() error {
	return &UnsupportedError{Of: c.definition, Lacks: "way to run without a terminal, which standard input is not",
		Help: "use rmctl submit with a definition for batch jobs"}
}

func (c *session) stat(ctx context.Context) attribute.Stat {
	return func(name string) (fs.FileInfo, error) { return c.connection.Stat(ctx, name) }
}
