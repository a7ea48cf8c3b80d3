package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// An Invocation is a resolved command, ready to run.
type Invocation struct {
	Command            *config.Command
	Arguments          []string
	Directory          string
	Environment        []job.Variable // in the order of their settings; the last of a name wins
	Unset              []string
	ReplaceEnvironment bool
	Keep               []string // with ReplaceEnvironment, the preserved variables
	Input              string
	HasInput           bool
	InputFile          string   // whose content is the standard input; empty for none
	Processes          []string // of x:on-nodes: NAME=VALUE, or NAME for the value that the started process has
	PreLaunch          []simpleInvocation
	PostLaunch         []simpleInvocation

	marks []*mark // of processes, in the output; a preview has none
}

// process returns the process to start for a command line in the environment of the
// invocation.
func (i *Invocation) process(arguments []string, directory string) remote.Command {
	environment := make(map[string]string, len(i.Environment))
	for _, variable := range i.Environment {
		environment[variable.Name] = variable.Value
	}
	return remote.Command{
		Arguments: arguments, Directory: directory, Environment: environment, Unset: i.Unset,
		ReplaceEnvironment: i.ReplaceEnvironment, Keep: i.Keep,
	}
}

// A simpleInvocation is a resolved command that runs before or after another.
type simpleInvocation struct {
	Command   *config.SimpleCommand
	Arguments []string
	Directory string
}

// Resolve resolves a command and runs nothing. It returns an error if all arguments of the
// command, or of a pre- or post-launch command, are empty, or if a process mark can never
// match.
func Resolve(c *config.Command, scope config.Scope, environment job.Environment) (*Invocation, error) {
	invocation, err := Preview(c, scope, environment)
	if err != nil {
		return nil, err
	}
	if len(invocation.Arguments) == 0 && (c.Element != config.OnNodes || len(c.Arguments) > 0) {
		return nil, fmt.Errorf("resolving %s %q: %s: its arguments are all empty; there is nothing to run", c.Element, c.Name, c.Position)
	}
	for _, simple := range slices.Concat(invocation.PreLaunch, invocation.PostLaunch) {
		if len(simple.Arguments) == 0 {
			return nil, fmt.Errorf("resolving %s %q: %s: exec is empty; there is nothing to run", c.Element, c.Name, simple.Command.Position)
		}
	}
	if invocation.marks, err = resolveMarks(scope, c.ProcessMarks); err != nil {
		return nil, fmt.Errorf("resolving %s %q: %w", c.Element, c.Name, err)
	}
	return invocation, nil
}

// Preview is Resolve for display only: the command may be empty.
func Preview(c *config.Command, scope config.Scope, environment job.Environment) (*Invocation, error) {
	invocation, err := resolve(c, scope, environment)
	if err != nil {
		return nil, fmt.Errorf("resolving %s %q: %w", c.Element, c.Name, err)
	}
	return invocation, nil
}

func resolve(c *config.Command, scope config.Scope, environment job.Environment) (*Invocation, error) {
	words, err := scope.Words(c.Arguments)
	if err != nil {
		return nil, err
	}
	i := &Invocation{Command: c, Arguments: words}
	if i.Directory, err = scope.Environment.Resolve(c.Directory, scope.Job); err != nil {
		return nil, err
	}
	if i.Input, err = scope.Line(c.Input); err != nil {
		return nil, err
	}
	i.HasInput = len(c.Input) > 0
	if i.InputFile, err = scope.Environment.Resolve(c.InputFile, scope.Job); err != nil {
		return nil, err
	}
	if i.Processes, err = processVariables(c, scope); err != nil {
		return nil, err
	}
	if err := i.setEnvironment(scope, environment); err != nil {
		return nil, err
	}
	if i.PreLaunch, err = resolveSimple(c.PreLaunch, i.Directory, scope); err != nil {
		return nil, err
	}
	if i.PostLaunch, err = resolveSimple(c.PostLaunch, i.Directory, scope); err != nil {
		return nil, err
	}
	return i, nil
}

// processVariables resolves the variables by which x:on-nodes finds the processes of a job.
// It leaves out variables with an empty value.
func processVariables(c *config.Command, scope config.Scope) ([]string, error) {
	var variables []string
	for _, variable := range strings.Fields(c.Processes) {
		name, value, hasValue := strings.Cut(variable, "=")
		if !hasValue {
			variables = append(variables, name)
			continue
		}
		resolved, err := scope.Environment.Resolve(value, scope.Job)
		if err != nil {
			return nil, err
		}
		if resolved != "" {
			variables = append(variables, name+"="+resolved)
		}
	}
	return variables, nil
}

func resolveSimple(commands []*config.SimpleCommand, directory string, scope config.Scope) ([]simpleInvocation, error) {
	var resolved []simpleInvocation
	for _, c := range commands {
		line, err := scope.Environment.Resolve(c.Exec, scope.Job)
		if err != nil {
			return nil, err
		}
		simple := simpleInvocation{Command: c, Arguments: attribute.Words(line), Directory: directory}
		if c.Directory != "" {
			if simple.Directory, err = scope.Environment.Resolve(c.Directory, scope.Job); err != nil {
				return nil, err
			}
		}
		resolved = append(resolved, simple)
	}
	return resolved, nil
}

// formatVariables change the output of scheduler commands; a user's own setting must not
// change the input of a definition's parsers.
var formatVariables = []string{
	"SQUEUE_FORMAT", "SQUEUE_FORMAT2", "SQUEUE_SORT", "SQUEUE_ALL", "SQUEUE_ARRAY", "SQUEUE_STATES", "SQUEUE_PARTITION",
	"SQUEUE_ACCOUNT", "SQUEUE_NAMES", "SQUEUE_QOS", "SQUEUE_USERS", "SQUEUE_PRIORITY", "SQUEUE_LICENSES",
	"SINFO_FORMAT", "SINFO_FORMAT2", "SINFO_SORT", "SINFO_ALL", "SINFO_PARTITION",
	"SACCT_FORMAT", "SACCT_FEDERATION", "SACCT_LOCAL", "SCONTROL_ALL", "SCONTROL_FUTURE", "SLURM_TIME_FORMAT",
	"SCANCEL_VERBOSE", "SCANCEL_INTERACTIVE", "SCANCEL_QOS", "SCANCEL_STATE", "SCANCEL_USER", "SCANCEL_NAME",
	"LSB_BJOBS_FORMAT", "LSB_BQUEUES_FORMAT", "LSB_BHOSTS_FORMAT", "LSB_DISPLAY_YEAR", "LSB_SHORT_HOSTLIST",
	"PBS_DPREFIX", "SGE_LONG_QNAMES", "SGE_LONG_JOB_NAMES", "SGE_SINGLE_LINE", "LL_PRINT_LONG",
}

// setEnvironment follows the order of the reference: the definition's settings,
// then the user's. What a submit command finds in its environment the scheduler
// may pass on to the job, so only other commands get the plain locale that
// their parsers are written for, and lose variables that change formats.
func (i *Invocation) setEnvironment(scope config.Scope, environment job.Environment) error {
	if environment.Replace {
		i.ReplaceEnvironment = true
		i.Environment = slices.Clone(environment.Variables)
		return nil
	}
	if !i.Command.Element.IsSubmit() {
		i.Environment = append(i.Environment, job.Variable{Name: "LC_ALL", Value: "C"})
		i.Unset = formatVariables
	}
	i.ReplaceEnvironment = i.Command.ReplaceEnvironment
	for _, entry := range i.Command.Environment {
		if i.ReplaceEnvironment && entry.Preserve {
			i.Keep = append(i.Keep, entry.Name)
		}
		value, err := entryValue(entry, scope)
		if err != nil {
			return err
		}
		if value != "" {
			i.Environment = append(i.Environment, job.Variable{Name: entry.Name, Value: value})
		}
	}
	i.Environment = append(i.Environment, environment.Variables...)
	return nil
}

func entryValue(entry *config.EnvironmentEntry, scope config.Scope) (string, error) {
	if !entry.Value.Set {
		return scope.Line(entry.Arguments)
	}
	value, err := scope.Environment.Resolve(entry.Value.Text, scope.Job)
	if err != nil {
		return "", fmt.Errorf("%s: %w", entry.Position, err)
	}
	return value, nil
}
