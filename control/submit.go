package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// A SubmitError says that a submission gave no job, or that it is not known whether it
// did.
type SubmitError struct {
	Tag     string // of the submission
	Unknown bool   // the job may still exist
	Output  string // the output of the submit command if it has no id
	Err     error

	// Unconfirmed is why looking for the job decided nothing, if rmctl looked for it.
	Unconfirmed *UnconfirmedError
}

// confirmation is how long rmctl looks for a job whose submit command failed.
const confirmation = time.Minute

func (e *SubmitError) Error() string {
	text := "the job was not submitted: " + e.Err.Error()
	if e.Unknown {
		text = fmt.Sprintf("it is not known whether the job was submitted (%s): %v\nlook with rmctl status or the scheduler's own commands before submitting it again", e.Tag, e.Err)
		if e.Unconfirmed != nil {
			text += "\n" + e.Unconfirmed.Error()
		}
	}
	if e.Output != "" {
		text += "\nthe submit command printed:\n" + e.Output
	}
	return text
}

// Unwrap returns the cause.
func (e *SubmitError) Unwrap() error { return e.Err }

// Submit submits a batch job and returns it with its id from the scheduler. The submission is
// on disk before the submit command starts; later errors are *SubmitError. Errors of values
// are *ValueError or *attribute.InvalidError.
func (c *Controller) Submit(ctx context.Context, s job.Submission) (job.Job, error) {
	p, err := c.prepare(ctx, s, false)
	if err != nil {
		return job.Job{}, err
	}
	if err := c.recordIntent(ctx, p); err != nil {
		return job.Job{}, err
	}
	result, runErr := c.runInvocation(ctx, command.Request{Command: p.submit, Scope: p.scope()}, p.invocation)
	// The id is recorded before any other step that may be interrupted.
	job, err := c.accept(context.WithoutCancel(ctx), p, result, runErr)
	c.cleanUp(context.WithoutCancel(ctx), p.tag, p.files)
	var failed *SubmitError
	if errors.As(err, &failed) && failed.Unknown {
		return c.confirm(context.WithoutCancel(ctx), failed)
	}
	return job, err
}

// confirm looks at once for the job of a submission that may have been made. It stops while
// the user is still waiting.
func (c *submitter) confirm(ctx context.Context, failed *SubmitError) (job.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, confirmation)
	defer cancel()
	j, err := c.Recover(ctx, job.Job{Tag: failed.Tag})
	if err == nil && j.ID != "" {
		c.log.Warn("the submit command failed, but the scheduler has the job", "id", j.ID, "error", failed.Err)
		return j, nil
	}
	var unconfirmed *UnconfirmedError
	if errors.As(err, &unconfirmed) {
		failed.Unconfirmed = unconfirmed
	}
	return job.Job{}, failed
}

// recordIntent records the intent and stages the files.
func (c *submitter) recordIntent(ctx context.Context, p *prepared) error {
	c.recordLate(ctx)
	c.tidyOnce(ctx)
	if err := c.store.Intend(ctx, c.intended(p), recordOf(p.files)...); err != nil {
		return err
	}
	if err := c.tracked.Prepare(ctx, p.request, c.target, p.tag); err != nil {
		return &SubmitError{Tag: p.tag, Err: errors.Join(err, c.refused(context.WithoutCancel(ctx), p.tag, err))}
	}
	if staged, err := submission.Stage(ctx, c.connection, p.files, c.onStaging); err != nil {
		c.cleanUpPartial(context.WithoutCancel(ctx), p.tag, staged)
		return &SubmitError{Tag: p.tag, Err: errors.Join(err, c.refused(context.WithoutCancel(ctx), p.tag, err))}
	}
	return nil
}

func (c *submitter) intended(p *prepared) job.Job {
	values := map[string]any{}
	for _, defined := range c.definition.Attributes {
		if a := p.env.Variable(defined.Name()); a.Visible() && a.Value() != nil {
			values[defined.Name()] = a.Value()
		}
	}
	return job.Job{
		Tag: p.tag, Ensemble: p.request.Ensemble, Part: p.request.Part, Target: c.target, Definition: c.definition.File, Connection: c.sessionKey(),
		Interactive: p.submit.Element.IsInteractive(),
		Observation: job.Observation{Name: c.nameOf(p), Queue: p.env.Text(submission.AttributeQueueName), Owner: c.place.User}, Directory: p.env.Text(submission.AttributeDirectory),
		Arguments:  append([]string{p.request.Executable}, p.request.Arguments...),
		Attributes: values, Script: p.env.Text(submission.AttributeScript), Request: c.requestOf(p.request), Created: c.now(), Submitter: presence.ThisProcess(), Hosted: p.request.Hosted,
	}
}

// nameOf returns the name of a job, or of its program.
func (c *submitter) nameOf(p *prepared) string {
	for _, link := range c.definition.PortableLinks("jobName") {
		if name, err := p.env.Resolve(p.env.Text(link.Attribute), ""); err == nil && name != "" {
			return name
		}
	}
	return p.env.Text(submission.AttributeExecutableName)
}

// longestID bounds the ids of jobs, in bytes: schedulers have ids of less than 100.
const longestID = 500

// printedID returns the id that a command printed, or why that is not an id.
func printedID(j *attribute.Attribute) (string, error) {
	id := j.Text(attribute.FieldName)
	switch {
	case id == "":
		return "", errors.New("no job id was found in it")
	case len(id) > longestID:
		return "", fmt.Errorf("the job id in it has %d bytes", len(id))
	}
	return id, nil
}

// accept records how the submit command ended.
func (c *submitter) accept(ctx context.Context, p *prepared, result *command.Result, runErr error) (job.Job, error) {
	id, without := printedID(p.job)
	if runErr != nil {
		var failed *command.Error
		ambiguous := errors.As(runErr, &failed) && failed.Ambiguous()
		// The command succeeded and printed an id, which proves that the job exists, whatever
		// failed around it.
		if ambiguous && failed.ExitCode == 0 && id != "" {
			c.log.Warn("the job was submitted, but a later step failed", "id", id, "error", runErr)
		} else if ambiguous {
			return job.Job{}, &SubmitError{Tag: p.tag, Unknown: true, Err: errors.Join(runErr, c.doubt(ctx, p.tag, runErr))}
		} else {
			return job.Job{}, &SubmitError{Tag: p.tag, Err: errors.Join(runErr, c.refused(ctx, p.tag, runErr))}
		}
	}
	if p.job.Text(attribute.FieldName) == "" && !p.submit.WaitForID {
		id = p.tag
	}
	if id == "" {
		err := &command.Error{Command: p.submit, Arguments: result.Invocation.Arguments, Failure: command.ParserFailed,
			Err: without}
		return job.Job{}, &SubmitError{Tag: p.tag, Unknown: true, Output: printed(result),
			Err: errors.Join(err, c.doubt(ctx, p.tag, err))}
	}
	j, err := c.accepted(ctx, p.tag, c.acceptance(p, id, result))
	if err != nil {
		return job.Job{}, c.unrecorded(id, err)
	}
	return j, nil
}

// unrecorded is the error for a submitted job whose id could not be recorded, for instance on
// a full disk. It says what to do instead of submitting the job again.
func (c *submitter) unrecorded(id string, err error) error {
	help := "note the id: the definition cannot find the job by its tag"
	switch {
	case isKept(err):
		help = "the id is kept beside the record, and rmctl recover records it once that is fixed"
	case c.definition.Command(config.FindJob) != nil:
		help = "rmctl recover finds it by its tag and records it once that is fixed"
	}
	return fmt.Errorf("the job was submitted and has the id %q, but that could not be recorded: %w\ndo not submit it again; %s", id, err, help)
}

func printed(result *command.Result) string {
	if text := result.Stdout + result.Stderr; text != "" {
		return text
	}
	return "(nothing)"
}

func (c *session) acceptance(p *prepared, id string, result *command.Result) job.Job {
	detail, known := job.ParseDetail(attribute.Text(p.job.Value()))
	if !known {
		detail = job.Submitted
	}
	short := cmp.Or(p.job.Text(attribute.FieldDefault), id)
	a := job.Job{ID: id, ShortID: short, Observation: job.Observation{Detail: detail, Observed: result.Started, Source: p.submit.Name, Evidence: result.Stdout, Origin: originOf(p.job)}}
	// The paths may be values of attributes that are themselves referred to,
	// where @jobId is not replaced but looked up.
	p.env.Define(attribute.JobPlaceholder, submission.JobAttribute(p.env, id, id, short))
	a.OutputPath = cmp.Or(jobFact(p.env, "outputPath"), c.outputPath(p.env, submission.AttributeStdoutPath, id))
	a.ErrorPath = cmp.Or(jobFact(p.env, "errorPath"), c.outputPath(p.env, submission.AttributeStderrPath, id))
	return a
}

// outputPath resolves the path of a stream of the job, now that its id is known.
func (c *session) outputPath(env *attribute.Environment, name, id string) string {
	resolved, err := env.Resolve(env.Text(name), id)
	if err != nil {
		c.log.Warn("unknown path of a job's output", "attribute", name, "error", err)
		return ""
	}
	if resolved == "" {
		return ""
	}
	if !path.IsAbs(resolved) {
		resolved = path.Join(env.Text(submission.AttributeDirectory), resolved) // where the job runs
	}
	return c.resolver.OnTarget(resolved)
}
