package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/facts"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

func newRender(a *app) *cobra.Command {
	var flags submissionFlags
	c := &cobra.Command{
		Use:               "render FILE|NAME|TARGET [flags] [--] PROGRAM [ARGUMENT...]",
		ValidArgsFunction: a.completeOneDefinition,
		Short:             "Show what a definition would run, and run nothing",
		Long: `render resolves a submission, and the commands that follow it, by a definition and
prints the job script, the managed files, and the arguments, environment,
directory and input of every command. In place of what is known only later
stand @jobId, the job's id, and UUID, which makes file names unique.

With --config-name the definition may be left out; it is then that of the launch
configuration.`,
		Example: `  rmctl render slurm -s nodes=2 -s time=30 -- ./a.out x
  rmctl render mysite.xml --json -- ./a.out
  rmctl render --config-name nightly`,
		RunE: func(c *cobra.Command, arguments []string) error {
			// What stands behind -- is the program, so there is no definition then.
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

// renderLaunchConfiguration renders by the definition that a launch
// configuration names, or else by that of its target.
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

// renderBy renders by a definition, or by that of a target with what this adds.
// Values may stand for what commands of a session would find out.
func (a *app) renderBy(name string, r request) error {
	r.Invisible = true
	target, isTarget, err := a.configuredTarget(name)
	if err != nil {
		return err
	}
	options := control.Options{Log: a.log()}
	if isTarget {
		name, options.Defaults = target.Definition, defaultsOf(target)
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
	r := facts.OfRendering(rendering)
	if a.json {
		return terminal.JSON(a.stdout, r)
	}
	return printRendered(a.stdout, r)
}

// printRendered prints command lines quoted as a shell would need them, so that
// each can be tried by hand.
func printRendered(w io.Writer, r facts.Rendering) error {
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
		for _, name := range sortedKeys(c.Environment) {
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
		for _, simple := range c.PostLaunch {
			fmt.Fprintf(&text, "after: %s\n", shellescape.QuoteCommand(simple))
		}
		text.WriteByte('\n')
	}
	if !slices.ContainsFunc(r.Commands, facts.Command.Submits) {
		text.WriteString("# the definition has no submit command\n")
	}
	_, err := fmt.Fprint(w, printable(strings.TrimSuffix(text.String(), "\n\n")+"\n"))
	return err
}
