package control

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/follow"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// A Holder names the holder of an interactive job. It is empty if the process of the job has
// ended or is unknown.
type Holder string

// The holders.
const (
	HeldByProgram Holder = "program"   // by the program that submitted it
	HeldByHost    Holder = "host"      // by one that runs jobs for others
	HeldElsewhere Holder = "elsewhere" // by a program on another machine, if that is still there
)

// Holder returns the current holder of an interactive job, as far as this machine can know.
func (c *Controller) Holder(job job.Job) Holder {
	switch {
	case mayBeAttached(job) && presence.PresenceOf(job.Submitter) == presence.Elsewhere:
		return HeldElsewhere
	case !c.isAttached(job):
		return ""
	case job.Hosted:
		return HeldByHost
	}
	return HeldByProgram
}

// endingTakes is how long a program may take to end a job: to kill its process and to run
// the definition's command.
const endingTakes = 3 * time.Minute

// EndHeld makes the program that an interactive job is attached to end the job, and
// waits until it has recorded the end. The job must be held by a program, not by a
// host.
func (c *Controller) EndHeld(ctx context.Context, job job.Job) (job.Job, error) {
	if held := c.Holder(job); held != HeldByProgram {
		return job, fmt.Errorf("ending job %s: no program holds it (%q)", job.ID, held)
	}
	number, _, _ := strings.Cut(job.Submitter, " ")
	id, err := strconv.Atoi(number)
	if err == nil {
		err = syscall.Kill(id, syscall.SIGTERM)
	}
	if err != nil {
		return job, fmt.Errorf("ending job %s through the program that holds it: %w", job.ID, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, endingTakes, fmt.Errorf("the program that holds job %s (process %d) did not end it within %s", job.ID, id, endingTakes))
	defer cancel()
	pace := follow.Pace{Shortest: 20 * time.Millisecond, Longest: time.Second}
	for c.isAttached(job) {
		if err := c.pause(ctx, pace.Next(false)); err != nil {
			return job, fmt.Errorf("ending job %s: %w", job.ID, context.Cause(ctx))
		}
		if job, err = c.store.ByTag(ctx, job.Tag); err != nil {
			return job, err
		}
	}
	return c.store.ByTag(ctx, job.Tag)
}

// Input resolves the definition's input again for a running job, to be sent to its process
// once more (rm-format 3.13, rerun). The job must be complete, as returned by Store.ByTag. The
// text ends with a line break.
func (c *Controller) Input(ctx context.Context, j job.Job) (string, error) {
	if !j.Interactive {
		return "", fmt.Errorf("sending input to job %s: it is a batch job", j.ID)
	}
	if j.Detail != job.Running {
		return "", fmt.Errorf("sending input to job %s: it is %s, not %s", j.ID, j.Detail, job.Running)
	}
	s, err := requested.Of(j)
	if err != nil {
		return "", err
	}
	submit, err := c.resolver.SubmitCommand(s.Debug)
	if err != nil {
		return "", err
	}
	if len(submit.Input) == 0 {
		return "", &UnsupportedError{Of: c.definition, Lacks: "input in its " + string(submit.Element) + " command"}
	}
	env, err := c.submissionEnvironment(ctx, s, anyAge)
	if err != nil {
		return "", err
	}
	if s, err = c.tracked.Wrap(s, j.Tag); err != nil {
		return "", err
	}
	env.SetVariable(submission.AttributeTag, j.Tag)
	submission.JobAttribute(env, j.Tag, j.ID, j.ShortID)
	if err := c.resolver.ResolveValues(env, s, c.stat(ctx)); err != nil {
		return "", err
	}
	line, err := config.Scope{Environment: env, Job: j.Tag}.Line(submit.Input)
	if err != nil {
		return "", fmt.Errorf("resolving the input of job %s: %w", j.ID, err)
	}
	return line + "\n", nil
}

// CheckInteractive returns the error that RunInteractive would return before
// anything is recorded or run.
func (c *Controller) CheckInteractive(ctx context.Context, s job.Submission) error {
	p, err := c.prepare(ctx, s, true)
	if err != nil {
		return err
	}
	return c.refuseSecond(ctx, p, "")
}

// localTransport is the transport of the connection of [remote.NewLocal].
const localTransport = "local"

// IsHosted reports whether a host should run the interactive jobs of the definition, so
// that users can detach from them: those that keep a command open or use a
// pseudo-terminal, and all that run at another place.
func (c *Controller) IsHosted(debug bool) bool {
	submit := c.definition.Submit(debug)
	if submit == nil || !submit.Element.IsInteractive() {
		return false
	}
	return submit.KeepOpen || submit.AllocatePTY || c.place.Transport != localTransport
}

// AllocatesTerminal reports whether jobs of the definition get a pseudo-terminal.
func (c *Controller) AllocatesTerminal(debug bool) bool {
	submit := c.definition.Submit(debug)
	return submit != nil && submit.Element.IsInteractive() && submit.AllocatePTY
}

// NamesJobs reports whether the output of interactive commands gives jobs an id. Other jobs
// are known only by the tag of their submission.
func (c *Controller) NamesJobs(debug bool) bool {
	submit := c.definition.Submit(debug)
	return submit != nil && namesJob(submit)
}

func namesJob(submit *config.Command) bool {
	return submit.WaitForID || inspect.MaySet(submit, attribute.FieldName)
}
