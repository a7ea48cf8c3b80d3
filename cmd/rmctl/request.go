package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// submissionFlags are the flags that submit, run and render share.
type submissionFlags struct {
	job.Submission // without what the following say
	values         []string
	environment    []string
	configName     string
}

func (f *submissionFlags) add(a *app, c *cobra.Command) {
	f.addChanges(a, c)
	c.Flags().SetInterspersed(false) // flags after the program are the program's
	c.Flags().StringVar(&f.configName, "config-name", "", "saved submission `NAME` to start from; flags and arguments override it")
	completeFlag(c, "config-name", a.completeLaunchConfigurations)
}

// addChanges adds the flags without the one of what a submission starts from.
func (f *submissionFlags) addChanges(a *app, c *cobra.Command) {
	flags := c.Flags()
	flags.VarP(&settingFlag{values: &f.values}, "set", "s", "attribute of the definition, as `name=value`; repeatable")
	for _, each := range portableFlags {
		flags.VarP(&settingFlag{&f.values, each.name + "=", each.placeholder}, each.flag, each.shorthand, each.usage)
	}
	flags.StringArrayVarP(&f.environment, "env", "e", nil, "environment variable of the job, as `NAME=VALUE`; repeatable")
	flags.StringVarP(&f.Directory, "directory", "d", "", "working directory `DIR` of the job (default: the current directory)")
	flags.StringVar(&f.Script, "script", "", "job script `FILE` to submit instead of the definition's")
	flags.StringVar(&f.Tab, "tab", "", "`TITLE` of the form's tab to use (default: the first tab, with --script the one for scripts)")
	flags.BoolVar(&f.Debug, "debug", false, "use the definition's debug command")
	flags.BoolVar(&f.Track, "track", false, "run each process under rmctl-node, which reports its state")
	flags.StringVar(&f.RankFrom, "rank-from", "", "environment variable `NAME` that holds the rank, for --track")
	a.completeSubmissions(c)
}

// portableFlags are the flags for portable names.
var portableFlags = []struct{ flag, shorthand, name, placeholder, usage string }{
	{"tasks", "n", "tasks", "N", "total number of tasks"},
	{"nodes", "N", "nodes", "N", "number of nodes"},
	{"time", "", "wallTime", "TIME", "maximum run time, such as 1h30m or 2d"},
	{"mem", "", "memory", "SIZE", "memory per node, such as 4GiB"},
	{"queue", "", "queue", "NAME", "queue or partition"},
	{"account", "A", "account", "NAME", "account or project to charge"},
	{"gpus", "", "gpus", "N", "total number of GPUs"},
	{"array", "", "array", "INDICES", "indices of an array job, such as 1-100 or 1-9:2%3"},
	{"after", "", "after", "JOBS", "ids of jobs that must succeed first; any:JOBS must only end first"},
}

// A settingFlag adds what it is set to, behind a prefix, to the settings of -s. So the last
// of -s and these flags on the command line counts.
type settingFlag struct {
	values              *[]string
	prefix, placeholder string
}

// String returns no default.
func (f *settingFlag) String() string { return "" }

// Set adds a setting.
func (f *settingFlag) Set(value string) error {
	*f.values = append(*f.values, f.prefix+value)
	return nil
}

// Type returns what stands for the value in help.
func (f *settingFlag) Type() string { return f.placeholder }

// submission returns the submission of the flags and arguments.
func (f *submissionFlags) submission(arguments []string) (job.Submission, error) {
	s := f.Submission
	if len(arguments) > 0 {
		s.Executable, s.Arguments = arguments[0], arguments[1:]
	}
	for _, setting := range f.values {
		name, value, found := strings.Cut(setting, "=")
		if !found || name == "" {
			return s, usage("-s %q: enter name=value", setting)
		}
		s.Values = append(s.Values, job.Assignment{Name: name, Value: value})
	}
	for _, setting := range f.environment {
		name, value, found := strings.Cut(setting, "=")
		if !found || name == "" {
			return s, usage("-e %q: enter NAME=VALUE", setting)
		}
		s.Environment.Variables = append(s.Environment.Variables, job.Variable{Name: name, Value: value})
	}
	return s, nil
}

// A request is a submission and where its parts come from.
type request struct {
	job.Submission
	flags  job.Submission                // what the command line says
	launch *settings.LaunchConfiguration // nil without --config-name

	elsewhere bool // the target is on another machine
}

// request returns the submission of the command line and its saved submission. The
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
	name := a.target
	if name == "" && l != nil {
		var err error
		if name, err = a.targetOf(l); err != nil {
			return false
		}
	}
	return a.isTargetElsewhere(name)
}

// isTargetElsewhere is isElsewhere for a target, the default one if the name is empty.
func (a *app) isTargetElsewhere(name string) bool {
	targets, err := a.client().Targets()
	if err != nil {
		return false
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
			return s, usage("-d %q: enter an absolute path, because the target is on another machine", s.Directory)
		}
		return s, nil
	}
	if !filepath.IsAbs(s.Directory) {
		s.Directory = filepath.Join(here, s.Directory)
	}
	return s, nil
}

// placedChanges is placed for changes of another submission, which may leave the folder as it is.
func placedChanges(s job.Submission, elsewhere bool) (job.Submission, error) {
	here, err := placed(s, elsewhere)
	if s.Directory == "" {
		here.Directory = ""
	}
	return here, err
}

// runnable refuses a request without program and script.
func (r request) runnable() error {
	if r.Executable != "" || r.Script != "" {
		return nil
	}
	if r.launch != nil {
		return usage("nothing to run: saved submission %q has no executable and no script\nadd a program after --", r.launch.Name)
	}
	return usage("nothing to run\nadd a program after --, or use --script")
}

// located adds the place in the saved submission to errors of its values.
func (r request) located(err error) error {
	if err == nil || r.launch == nil {
		return err
	}
	return r.launch.Locate(err, r.flags)
}

// explained adds to the error of a submission what to do about it: the place in the launch
// configuration, or what examines a scheduler that is not there.
func (r request) explained(err error, target string) error {
	failed, isCommand := errors.AsType[*command.Error](err)
	if isCommand && (failed.Command.Element == config.StartUpCommand || failed.Command.Element == config.SubmitBatch && failed.Failure == command.NotStarted) {
		return fmt.Errorf("%w\nrun rmctl doctor -t %s to see what is missing", err, shellescape.Quote(target))
	}
	return r.located(err)
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

// targetOf returns the target of a saved submission, or the only target of its
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
		return "", l.LocateSetting("definition", fmt.Errorf("no target has the definition %q\nadd one to %s, or use -t", l.Definition, settings.TargetsFile))
	}
	return "", l.LocateSetting("definition", fmt.Errorf("several targets have the definition %q: %s\nuse -t to choose one", l.Definition, strings.Join(found, ", ")))
}

func newRender(a *app) *cobra.Command {
	var flags submissionFlags
	c := &cobra.Command{
		Use:               "render FILE|NAME|TARGET [flags] [--] PROGRAM [ARGUMENT...]",
		ValidArgsFunction: a.completeOneDefinition(),
		Short:             "Show what a definition would run, without running it",
		Long: `Print what a submission would run: the job script, managed files, and the arguments,
environment, directory and input of each command. @jobId stands for the job's id, UUID for
the unique part of file names.

With --config-name, the definition defaults to that of the saved submission.`,
		Example: `  rmctl render slurm -N 2 --time 30m -- ./a.out x
  rmctl render mysite.xml --json -- ./a.out
  rmctl render --config-name nightly`,
		RunE: func(c *cobra.Command, arguments []string) error {
			// The first argument behind -- is the program, not a definition.
			if flags.configName != "" && (len(arguments) == 0 || c.Flags().ArgsLenAtDash() == 0) {
				return a.renderLaunchConfiguration(c.Context(), flags, arguments)
			}
			if err := atLeast(1, "the definition")(c, arguments); err != nil {
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
			return a.renderBy(c.Context(), arguments[0], r)
		},
	}
	flags.add(a, c)
	return c
}

// renderLaunchConfiguration renders by the definition of a saved submission, or of its
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
		return a.renderBy(ctx, r.launch.Definition, r)
	}
	controller, err := a.controllerOf(ctx, r.launch)
	if err != nil {
		return err
	}
	return r.located(a.render(controller, r.Submission))
}

// renderBy renders by a definition, or by a target with its attributes. Values that a session
// would find may be set.
func (a *app) renderBy(ctx context.Context, name string, r request) error {
	r.Invisible = true
	target, isTarget, err := a.configuredTarget(name)
	if err != nil {
		return err
	}
	options := control.Options{Log: a.log()}
	if isTarget {
		options.Defaults, options.NodeDirectory = target.Defaults(), target.NodeDirectory
	} else {
		target.Definition = name
	}
	if options.Definition, err = a.targetDefinition(ctx, target); err != nil {
		return err
	}
	options.Definition = inspect.WithEnvironment(options.Definition, target.Environment)
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
	_, err = fmt.Fprint(a.stdout, printable(rendering.Text()))
	return err
}
