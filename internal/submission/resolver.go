package submission

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
)

// A Resolver turns submissions to one target into values of attributes, files and
// command lines. It runs nothing. Its methods may be called concurrently: each works on
// the environment that it is given.
type Resolver struct {
	Definition *config.Definition
	Target     string
	Place      remote.Info
	Defaults   []job.Assignment // values of the target for every submission
	Log        *slog.Logger
}

// InitialEnvironment returns the environment before any command has run: the
// attributes of the definition with the values that the target gives them.
func (r *Resolver) InitialEnvironment() (*attribute.Environment, error) {
	env := r.NewEnvironment()
	_, err := r.AssignDefaults(env)
	return env, err
}

// AssignDefaults gives attributes the values of the target, and returns their names.
func (r *Resolver) AssignDefaults(env *attribute.Environment) (map[string]bool, error) {
	assigned, err := r.assign(env, job.Submission{}, nil)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", r.Target, err)
	}
	return assigned.given, nil
}

// ResolveValues gives attributes the values of a submission, in the order of the
// reference: those of the target and the caller, nothing for visible attributes that no
// control of the form sets, what the engine knows of the program, and links.
func (r *Resolver) ResolveValues(env *attribute.Environment, s job.Submission, stat attribute.Stat) error {
	assigned, err := r.assign(env, s, stat)
	if err != nil {
		return err
	}
	for _, note := range assigned.notes {
		r.Log.Warn(note, "target", r.Target)
	}
	selection, err := form.Select(r.Definition, env, s.Tab, s.Script != "", assigned.given)
	if err != nil {
		return err
	}
	selection.Clear()
	SetLaunch(env, s)
	if len(s.Wrapper) > 0 {
		r.keepName(env, s)
	}
	if err := selection.FollowLinks(); err != nil {
		// PTP accepts any text, and all links have values.
		r.Log.Warn("using defaults for attributes that refer to each other", "error", err)
	}
	return nil
}

// keepName names a job after its program, where a scheduler would name it after the
// wrapper.
func (r *Resolver) keepName(env *attribute.Environment, s job.Submission) {
	for _, link := range r.Definition.PortableLinks("jobName") {
		if name := env.Variable(link.Attribute); name != nil && env.Text(link.Attribute) == "" {
			name.SetValue(jobName(s))
		}
	}
}

// Check tries the values of a submission on the definition alone, without running
// anything. Values that depend on what start-up commands find are not checked. Errors
// are *ValueError and *attribute.InvalidError, several joined.
func (r *Resolver) Check(s job.Submission) error {
	env := r.NewEnvironment()
	s.Values = slices.DeleteFunc(slices.Clone(s.Values), func(value job.Assignment) bool {
		return r.mayFind(value.Name, env.Lookup(value.Name) != nil)
	})
	_, err := r.assign(env, s, nil)
	return err
}

// mayFind reports whether start-up commands may decide which values an attribute takes:
// one of the definition they may describe, another one they may construct.
func (r *Resolver) mayFind(name string, isDefined bool) bool {
	constructs := func(parser *config.Parser) bool {
		return slices.ContainsFunc(parser.Targets, func(target *config.Target) bool { return !target.Ref.Set })
	}
	return slices.ContainsFunc(r.Definition.CommandsOf(config.StartUpCommand), func(startUp *config.Command) bool {
		if isDefined {
			return inspect.MayDescribe(startUp, name)
		}
		return slices.ContainsFunc(startUp.Parsers(), constructs)
	})
}

// ScopeOfAnyJob is the scope for commands that concern no particular job.
func (r *Resolver) ScopeOfAnyJob() (config.Scope, error) {
	env, err := r.InitialEnvironment()
	if err != nil {
		return config.Scope{}, err
	}
	placeholder := uuid.Nil.String() // for values that differ between jobs
	env.SetVariable(AttributeTag, placeholder)
	env.SetVariable(attributeAge, "0")
	env.SetVariable(attributeDays, "0")
	env.SetVariable(attributeSince, "0")
	env.SetVariable(attributeSinceSeconds, "0")
	JobAttribute(env, placeholder, placeholder, placeholder)
	return config.Scope{Environment: env, Job: placeholder}, nil
}

// StagingFolders returns the folders of managed files and of the script, each once.
func (r *Resolver) StagingFolders() ([]string, error) {
	env, err := r.InitialEnvironment()
	if err != nil {
		return nil, err
	}
	var locations []config.Optional
	for _, group := range r.Definition.ManagedFiles {
		locations = append(locations, group.StagingLocation)
	}
	if r.Definition.Script != nil {
		locations = append(locations, r.Definition.Script.StagingLocation)
	}
	var folders []string
	for _, location := range locations {
		folder, err := r.stagingLocation(location, config.Scope{Environment: env})
		if err != nil {
			return nil, err
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// similar suggests an attribute with a similar name for an unknown one.
func (r *Resolver) similar(env *attribute.Environment, name string) string {
	var candidates []string
	for _, known := range append(env.Variables(), env.Discovered()...) {
		if a := env.Lookup(known); a.Visible() && !a.ReadOnly() && !IsEngineAttribute(known) {
			candidates = append(candidates, known)
		}
	}
	if near := wording.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf("run rmctl describe %s to list the attributes", r.definitionName())
}

// definitionName returns the definition as the command line takes it: a shipped
// one is called as a file would be that lies in this folder.
func (r *Resolver) definitionName() string {
	name := strings.TrimSuffix(filepath.Base(r.Definition.File), ".xml")
	if shipped, isShipped := rms.Source(name); isShipped && bytes.Equal(shipped, r.Definition.Sources[0]) {
		return name
	}
	return r.Definition.File
}

// An UnsupportedError names a command that a definition lacks.
type UnsupportedError struct {
	Of    *config.Definition
	Lacks string
	Help  string
}

func (e *UnsupportedError) Error() string {
	text := fmt.Sprintf("%s has no %s", subject(e.Of), e.Lacks)
	if e.Help != "" {
		text += "\n" + e.Help
	}
	return text
}

// subject names a definition in messages.
func subject(d *config.Definition) string {
	return wording.Subject(d.Name, d.File, d.Monitor.SchedulerType)
}

func (r *Resolver) Command(kind config.CommandElement) (*config.Command, error) {
	if found := r.Definition.Command(kind); found != nil {
		return found, nil
	}
	lacks := string(kind) + " command"
	if operation, isOfJobs := strings.CutSuffix(string(kind), "-job"); isOfJobs && r.Definition.Monitor.SchedulerType == wording.AgentType {
		lacks = "command to " + operation + " jobs: the proxy protocol does not support it"
	}
	return nil, &UnsupportedError{Of: r.Definition, Lacks: lacks}
}

func (r *Resolver) SubmitCommand(debug bool) (*config.Command, error) {
	if found := r.Definition.Submit(debug); found != nil {
		return found, nil
	}
	lacks := "submit command"
	if debug {
		lacks = "submit command for debugging\nuse rmctl debug, which works with every definition"
	}
	return nil, &UnsupportedError{Of: r.Definition, Lacks: lacks}
}
