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
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// An answer is what a scheduler says of a job.
type answer struct {
	job.Observation
	forgotten bool // it does not know the job
	undecided bool // the definition knows the scheduler's word, which stands for no state
	attempts  []attempt
}

// An attempt is one command of a query that was run.
type attempt struct {
	command *config.Command
	result  *command.Result
}

// query queries a job, and counts an answer that is not understood.
func (c *session) query(ctx context.Context, asked job.Job) (answer, error) {
	seen, err := c.inquire(ctx, asked)
	c.countQuery(context.WithoutCancel(ctx), asked.ID, seen, err)
	return seen, err
}

// inquire runs the status command and, while no state is known, the fallbacks
// that are meant for what the command before them ended with.
func (c *session) inquire(ctx context.Context, asked job.Job) (answer, error) {
	status, err := c.resolver.Command(config.GetJobStatus)
	if err != nil {
		return answer{}, err
	}
	env, err := c.jobEnvironment(ctx, asked)
	if err != nil {
		return answer{}, err
	}
	key := uuid.NewString()
	j := submission.JobAttribute(env, key, asked.ID, asked.ShortID)
	clearFacts(env)
	seen, outcome, failures := answer{}, config.OutcomeKind(""), []error(nil)
	ended, forgotten := false, false
	var attempts []attempt
	for _, tried := range append([]*config.Command{status}, status.Fallbacks...) {
		isFallback := tried != status
		if isFallback && !triedAfter(tried, outcome) {
			continue
		}
		begun := c.now()
		result, err := c.run(ctx, tried, env, key)
		if isFallback && errors.Is(err, remote.ErrCommandNotFound) {
			continue // a site without, say, accounting tools; what is known already stands
		}
		var failure error
		outcome, failure = outcomeOf(result, err)
		failures = append(failures, failure)
		ended, forgotten = ended || outcome == config.Finished, forgotten || outcome == config.NotFound
		attempts = append(attempts, attempt{tried, result})
		seen = answer{Observation: c.observation(env, j, tried, result, begun), forgotten: forgotten, attempts: attempts}
		seen.undecided = isUndetermined(attribute.Text(j.Value()))
		if seen.Detail != "" {
			seen.forgotten = false
			return seen, nil
		}
	}
	return conclude(seen, ended, errors.Join(failures...))
}

// triedAfter reports whether a fallback is meant for an outcome.
func triedAfter(fallback *config.Command, outcome config.OutcomeKind) bool {
	return len(fallback.On) == 0 || slices.Contains(fallback.On, outcome)
}

// conclude decides what a query without a state says: that the job has ended, though
// not how, that it is forgotten, a word outside the vocabulary, which is shown as it
// is, or nothing. If any command failed, it does not count that the others do not know
// the job.
func conclude(seen answer, ended bool, failure error) (answer, error) {
	switch {
	case failure != nil:
		return seen, failure
	case ended:
		seen.Detail, seen.forgotten = job.Completed, false
		return seen, nil
	case seen.forgotten, seen.Native != "":
		return seen, nil
	}
	return seen, errNothingUnderstood
}

var errNothingUnderstood = errors.New("the status command printed nothing that the definition understands; " +
	"rmctl replay --trace shows how its output is read")

// isUndetermined reports whether a text is the state for "not known".
func isUndetermined(text string) bool {
	detail, known := job.ParseDetail(text)
	return known && detail == job.Undetermined
}

// outcomeOf returns how a command on a job ended, and its error if that means that
// nothing was done or found out, even if its exit status is ignored.
func outcomeOf(result *command.Result, err error) (config.OutcomeKind, error) {
	switch result.Outcome {
	case config.NotFound, config.Finished:
		return result.Outcome, nil
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

// jobFacts are the facts about a job that parsers leave in attributes.
var jobFacts = []string{
	"native", "exitCode", "signal", "reason", "queue", "name", "nodes",
	"submitted", "started", "ended", "outputPath", "errorPath", "identity",
}

// clearFacts makes sure that no fact of another job, or of an earlier query, is taken for one of this.
func clearFacts(env *attribute.Environment) {
	for _, fact := range jobFacts {
		if a := env.Lookup(submission.AttributeJobPrefix + fact); a != nil {
			a.SetValue(nil)
		}
	}
}

// jobFact returns a fact about a job that a parser left; empty if none did.
func jobFact(env *attribute.Environment, fact string) string {
	return env.Text(submission.AttributeJobPrefix + fact)
}

// observation collects what the parsers of a query left: the state as the value of
// the job, and facts. A state outside the vocabulary is no state; it is shown as the
// scheduler's word.
func (c *session) observation(env *attribute.Environment, j *attribute.Attribute, source *config.Command, result *command.Result, begun time.Time) job.Observation {
	word := attribute.Text(j.Value())
	if word == noState {
		word = ""
	}
	seen := job.Observe(func(fact string) string {
		switch fact {
		case "state":
			return word
		case "owner":
			return "" // of rows only
		}
		return jobFact(env, fact)
	})
	c.zoneOf(source).complete(&seen)
	seen.Observed, seen.Source, seen.Evidence, seen.Origin = begun, source.Name, result.Stdout, originOf(j)
	if _, isKnown := job.ParseDetail(word); !isKnown && seen.Native == "" {
		seen.Native = word
	}
	native := env.Lookup(submission.AttributeJobPrefix + "native")
	if native != nil && native.Value() != nil && (seen.Detail == "" || seen.Origin.Text == "") {
		seen.Origin = originOf(native)
	}
	return seen
}

// noState is what the reference writes for a value that is absent.
const noState = "null"

// originsOf is what a command's parsers keep of where values come from: the line of the
// state for commands that report jobs, nothing for others.
func originsOf(which *config.Command) string {
	switch which.Element {
	case config.GetJobStatus, config.Fallback, config.FindJob, config.ListJobs,
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
