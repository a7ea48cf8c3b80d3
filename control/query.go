package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// An answer is a scheduler's answer about a job.
type answer struct {
	job.Observation
	forgotten bool // the scheduler does not know the job
	undecided bool // the definition maps the scheduler's word to no state
	attempts  []attempt
}

// An attempt is a command that a query ran.
type attempt struct {
	command *config.Command
	result  *command.Result
}

// query queries the scheduler for a job, and counts an answer that is not understood.
func (c *session) query(ctx context.Context, known job.Job) (answer, error) {
	found, err := c.inquire(ctx, known)
	c.countQuery(context.WithoutCancel(ctx), known.ID, found, err)
	return found, err
}

// inquire runs the status command and, while the state is unknown, the fallbacks for the
// outcome of the command before them.
func (c *session) inquire(ctx context.Context, known job.Job) (answer, error) {
	status, err := c.resolver.Command(config.GetJobStatus)
	if err != nil {
		return answer{}, err
	}
	env, err := c.jobEnvironment(ctx, known)
	if err != nil {
		return answer{}, err
	}
	key := uuid.NewString()
	j := submission.JobAttribute(env, key, known.ID, known.ShortID)
	clearFacts(env)
	if !known.CancelAccepted.IsZero() {
		env.SetVariable(submission.AttributeCanceled, "true")
	}
	found, outcome := answer{}, config.OutcomeKind("")
	so := inquiry{tasks: reader.ParseMemory(known.Tasks)}
	for _, tried := range append([]*config.Command{status}, status.Fallbacks...) {
		isFallback := tried != status
		if isFallback && !triedAfter(tried, outcome) {
			continue
		}
		begun := c.now()
		result, err := c.runFor(ctx, tried, env, key, readingOf(known, so.tasks))
		if isFallback && errors.Is(err, remote.ErrCommandNotFound) {
			outcome = config.NotFound
			continue // such as a site without accounting tools; the answer so far counts
		}
		outcome = so.add(tried, result, err, known)
		found = answer{Observation: c.observation(env, j, tried, result, begun), forgotten: so.forgotten, attempts: so.attempts}
		found.undecided = isUndetermined(attribute.Text(j.Value()))
		if found.Detail != "" {
			found.forgotten = false
			return found, nil
		}
	}
	found, err = conclude(found, so.ended, so.failure())
	switch {
	case err == nil && found.forgotten && known.Missing:
		found = c.concludeAbsence(found, so.earlier, known)
	case errors.Is(err, errNothingUnderstood) && c.wasCanceled(known): // and its row is gone
		found.Detail, err = job.Completed, nil
	}
	return found, err
}

// silenceAfterCancel is how long after a cancel an answer without the job does not mean yet
// that it has ended.
const silenceAfterCancel = 10 * time.Second

// wasCanceled reports whether the scheduler accepted some time ago to cancel a job.
func (c *session) wasCanceled(known job.Job) bool {
	return !known.CancelAccepted.IsZero() && c.now().Sub(known.CancelAccepted) >= silenceAfterCancel
}

// concludeAbsence returns the state of a missing job: the state that its definition gives to
// long absence, for schedulers that keep no record of jobs. A canceled job has ended in any
// case.
func (c *session) concludeAbsence(found answer, last *reader.Answer, known job.Job) answer {
	var absence *reader.Absence
	if last != nil {
		absence = last.Absence
	}
	state, isOver := absence.StateOf(c.now().Sub(known.MissingSince), !known.CancelAccepted.IsZero())
	switch {
	case isOver:
		found.Detail, found.Reason, found.forgotten = state, absence.Reason, false
	case absence == nil && c.wasCanceled(known):
		found.Detail, found.forgotten = job.Completed, false // which the record takes for canceled
	}
	return found
}

// An inquiry collects the answers of the commands of a query.
type inquiry struct {
	ended, forgotten bool
	isThere          bool // a command found the job, whatever the others print
	failures         []error
	attempts         []attempt
	earlier          *reader.Answer // of the last command with a reader
	tasks            reader.Memory  // of the tasks of the job
	doubt            error          // why the answer is unusable
}

// add adds the answer of a command and returns its outcome.
func (i *inquiry) add(tried *config.Command, result *command.Result, err error, known job.Job) config.OutcomeKind {
	outcome, failure := outcomeOf(result, err)
	i.failures = append(i.failures, failure)
	i.ended = i.ended || outcome == config.Finished
	i.forgotten = !i.isThere && (i.forgotten || outcome == config.NotFound)
	i.attempts = append(i.attempts, attempt{tried, result})
	if result.Answer == nil {
		return outcome
	}
	i.earlier = result.Answer
	element := elementOf(result.Answer, known)
	isThere := element != nil
	if isThere {
		i.tasks = i.tasks.With(element.Memory)
		i.isThere = true
	}
	if doubt := doubtOf(tried, result, known); doubt != nil || isThere {
		i.doubt = doubt // an answer without the job does not resolve the doubt of another
	}
	i.forgotten = !i.isThere && (i.forgotten || outcome == config.Succeeded)
	return outcome
}

// failure returns why the commands together say nothing; nil if they do.
func (i *inquiry) failure() error {
	if i.ended && i.earlier != nil && i.doubt == nil {
		i.doubt = errEndUnknown
	}
	return errors.Join(append(i.failures, i.doubt)...)
}

// triedAfter reports whether a fallback is meant for an outcome.
func triedAfter(fallback *config.Command, outcome config.OutcomeKind) bool {
	return len(fallback.On) == 0 || slices.Contains(fallback.On, outcome)
}

// conclude interprets a query without a state: the job has ended in an unknown way, the
// scheduler has forgotten it, its state is a word outside the vocabulary, or nothing is known.
// If a command failed, a job that the others do not know does not count as forgotten.
func conclude(found answer, ended bool, failure error) (answer, error) {
	switch {
	case failure != nil:
		return found, failure
	case ended:
		found.Detail, found.forgotten = job.Completed, false
		return found, nil
	case found.forgotten, found.Native != "":
		return found, nil
	}
	return found, errNothingUnderstood
}

var errEndUnknown = errors.New("the job has ended, and the scheduler does not say how")

var errNothingUnderstood = errors.New("the status command printed nothing that the definition understands; " +
	"rmctl replay --trace shows how its output is read")

// isUndetermined reports whether a text is the state for "not known".
func isUndetermined(text string) bool {
	detail, known := job.ParseDetail(text)
	return known && detail == job.Undetermined
}

// outcomeOf returns how a command on a job ended, and its error if it did or found out
// nothing, even if its exit status is ignored.
func outcomeOf(result *command.Result, err error) (config.OutcomeKind, error) {
	switch result.Outcome {
	case config.NotFound, config.Finished, config.Incomplete:
		return result.Outcome, nil
	case config.Unreadable:
		return result.Outcome, err // of a listing
	case config.Transient, config.Doubtful, config.Denied:
		if err == nil {
			err = fmt.Errorf("%s: %s", result.Outcome, strings.TrimSpace(result.Stderr+result.Stdout))
		}
		return result.Outcome, err
	}
	if err != nil {
		return config.Transient, err
	}
	return config.Succeeded, nil
}

// jobFacts are the facts about a job that parsers write to attributes.
var jobFacts = []string{
	"native", "exitCode", "signal", "reason", "queue", "name", "nodes",
	"submitted", "started", "ended", "outputPath", "errorPath", "identity", "tasks",
}

// clearFacts removes facts of other jobs and of earlier queries.
func clearFacts(env *attribute.Environment) {
	for _, fact := range jobFacts {
		if a := env.Lookup(submission.AttributeJobPrefix + fact); a != nil {
			a.SetValue(nil)
		}
	}
}

// jobFact returns a fact about a job from its attribute, or "".
func jobFact(env *attribute.Environment, fact string) string {
	return env.Text(submission.AttributeJobPrefix + fact)
}

// observation collects the findings of a query's parsers: the state, which is the value of the
// job, and facts. A word outside the vocabulary is not a state; it is shown as the scheduler's
// word.
func (c *session) observation(env *attribute.Environment, j *attribute.Attribute, source *config.Command, result *command.Result, begun time.Time) job.Observation {
	word := attribute.Text(j.Value())
	if word == noState {
		word = ""
	}
	found := job.Observe(func(fact string) string {
		switch fact {
		case "state":
			return word
		case "owner":
			return "" // of rows only
		}
		return jobFact(env, fact)
	})
	c.zoneOf(source).Complete(&found.Submitted, &found.Started, &found.Ended)
	found.Observed, found.Source, found.Evidence, found.Origin = begun, source.Name, result.Stdout, originOf(j)
	if _, isKnown := job.ParseDetail(word); !isKnown && found.Native == "" {
		found.Native = word
	}
	native := env.Lookup(submission.AttributeJobPrefix + "native")
	if native != nil && native.Value() != nil && (found.Detail == "" || found.Origin.Text == "") {
		found.Origin = originOf(native)
	}
	return found
}

// noState is the text that PTP writes for an absent value.
const noState = "null"

// originsOf returns the entry for whose values parsers keep the line: the state for commands
// that report jobs, none for others.
func originsOf(which *config.Command) string {
	switch which.Element {
	case config.GetJobStatus, config.Fallback, config.FindJob, config.ListJobs, config.ListEnded,
		config.SubmitBatch, config.SubmitBatchDebug, config.SubmitInteractive, config.SubmitInteractiveDebug:
		return "state"
	}
	return ""
}

// originOf returns the line that the value of an attribute was read from.
func originOf(a *attribute.Attribute) job.Origin {
	if origin := a.Origin; origin != nil {
		return job.Origin{Stream: origin.Stream, Line: origin.Line, Text: origin.Text}
	}
	return job.Origin{}
}
