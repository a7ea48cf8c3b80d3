package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/attribute"
	importing "github.com/rmctl/rmctl/internal/importer/command"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

func newConfig(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Manage saved submissions",
		Long: `Save submissions under a name, for submit, run and render with --config-name NAME.

A saved submission is a TOML file in the directory launch of the configuration directory.`,
		Example: `  rmctl config save nightly -t slurm --time 1h -e OMP_NUM_THREADS=4 -- ./simulate input.dat
  rmctl config save again --from-job 4711
  rmctl config list
  rmctl submit --config-name nightly --time 90m`,
		RunE: noArguments,
	}
	c.AddCommand(newConfigSave(a), newConfigList(a), newConfigShow(a), newConfigEdit(a), newConfigRemove(a))
	return c
}

func newConfigSave(a *app) *cobra.Command {
	var flags submissionFlags
	var fromJob string
	var force bool
	c := &cobra.Command{
		Use:   "save NAME [flags] [--] [PROGRAM [ARGUMENT...]]",
		Short: "Save a submission",
		Long: `Save flags and arguments as a submission. Do not save secrets: the file is plain text.

All flags and arguments are optional; add what is missing when you submit. rmctl warns
about values that the definition refuses, and saves them nevertheless.`,
		Example: `  rmctl config save nightly -t slurm --time 1h -e OMP_NUM_THREADS=4 -- ./simulate input.dat
  rmctl config save short --time 5m
  rmctl config save again --from-job 4711 --time 90m --force`,
		Args: atLeast(1, "NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := c.Flags().Parse(arguments[1:]); err != nil {
				return &usageError{err}
			}
			l, err := a.toSave(c.Context(), arguments[0], flags, fromJob, c.Flags().Args())
			if err != nil {
				return err
			}
			configuration, err := a.client().ConfigFolder()
			if err != nil {
				return err
			}
			if err := a.warnOfValues(c.Context(), l); err != nil {
				return err
			}
			err = l.Save(configuration, force)
			if isA[*settings.LaunchConfigurationExistsError](err) {
				return fmt.Errorf("%w\nuse --force to replace it", err)
			}
			return err
		},
	}
	flags.add(a, c)
	c.Flags().StringVar(&fromJob, "from-job", "", "`JOB` whose submission is the base")
	completeFlag(c, "from-job", a.completeJobs(anyJob))
	c.Flags().BoolVar(&force, "force", false, "replace an existing saved submission")
	return c
}

// toSave returns the saved submission of the command line and what it starts from.
func (a *app) toSave(ctx context.Context, name string, flags submissionFlags, fromJob string, arguments []string) (*settings.LaunchConfiguration, error) {
	if err := settings.CheckLaunchConfigurationName(name); err != nil {
		return nil, err
	}
	l, err := a.savedBefore(ctx, name, flags.configName, fromJob)
	if err != nil {
		return nil, err
	}
	s, err := flags.submission(arguments)
	if err != nil {
		return nil, err
	}
	if s, err = placedChanges(s, false); err != nil {
		return nil, err
	}
	l.Submission = s.Over(l.Submission)
	if a.target != "" {
		l.Target, l.Definition = a.target, ""
	}
	if text, err := l.TOML(); err == nil && len(text) == 0 {
		return nil, usage("nothing to save\nadd flags, a program or --from-job")
	}
	return l, nil
}

// savedBefore returns what a saved submission starts from.
func (a *app) savedBefore(ctx context.Context, name, configName, fromJob string) (*settings.LaunchConfiguration, error) {
	switch {
	case configName != "" && fromJob != "":
		return nil, usage("--config-name and --from-job exclude each other")
	case fromJob != "":
		job, err := a.finder().Job(ctx, fromJob)
		if err != nil {
			return nil, err
		}
		return settings.LaunchConfigurationOf(job.Job, name)
	case configName != "":
		l, err := a.loadLaunchConfiguration(configName)
		if err != nil {
			return nil, err
		}
		l.Name = name
		return l, nil
	}
	return &settings.LaunchConfiguration{Name: name}, nil
}

func (a *app) launchConfigurationNames() ([]string, error) {
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return nil, err
	}
	return settings.LaunchConfigurationNames(configuration)
}

func (a *app) launchConfigurationText(name string) (file string, text []byte, err error) {
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return "", nil, err
	}
	return settings.LaunchConfigurationText(configuration, name)
}

func (a *app) loadLaunchConfiguration(name string) (*settings.LaunchConfiguration, error) {
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return nil, err
	}
	return settings.LoadLaunchConfiguration(configuration, name)
}

// warnOfValues warns of values of a saved submission that the definition refuses. An
// unknown target is an error.
func (a *app) warnOfValues(ctx context.Context, l *settings.LaunchConfiguration) error {
	controller, err := a.controllerOf(ctx, l)
	if isA[*settings.UnknownTargetError](err) || ctx.Err() != nil {
		return err
	}
	if err != nil {
		err = fmt.Errorf("cannot check the values: %w", err)
	} else {
		err = l.Locate(controller.Check(l.Submission), job.Submission{})
	}
	if err != nil {
		a.say("warning: %v", err)
	}
	return nil
}

func newConfigList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List saved submissions",
		Long:    "List saved submissions with their targets and programs.",
		Example: "  rmctl config list\n  rmctl config list --json",
		RunE: func(_ *cobra.Command, _ []string) error {
			configuration, err := a.client().ConfigFolder()
			if err != nil {
				return err
			}
			all, err := settings.ListLaunchConfigurations(configuration)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				a.sayNone("no saved submissions\nrun rmctl config save to create one")
			}
			return printAll(a, all, itself, []string{"NAME", "TARGET", "RUNS"}, launchRow)
		},
	}
}

func launchRow(l *settings.LaunchConfiguration) []string {
	if l.Problem != "" {
		first, _, _ := strings.Cut(l.Problem, "\n")
		return []string{l.Name, "-", "invalid: " + oneLine(first)}
	}
	runs := l.Script
	if l.Executable != "" {
		runs = shellescape.QuoteCommand(append([]string{l.Executable}, l.Arguments...))
	}
	const longest = 100
	runs = terminal.AtMost(terminal.OrDash(runs), longest)
	return []string{l.Name, terminal.OrDash(cmp.Or(l.Target, l.Definition)), runs}
}

func newConfigShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print a saved submission",
		Long:              "Print a saved submission as TOML, or with --json as JSON.",
		Example:           "  rmctl config show nightly\n  rmctl config show nightly --json",
		Args:              exactly(1, "NAME"),
		ValidArgsFunction: a.completeLaunchConfigurations,
		RunE: func(_ *cobra.Command, arguments []string) error {
			file, text, err := a.launchConfigurationText(arguments[0])
			if err != nil {
				return err
			}
			l, err := settings.ReadLaunchConfiguration(arguments[0], file, text)
			if a.json {
				if err != nil {
					return err
				}
				return terminal.JSON(a.stdout, l)
			}
			if _, err := fmt.Fprint(a.stdout, printable(string(text))); err != nil {
				return fmt.Errorf("printing: %w", err)
			}
			return err
		},
	}
}

func newConfigRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME...",
		Short:             "Remove saved submissions",
		Long:              "Remove saved submissions. Jobs submitted from them keep running.",
		Example:           "  rmctl config rm nightly",
		Args:              atLeast(1, "NAME"),
		ValidArgsFunction: a.completeLaunchConfigurations,
		RunE: func(_ *cobra.Command, arguments []string) error {
			configuration, err := a.client().ConfigFolder()
			if err != nil {
				return err
			}
			var failures []error
			for _, name := range arguments {
				failures = append(failures, settings.RemoveLaunchConfiguration(configuration, name))
			}
			return errors.Join(failures...)
		},
	}
}

// fallbackEditor is the editor of POSIX.
const fallbackEditor = "vi"

func newConfigEdit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "edit NAME",
		Short: "Edit a saved submission",
		Long: `Edit a saved submission with $VISUAL or $EDITOR.

If the result is invalid, the saved submission does not change; the next edit continues
with your draft.`,
		Example:           "  rmctl config edit nightly\n  EDITOR='code --wait' rmctl config edit nightly",
		Args:              exactly(1, "NAME"),
		ValidArgsFunction: a.completeLaunchConfigurations,
		RunE: func(c *cobra.Command, arguments []string) error {
			return a.editLaunchConfiguration(c.Context(), arguments[0])
		},
	}
}

func (a *app) editLaunchConfiguration(ctx context.Context, name string) error {
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return err
	}
	file, old, err := settings.LaunchConfigurationText(configuration, name)
	if err != nil {
		return err
	}
	// Names of saved submissions do not begin with a dot.
	draft := filepath.Join(filepath.Dir(file), ".edited-"+filepath.Base(file))
	if err := a.createDraft(draft, old); err != nil {
		return fmt.Errorf("editing saved submission %q: %w", name, err)
	}
	editorErr := a.runEditor(ctx, draft)
	edited, err := os.ReadFile(draft)
	if err != nil {
		return errors.Join(editorErr, fmt.Errorf("editing saved submission %q: %w", name, err))
	}
	if bytes.Equal(edited, old) {
		if editorErr == nil {
			a.say("saved submission %q not changed", name)
		}
		return errors.Join(editorErr, removeDraft(draft))
	}
	if editorErr == nil {
		editorErr = a.saveEdited(ctx, configuration, name, draft, edited, old)
	}
	if editorErr != nil {
		return fmt.Errorf("%w\nrun rmctl config edit %s to continue with your draft", editorErr, name)
	}
	return removeDraft(draft)
}

// saveEdited replaces a saved submission by an edited copy, unless that is invalid or the
// saved submission has changed in the meantime.
func (a *app) saveEdited(ctx context.Context, configuration, name, draft string, edited, old []byte) error {
	if _, err := settings.ReadLaunchConfiguration(name, draft, edited); err != nil {
		return err
	}
	file, now, err := a.launchConfigurationText(name)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return fmt.Errorf("%s changed during editing", file)
	}
	if err := settings.ReplaceLaunchConfiguration(configuration, name, edited); err != nil {
		return err
	}
	l, err := settings.LoadLaunchConfiguration(configuration, name)
	if err != nil {
		return err
	}
	if err := a.warnOfValues(ctx, l); err != nil {
		a.say("warning: %v", err)
	}
	return nil
}

// createDraft creates the copy to edit, unless there is one from an earlier edit.
func (a *app) createDraft(draft string, text []byte) error {
	created, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		a.say("continuing with the draft %s; remove it to start over", draft)
		return nil
	}
	if err != nil {
		return err
	}
	_, err = created.Write(text)
	return errors.Join(err, created.Close())
}

func removeDraft(draft string) error {
	if err := os.Remove(draft); err != nil {
		return fmt.Errorf("removing the draft: %w", err)
	}
	return nil
}

// runEditor runs the user's editor on a file. The variable may contain arguments; no shell
// interprets it.
func (a *app) runEditor(ctx context.Context, file string) error {
	words := attribute.Words(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), fallbackEditor))
	if len(words) == 0 {
		words = []string{fallbackEditor}
	}
	ctx, stop := a.attached(ctx)
	defer stop()
	editor := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	editor.Stdin, editor.Stdout, editor.Stderr = a.stdin, a.stdout, a.stderr
	if err := editor.Run(); err != nil {
		return fmt.Errorf("running the editor %q from $VISUAL or $EDITOR: %w", words[0], err)
	}
	return nil
}

func newImport(a *app) *cobra.Command {
	return importing.NewCommand(importing.Environment{
		Stdout: a.stdout, Stderr: a.stderr, IsJSON: func() bool { return a.json }, Folders: a.folders,
		Usage: func(err error) error { return &usageError{err} }, Arguments: exactly(1, "FILE"),
	})
}
