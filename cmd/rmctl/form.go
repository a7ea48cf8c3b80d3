package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/tui/fill"
	"github.com/rmctl/rmctl/job"
)

func newForm(a *app) *cobra.Command {
	var flags submissionFlags
	var plain bool
	c := &cobra.Command{
		Use:   "form NAME|FILE [flags] [--] [PROGRAM [ARGUMENT...]]",
		Short: "Fill in a definition's form, then submit",
		Long: `Fill in the form of a target or definition on the terminal.

At the end, submit the job, print the equivalent command line, or save the submission. For
a FILE that no target uses, rmctl prints a command line of rmctl render.

Tab and the arrow keys move, Space toggles, Ctrl-N and Ctrl-P change the tab, Ctrl-S goes
to the end, Esc quits.`,
		Example: `  rmctl form slurm -- ./simulate input.dat
  rmctl form slurm --queue debug --tab Advanced
  rmctl form mysite.xml --plain`,
		Args:              atLeast(1, "the target or definition"),
		ValidArgsFunction: a.completeForms,
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := c.Flags().Parse(arguments[1:]); err != nil {
				return &usageError{err}
			}
			r, err := a.request(flags, c.Flags().Args())
			if err != nil {
				return err
			}
			terminal, err := a.formTerminal(plain)
			if err != nil {
				return err
			}
			f, err := a.fill(c.Context(), arguments[0], r)
			if err != nil {
				return r.located(err)
			}
			if terminal == nil {
				err = f.Ask(c.Context(), a.stdin, a.stderr)
			} else {
				err = f.Show(c.Context(), a.stdin, terminal)
			}
			if err != nil {
				return err
			}
			return a.concludeForm(c.Context(), f)
		},
	}
	flags.add(a, c)
	c.Flags().BoolVar(&plain, "plain", false, "ask line by line on standard error; read answers from standard input")
	return c
}

// formTerminal returns where to show the form; nil to ask line by line.
func (a *app) formTerminal(plain bool) (io.Writer, error) {
	if plain {
		return nil, nil
	}
	var terminal io.Writer
	switch {
	case !isTerminal(a.stdin):
	case isTerminal(a.stdout):
		terminal = a.stdout
	case isTerminal(a.stderr): // the command line that is printed goes elsewhere
		terminal = a.stderr
	}
	if terminal == nil {
		return nil, usage("form requires a terminal\nuse --plain, or rmctl submit with -s name=value")
	}
	if term := os.Getenv("TERM"); term == "dumb" || term == "" {
		return nil, nil
	}
	return terminal, nil
}

// fill makes the form of a target or a definition.
func (a *app) fill(ctx context.Context, name string, r request) (*fill.Form, error) {
	controller, target, err := a.formController(ctx, name)
	if err != nil {
		return nil, err
	}
	return a.fillFor(ctx, controller, target, name, r)
}

// fillFor makes the form of a controller; target is empty where nothing can be submitted.
func (a *app) fillFor(ctx context.Context, controller *control.Controller, target, name string, r request) (*fill.Form, error) {
	o := fill.Options{Controller: controller, Target: target, Definition: name, Questions: a.questions, Request: r.Submission}
	if submit := controller.Definition.Submit(r.Debug); submit != nil {
		o.IsInteractive = submit.Element.IsInteractive()
	} else {
		o.Target = ""
	}
	o.Place = func(s job.Submission) (job.Submission, error) {
		return placed(s, r.Directory == "") // which it is on another machine alone
	}
	o.Save = func(name string, s job.Submission, replace bool) error {
		if r.flags.Directory == "" && s.Directory == r.Directory {
			s.Directory = "" // wherever it is submitted from
		}
		return a.saveFilled(o, name, s, replace)
	}
	filled, page, err := controller.Form(ctx, r.Submission)
	if o.Target == "" && isA[*command.Error](err) {
		// A definition can be shown without its scheduler.
		a.say("warning: %v", err)
		filled, page, err = controller.FormWithoutSession(ctx, r.Submission)
	}
	if err != nil {
		return nil, err
	}
	return fill.New(o, filled, page), nil
}

// formController returns the controller of a target. For a definition without a target, target
// is empty: the form can be filled in, but not submitted.
func (a *app) formController(ctx context.Context, name string) (controller *control.Controller, target string, err error) {
	targets, err := a.client().Targets()
	if err != nil {
		return nil, "", err
	}
	chosen, findErr := targets.Find(a.target)
	if a.target == "" {
		chosen, findErr = targets.Find(name)
	} else if findErr != nil {
		return nil, "", findErr
	}
	if findErr == nil && (chosen.Name == name || chosen.Definition == name) {
		controller, err := a.controller(ctx, chosen.Name)
		return controller, chosen.Name, err
	}
	definition, err := a.definition(name)
	if err != nil {
		return nil, "", errors.Join(findErr, err)
	}
	if findErr != nil {
		chosen = targets.Limited(settings.Target{Name: definition.Name, Transport: settings.TransportLocal})
	}
	connection, err := a.client().Connection(ctx, chosen)
	if err != nil {
		return nil, "", err
	}
	store, err := a.client().Store(ctx)
	if err != nil {
		return nil, "", err
	}
	return control.New(control.Options{
		Target: definition.Name, Definition: definition, Connection: connection, Store: store, Log: a.log(),
		LeastInterval: chosen.LeastInterval(), SharedAnswers: chosen.SharedAnswers(),
	}), "", nil
}

// concludeForm does what the user chose at the end of the form.
func (a *app) concludeForm(ctx context.Context, f *fill.Form) error {
	switch f.Conclusion {
	case fill.Submit:
		return a.submitFilled(ctx, f)
	case fill.Print:
		line := a.filledLine(f)
		if isTerminal(a.stdout) {
			line = printable(line)
		}
		_, err := fmt.Fprintln(a.stdout, line)
		return err
	case fill.Save:
		return nil // the form has saved it
	}
	return &exitError{code: exitFailed, err: errors.New("canceled; nothing was submitted")}
}

func (a *app) submitFilled(ctx context.Context, f *fill.Form) error {
	s, err := f.Submission()
	if err != nil {
		return err
	}
	if f.IsInteractive {
		err := a.runInteractive(ctx, f.Controller, s, false)
		if err == nil || isSilent(err) {
			return err // the job's own exit code
		}
		return a.withFilledLine(f, err)
	}
	job, err := f.Controller.Submit(ctx, s)
	if err != nil {
		return a.withFilledLine(f, err)
	}
	return a.printSubmitted(job)
}

// filledLine returns the command line that is equivalent to the form.
func (a *app) filledLine(f *fill.Form) string {
	var flags []string
	if a.configFolder != "" {
		flags = append(flags, "--config-dir", a.configFolder)
	}
	if a.stateFolder != "" {
		flags = append(flags, "--state-dir", a.stateFolder)
	}
	return f.CommandLine(flags...)
}

// withFilledLine adds the command line to an error, so that the user's input is not lost.
func (a *app) withFilledLine(f *fill.Form, err error) error {
	return fmt.Errorf("%w\nrun again: %s", err, a.filledLine(f))
}

// saveFilled saves a form as a saved submission.
func (a *app) saveFilled(o fill.Options, name string, s job.Submission, replace bool) error {
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return err
	}
	l := &settings.LaunchConfiguration{Name: name, Target: o.Target}
	if o.Target == "" {
		if l.Definition, err = namedDefinition(o.Definition); err != nil {
			return err
		}
	}
	l.Submission = s.Over(l.Submission)
	return l.Save(configuration, replace)
}

// namedDefinition returns a definition independently of the working directory: a file by its
// absolute path.
func namedDefinition(nameOrFile string) (string, error) {
	if _, err := os.Stat(nameOrFile); err != nil {
		return nameOrFile, nil // a shipped one
	}
	return filepath.Abs(nameOrFile)
}
