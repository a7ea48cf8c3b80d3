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
)

func newForm(a *app) *cobra.Command {
	var flags submissionFlags
	var plain bool
	c := &cobra.Command{
		Use:   "form NAME|FILE [flags] [--] [PROGRAM [ARGUMENT...]]",
		Short: "Fill in a definition's form, then submit",
		Long: `form shows the launch tab of a definition on the terminal, with the values of the
flags filled in. At the end it submits the job, prints the command line that
would, or saves a launch configuration. NAME is a target, or a shipped
definition; for a FILE that no target has the command line printed is one for
render.

Tab and the arrow keys move, Space switches, Ctrl-N and Ctrl-P turn the tabs,
Ctrl-S goes to the end, Esc leaves. --plain asks line by line instead, as it does
on terminals that can do no more.`,
		Example: `  rmctl form slurm -- ./simulate input.dat
  rmctl form slurm -s partition=debug --tab Advanced
  rmctl form mysite.xml --plain`,
		Args:              atLeast(1, "a target or a definition"),
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
				err = f.ask(a.stdin, a.stderr)
			} else {
				err = f.show(c.Context(), a.stdin, terminal)
			}
			if err != nil {
				return err
			}
			return a.concludeForm(c.Context(), f)
		},
	}
	flags.add(a, c)
	c.Flags().BoolVar(&plain, "plain", false, "ask line by line on standard error, and read the answers from standard input")
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
		return nil, usage("form needs a terminal; --plain asks line by line, and rmctl submit takes values with -s name=value")
	}
	if term := os.Getenv("TERM"); term == "dumb" || term == "" {
		return nil, nil
	}
	return terminal, nil
}

// fill makes the form of a target or a definition.
func (a *app) fill(ctx context.Context, name string, r request) (*filling, error) {
	controller, target, err := a.formController(ctx, name)
	if err != nil {
		return nil, err
	}
	return a.fillFor(ctx, controller, target, name, r)
}

// fillFor makes the form of a controller; target is empty where nothing can be
// submitted.
func (a *app) fillFor(ctx context.Context, controller *control.Controller, target, name string, r request) (*filling, error) {
	f := &filling{ctx: ctx, controller: controller, target: target, definition: name, asked: a.asked, request: r.Submission, given: r.given}
	if submit := f.controller.Definition().Submit(r.Debug); submit != nil {
		f.interactive = submit.Element.IsInteractive()
	} else {
		f.target = ""
	}
	f.start()
	f.save = func(replace bool) error { return a.saveFilled(f, replace) }
	var err error
	f.form, f.page, err = f.controller.Form(ctx, r.Submission)
	var failed *command.Error
	if f.target == "" && errors.As(err, &failed) {
		// Whoever looks at a definition need not have its scheduler.
		if _, err := fmt.Fprintf(a.stderr, "rmctl: warning: %s\n", printable(err.Error())); err != nil {
			return nil, err
		}
		f.form, f.page, err = f.controller.FormWithoutSession(ctx, r.Submission)
	}
	return f, err
}

// formController returns the controller of a target, or one for a definition
// that is not a target's: with that a form can be filled in, but nothing
// submitted, and target is empty.
func (a *app) formController(ctx context.Context, name string) (controller *control.Controller, target string, err error) {
	targets, err := a.loadTargets()
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
		chosen = settings.Target{Name: definition.Name, Transport: settings.TransportLocal}
	}
	connection, err := a.connect(ctx, chosen)
	if err != nil {
		return nil, "", err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, "", err
	}
	return control.New(control.Options{Target: definition.Name, Definition: definition, Connection: connection, Store: store, Log: a.log()}), "", nil
}

// concludeForm does what the user has chosen at the end of the form.
func (a *app) concludeForm(ctx context.Context, f *filling) error {
	switch f.conclusion {
	case concludeSubmit:
		return a.submitFilled(ctx, f)
	case concludePrint:
		line := f.commandLine(a)
		if isTerminal(a.stdout) {
			line = printable(line)
		}
		_, err := fmt.Fprintln(a.stdout, line)
		return err
	case concludeSave:
		return nil // it was saved while the form could still be mended
	}
	return &exitError{code: exitFailed, err: errors.New("the form was left; nothing was submitted")}
}

func (a *app) submitFilled(ctx context.Context, f *filling) error {
	s, err := f.submission()
	if err != nil {
		return err
	}
	if f.interactive {
		err := a.runInteractive(ctx, f.controller, s, false)
		var exit *exitError
		if err == nil || errors.As(err, &exit) && exit.err == nil {
			return err // the job's own exit code
		}
		return f.again(a, err)
	}
	job, err := f.controller.Submit(ctx, s)
	if err != nil {
		return f.again(a, err)
	}
	return a.printSubmitted(job)
}

// again adds the command line to an error, so that what was filled in is not lost.
func (f *filling) again(a *app, err error) error {
	return fmt.Errorf("%w\nthe form was filled in as: %s", err, f.commandLine(a))
}

// saveFilled keeps what was filled in as a launch configuration.
func (a *app) saveFilled(f *filling, replace bool) error {
	s, err := f.submission()
	if err != nil {
		return err
	}
	configuration, err := a.configuration()
	if err != nil {
		return err
	}
	l := &settings.LaunchConfiguration{Name: f.saveAs, Target: f.target}
	if f.target == "" {
		if l.Definition, err = namedDefinition(f.definition); err != nil {
			return err
		}
	}
	if f.given.Directory == "" && s.Directory == f.request.Directory {
		s.Directory = "" // wherever it is submitted from
	}
	l.Submission = s.Over(l.Submission)
	return l.Save(configuration, replace)
}

// namedDefinition returns a definition as it can be named anywhere: a file by its
// whole path.
func namedDefinition(nameOrFile string) (string, error) {
	if _, err := os.Stat(nameOrFile); err != nil {
		return nameOrFile, nil // a shipped one
	}
	return filepath.Abs(nameOrFile)
}
