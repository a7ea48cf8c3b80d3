package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// defaultRefresh is how long the findings of start-up commands are used if the definition
// does not set it.
const defaultRefresh = time.Minute

// sessionData is the recorded part of a session.
type sessionData struct {
	Definition  string          `json:"definition"` // fingerprint
	Environment json.RawMessage `json:"environment"`
}

// Start runs the start-up commands unless there is a session that is young enough; with
// fresh it runs them in any case. It ends the pause of a target.
func (c *Controller) Start(ctx context.Context, fresh bool) error {
	if _, err := c.resume(ctx); err != nil {
		return err
	}
	if !fresh {
		if env, err := c.keptEnvironment(ctx, c.refresh()); err != nil || env != nil {
			return err
		}
	}
	_, err := c.startSession(ctx)
	return err
}

// refresh returns how long the findings of a session are used.
func (c *session) refresh() time.Duration {
	if seconds := c.definition.Monitor.RefreshSeconds; seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return defaultRefresh
}

// anyAge accepts a session of any age: commands on jobs need a session, not its latest
// findings.
const anyAge = time.Duration(1<<63 - 1)

// keptEnvironment returns the environment of a session that an earlier call
// started; nil without such a session, or if the definition has changed since.
func (c *session) keptEnvironment(ctx context.Context, oldest time.Duration) (*attribute.Environment, error) {
	found, err := c.keptFindings(ctx, oldest)
	if err != nil || found == nil {
		return nil, err
	}
	return c.restored(found)
}

// keptFindings returns the findings of that session; nil without such a session.
func (c *session) keptFindings(ctx context.Context, oldest time.Duration) (*attribute.Environment, error) {
	session, err := c.store.Session(ctx, c.sessionKey())
	if errors.Is(err, jobstore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if oldest != anyAge && c.now().Sub(session.Started) > oldest {
		return nil, nil
	}
	var data sessionData
	if err := json.Unmarshal(session.Data, &data); err != nil || data.Definition != c.fingerprint() {
		return nil, nil
	}
	kept := attribute.NewEnvironment()
	if err := kept.UnmarshalJSON(data.Environment); err != nil {
		c.log.Warn("starting a new session: cannot read the last one", "error", err)
		return nil, nil
	}
	return kept, nil
}

func (c *session) sessionKey() string {
	return c.connectionOf(c.target)
}

// startSession runs the start-up commands one after the other, and records and returns
// their findings.
func (c *session) startSession(ctx context.Context) (*attribute.Environment, error) {
	env, err := c.resolver.InitialEnvironment()
	if err != nil {
		return nil, err
	}
	if queues := env.Variable(submission.AttributeQueues); queues != nil {
		queues.SetValue(nil)
	}
	for _, startUp := range c.definition.CommandsOf(config.StartUpCommand) {
		if _, err := c.run(ctx, startUp, env, ""); err != nil {
			return nil, fmt.Errorf("starting a session: %w", err)
		}
	}
	return c.keepSession(ctx, env, c.now())
}

// keepSession records and returns the changes of the environment since before the session.
func (c *session) keepSession(ctx context.Context, env *attribute.Environment, started time.Time) (*attribute.Environment, error) {
	initial, err := c.resolver.InitialEnvironment()
	if err != nil {
		return nil, err
	}
	changed := attribute.NewEnvironment()
	copyChanges(changed, initial, env)
	environment, err := changed.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("keeping the session: %w", err)
	}
	data, err := json.Marshal(sessionData{Definition: c.fingerprint(), Environment: environment})
	if err != nil {
		return nil, fmt.Errorf("keeping the session: %w", err)
	}
	return changed, c.store.SaveSession(ctx, jobstore.Session{Target: c.sessionKey(), Started: started, Data: data})
}

// Stop runs the shut-down commands and forgets the session. Jobs run on.
func (c *Controller) Stop(ctx context.Context) error {
	env, err := c.keptEnvironment(ctx, anyAge)
	if err != nil {
		return err
	}
	if env == nil {
		return c.store.RemoveSession(ctx, c.sessionKey())
	}
	for _, shutDown := range c.definition.CommandsOf(config.ShutDownCommand) {
		if _, err := c.run(ctx, shutDown, env, ""); err != nil {
			return fmt.Errorf("stopping the session: %w", err)
		}
	}
	return c.store.RemoveSession(ctx, c.sessionKey())
}

// Queues returns the queues that the start-up commands found.
func (c *Controller) Queues(ctx context.Context) ([]string, error) {
	env, err := c.environment(ctx, c.refresh())
	if err != nil {
		return nil, err
	}
	queues := env.Lookup(submission.AttributeQueues)
	if queues == nil {
		return nil, &UnsupportedError{Of: c.definition, Lacks: "attribute \"queues\"", Help: "so its queues are unknown"}
	}
	list, _ := queues.Value().([]string)
	return list, nil
}

// Remembered returns the findings of the last session, of any age, for a list, such as the
// names of queues; nil if it found nothing. It queries no scheduler.
func (c *Controller) Remembered(ctx context.Context, list string) ([]string, error) {
	env, err := c.keptEnvironment(ctx, anyAge)
	if err != nil || env == nil {
		return nil, err
	}
	found := env.Lookup(list)
	if found == nil {
		return nil, nil
	}
	values, _ := found.Value().([]string)
	return values, nil
}

// run resolves and runs a command that does not stay attached.
func (c *session) run(ctx context.Context, which *config.Command, env *attribute.Environment, id string) (*command.Result, error) {
	return c.runFor(ctx, which, env, id, command.Reading{})
}

// runFor runs a command on a job. A reader reads its output for that job.
func (c *session) runFor(ctx context.Context, which *config.Command, env *attribute.Environment, id string, reading command.Reading) (*command.Result, error) {
	return c.runRequest(ctx, command.Request{Command: which, Scope: config.Scope{Environment: env, Job: id}, Reading: reading})
}

// runRequest resolves a command and runs it as this definition and its user want it.
func (c *session) runRequest(ctx context.Context, request command.Request) (*command.Result, error) {
	if request.Command.Read != nil {
		request.Scope.Environment.SetVariable(command.MarkAttribute, cmp.Or(c.mark, newMark()))
	}
	invocation, err := request.Resolve()
	if err != nil {
		return &command.Result{ExitCode: -1}, err
	}
	return c.runInvocation(ctx, request, invocation)
}

// runInvocation runs a command that is resolved, as this definition and its user want it.
func (c *session) runInvocation(ctx context.Context, request command.Request, invocation *command.Invocation) (*command.Result, error) {
	which := request.Command
	request.Outcomes, request.Types, request.Trace = c.definition.Outcomes, c.types, c.trace
	if request.Rows == nil { // callers that list many rows choose this themselves
		request.Origins = originsOf(which)
	}
	ids, err := c.ids()
	if err != nil {
		return &command.Result{ExitCode: -1}, err
	}
	request.Reading.IDs = ids
	if which.Read != nil {
		request.Reading.Now, request.Reading.Location = c.now(), c.zoneOf(which).OrLocal()
	}
	if c.step != nil {
		request.Reading.Step = func(step reader.Step) { c.step(which, step) }
	}
	result, err := command.Run(ctx, c.connection, request, invocation)
	c.log.Debug("ran a command", "element", which.Element, "name", which.Name, "arguments", invocation.Arguments,
		"exit", result.ExitCode, "outcome", result.Outcome, "duration", result.Duration, "error", err)
	return result, err
}

// Action runs a button-action, or a start-up or shut-down command, by its name and keeps its
// findings for later commands.
func (c *Controller) Action(ctx context.Context, name string, s job.Submission) (*command.Result, error) {
	return c.action(ctx, name, s, "")
}

// action runs the command and also clears an attribute, if there is one of that name.
func (c *session) action(ctx context.Context, name string, s job.Submission, clear string) (*command.Result, error) {
	action := c.namedCommand(name)
	if action == nil {
		return nil, &UnsupportedError{Of: c.definition, Lacks: fmt.Sprintf("action %q", name), Help: c.actionsHelp()}
	}
	env, err := c.submissionEnvironment(ctx, s, c.refresh())
	if err != nil {
		return nil, err
	}
	session, err := c.environment(ctx, anyAge)
	if err != nil {
		return nil, err
	}
	if err := c.resolver.ResolveValues(env, s, c.stat(ctx)); err != nil {
		return nil, err
	}
	before := env.Clone()
	if a := env.Lookup(clear); a != nil {
		a.SetValue(nil)
	}
	if queues := env.Variable(submission.AttributeQueues); queues != nil && action.Element == config.StartUpCommand && finds(action, submission.AttributeQueues) {
		queues.SetValue(nil) // as at the start of a session
	}
	result, err := c.runRequest(ctx, command.Request{Command: action, Scope: config.Scope{Environment: env}, Environment: s.Environment})
	if err != nil {
		return result, err
	}
	copyChanges(session, before, env)
	return result, c.renewSession(ctx, session)
}

// finds reports whether a parser of a command sets an attribute.
func finds(which *config.Command, name string) bool {
	return slices.ContainsFunc(which.Parsers(), func(parser *config.Parser) bool {
		return slices.ContainsFunc(parser.Targets, func(target *config.Target) bool { return target.Ref.Text == name })
	})
}

// copyChanges copies to an environment the differences between two states of another one,
// except attributes of rmctl itself.
func copyChanges(to, before, after *attribute.Environment) {
	for _, key := range after.Variables() {
		old, a := before.Variable(key), after.Variable(key)
		if !submission.IsEngineAttribute(key) && (old == nil || !old.Equal(a)) {
			to.Define(key, a)
		}
	}
	for _, name := range after.Discovered() {
		to.Discover(after.DiscoveredAttribute(name))
	}
}

// renewSession records the new findings of a session, which keeps its age.
func (c *session) renewSession(ctx context.Context, env *attribute.Environment) error {
	started := c.now()
	kept, err := c.store.Session(ctx, c.sessionKey())
	switch {
	case err == nil:
		started = kept.Started
	case !errors.Is(err, jobstore.ErrNotFound):
		return err
	}
	_, err = c.keepSession(ctx, env, started)
	return err
}

func (c *session) namedCommand(name string) *config.Command {
	for _, kind := range []config.CommandElement{config.ButtonAction, config.StartUpCommand, config.ShutDownCommand} {
		for _, candidate := range c.definition.CommandsOf(kind) {
			if candidate.Name == name {
				return candidate
			}
		}
	}
	return nil
}

func (c *session) actionsHelp() string {
	var names []string
	for _, action := range c.definition.CommandsOf(config.ButtonAction) {
		names = append(names, action.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "choose one of " + strings.Join(names, ", ")
}
