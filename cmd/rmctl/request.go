package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// A request is a submission and where its parts come from.
type request struct {
	job.Submission
	flags  job.Submission                // what the command line says
	launch *settings.LaunchConfiguration // nil without --config-name

	elsewhere bool // the target is on another machine
}

// request returns the submission of the command line and its launch configuration. The
// program may be missing.
func (a *app) request(flags submissionFlags, arguments []string) (request, error) {
	s, err := flags.submission(arguments)
	if err != nil {
		return request{}, err
	}
	r := request{Submission: s, flags: s}
	if flags.configName != "" {
		if r.launch, err = a.loadLaunchConfiguration(flags.configName); err != nil {
			return r, err
		}
		r.Submission = s.Over(r.launch.Submission)
	}
	r.elsewhere = a.isElsewhere(r.launch)
	r.Submission, err = placed(r.Submission, r.elsewhere)
	return r, err
}

// isElsewhere reports whether the chosen target is on another machine. Errors are left to
// what needs the target: not every request does.
func (a *app) isElsewhere(l *settings.LaunchConfiguration) bool {
	targets, err := a.client().Targets()
	if err != nil {
		return false
	}
	name := a.target
	if name == "" && l != nil {
		if name, err = a.targetOf(l); err != nil {
			return false
		}
	}
	target, err := targets.Find(name)
	return err == nil && target.Transport != settings.TransportLocal
}

// placed returns a submission whose files and folder do not depend on the working directory
// of rmctl. On another machine the folder is the home directory unless its path is absolute.
func placed(s job.Submission, elsewhere bool) (job.Submission, error) {
	here, err := os.Getwd()
	if err != nil {
		return s, fmt.Errorf("finding the working directory: %w", err)
	}
	if s.Script != "" && !filepath.IsAbs(s.Script) {
		s.Script = filepath.Join(here, s.Script)
	}
	if elsewhere {
		if s.Directory != "" && !filepath.IsAbs(s.Directory) {
			return s, usage("-d %q: the target is on another machine, where a directory is named by its whole path", s.Directory)
		}
		return s, nil
	}
	if !filepath.IsAbs(s.Directory) {
		s.Directory = filepath.Join(here, s.Directory)
	}
	return s, nil
}

// runnable refuses a request without program and script.
func (r request) runnable() error {
	if r.Executable != "" || r.Script != "" {
		return nil
	}
	if r.launch != nil {
		return usage("there is nothing to run: the launch configuration %q says neither executable nor script; name a program after --", r.launch.Name)
	}
	return usage("there is nothing to run: name a program after --, or a script with --script")
}

// located adds the place in the launch configuration to errors of its values.
func (r request) located(err error) error {
	if err == nil || r.launch == nil {
		return err
	}
	return r.launch.Locate(err, r.flags)
}

// prepare returns the request of a submission and the controller of its target.
func (a *app) prepare(ctx context.Context, flags submissionFlags, arguments []string) (*control.Controller, request, error) {
	r, err := a.request(flags, arguments)
	if err == nil {
		err = r.runnable()
	}
	if err != nil {
		return nil, r, err
	}
	controller, err := a.controllerOf(ctx, r.launch)
	return controller, r, err
}

// controllerOf returns the controller of the target of -t, or otherwise of a launch
// configuration, which may be nil.
func (a *app) controllerOf(ctx context.Context, l *settings.LaunchConfiguration) (*control.Controller, error) {
	if a.target == "" && l != nil {
		target, err := a.targetOf(l)
		if err != nil {
			return nil, err
		}
		a.target = target
	}
	return a.controller(ctx, "")
}

// targetOf returns the target of a launch configuration, or the only target of its
// definition; empty if it names neither.
func (a *app) targetOf(l *settings.LaunchConfiguration) (string, error) {
	targets, err := a.client().Targets()
	if err != nil {
		return "", err
	}
	if l.Target != "" {
		_, err := targets.Find(l.Target)
		return l.Target, l.LocateSetting("target", err)
	}
	if l.Definition == "" {
		return "", nil
	}
	var found []string
	for _, target := range targets.All() {
		if target.Definition == l.Definition {
			found = append(found, target.Name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", l.LocateSetting("definition", fmt.Errorf("no target has the definition %q: describe one in %s, or choose one with -t", l.Definition, settings.TargetsFile))
	}
	return "", l.LocateSetting("definition", fmt.Errorf("the targets %s have the definition %q: choose one with -t", strings.Join(found, ", "), l.Definition))
}

func newRender(a *app) *cobra.Command {
	var flags submissionFlags
	c := &cobra.Command{
		Use:               "render FILE|NAME|TARGET [flags] [--] PROGRAM [ARGUMENT...]",
		ValidArgsFunction: a.completeOneDefinition(),
		Short:             "Show what a definition would run, without running it",
		Long: `render resolves a submission, and the commands that follow it, by a definition and
prints the job script, the managed files, and the arguments, environment, directory
and input of every command. @jobId stands for the job's id, and UUID for the text that
makes file names unique.

With --config-name, the definition of the launch configuration is the default.`,
		Example: `  rmctl render slurm -s nodes=2 -s time=30 -- ./a.out x
  rmctl render mysite.xml --json -- ./a.out
  rmctl render --config-name nightly`,
		RunE: func(c *cobra.Command, arguments []string) error {
			// The first argument behind -- is the program, not a definition.
			if flags.configName != "" && (len(arguments) == 0 || c.Flags().ArgsLenAtDash() == 0) {
				return a.renderLaunchConfiguration(c.Context(), flags, arguments)
			}
			if err := atLeast(1, "a definition")(c, arguments); err != nil {
				return err
			}
			if err := c.Flags().Parse(arguments[1:]); err != nil {
				return &usageError{err}
			}
			r, err := a.request(flags, c.Flags().Args())
			if err == nil {
				err = r.runnable()
			}
			if err != nil {
				return err
			}
			return a.renderBy(arguments[0], r)
		},
	}
	flags.add(a, c)
	return c
}

// renderLaunchConfiguration renders by the definition of a launch configuration, or of its
// target.
func (a *app) renderLaunchConfiguration(ctx context.Context, flags submissionFlags, arguments []string) error {
	r, err := a.request(flags, arguments)
	if err == nil {
		err = r.runnable()
	}
	if err != nil {
		return err
	}
	if r.launch.Definition != "" && a.target == "" {
		return a.renderBy(r.launch.Definition, r)
	}
	controller, err := a.controllerOf(ctx, r.launch)
	if err != nil {
		return err
	}
	return r.located(a.render(controller, r.Submission))
}

// renderBy renders by a definition, or by a target with its attributes. Values that a session
// would find may be set.
func (a *app) renderBy(name string, r request) error {
	r.Invisible = true
	target, isTarget, err := a.configuredTarget(name)
	if err != nil {
		return err
	}
	options := control.Options{Log: a.log()}
	if isTarget {
		name, options.Defaults = target.Definition, target.Defaults()
	}
	if options.Definition, err = a.definition(name); err != nil {
		return err
	}
	if options.Connection, err = remote.NewLocal(); err != nil {
		return err
	}
	return r.located(a.render(control.New(options), r.Submission))
}

func (a *app) render(controller *control.Controller, s job.Submission) error {
	rendering, err := controller.Render(s)
	if err != nil {
		return err
	}
	if a.json {
		return terminal.JSON(a.stdout, rendering.Document())
	}
	return printRendered(a.stdout, rendering)
}

// printRendered prints command lines quoted for a shell, to be tried by hand.
func printRendered(w io.Writer, rendering *control.Rendering) error {
	r := rendering.Document()
	var text strings.Builder
	for _, file := range r.Files {
		fmt.Fprintf(&text, "# %s: %s (mode %s)\n%s", file.Name, file.Path, file.Mode, file.Content)
		if !strings.HasSuffix(file.Content, "\n") {
			text.WriteByte('\n')
		}
		text.WriteByte('\n')
	}
	for _, c := range r.Commands {
		fmt.Fprintf(&text, "# %s %q\n", c.Element, c.Name)
		for _, simple := range c.PreLaunch {
			fmt.Fprintf(&text, "before: %s\n", shellescape.QuoteCommand(simple))
		}
		if c.Directory != "" {
			fmt.Fprintf(&text, "directory: %s\n", c.Directory)
		}
		if c.ReplaceEnvironment {
			fmt.Fprintf(&text, "environment: only what follows; kept: %s\n", strings.Join(c.Keep, " "))
		}
		for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
			fmt.Fprintf(&text, "environment: %s=%s\n", name, shellescape.Quote(c.Environment[name]))
		}
		if len(c.Arguments) == 0 {
			text.WriteString("# nothing to run: all arguments are empty\n")
		} else {
			fmt.Fprintf(&text, "%s\n", shellescape.QuoteCommand(c.Arguments))
		}
		if c.Input != nil {
			fmt.Fprintf(&text, "input: %s\n", *c.Input)
		}
		if c.InputFile != "" {
			fmt.Fprintf(&text, "input from: %s\n", c.InputFile)
		}
		for _, simple := range c.PostLaunch {
			fmt.Fprintf(&text, "after: %s\n", shellescape.QuoteCommand(simple))
		}
		text.WriteByte('\n')
	}
	if !slices.ContainsFunc(rendering.Commands, func(i *command.Invocation) bool { return i.Command.Element.IsSubmit() }) {
		text.WriteString("# the definition has no submit command\n")
	}
	_, err := fmt.Fprint(w, printable(strings.TrimSuffix(text.String(), "\n\n")+"\n"))
	return err
}
