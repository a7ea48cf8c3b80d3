package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/debug/adapter"
	debugging "github.com/rmctl/rmctl/internal/debug/command"
	"github.com/rmctl/rmctl/internal/debug/launch"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/waiting"
)

func newDebug(a *app) *cobra.Command {
	var started *settings.LaunchConfiguration
	return debugging.NewCommand(debugging.Environment{
		Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, IsJSON: func() bool { return a.json },
		AddFlags: func(c *cobra.Command) func([]string, *debugging.Request) error {
			var flags submissionFlags
			flags.add(a, c)
			for _, name := range []string{"debug", "script"} { // what the command does, and what it cannot debug
				_ = c.Flags().MarkHidden(name) // it exists
			}
			return func(words []string, r *debugging.Request) error {
				found, err := a.request(flags, words)
				r.Submission, started = found.Submission, found.launch
				if err == nil && started != nil {
					r.Debugger, r.Stop = cmp.Or(r.Debugger, started.Debugger), cmp.Or(r.Stop, started.Stop)
					r.Mode, r.Copy = cmp.Or(r.Mode, started.Mode), cmp.Or(r.Copy, started.Copy)
				}
				return err
			}
		},
		Launch: func(ctx context.Context, r debugging.Request) (debugging.Debugged, error) {
			controller, err := a.controllerOf(ctx, started)
			if err != nil {
				return debugging.Debugged{}, err
			}
			target, err := a.debugTarget(controller)
			if err != nil {
				return debugging.Debugged{}, err
			}
			return debugged(launch.Launch(ctx, target, launchRequest(r)))
		},
		Attach: func(ctx context.Context, name string, r debugging.Request) (debugging.Debugged, error) {
			return debugged(a.debugAttached(ctx, name, launchRequest(r)))
		},
		ServeEditor: func(ctx context.Context, stream io.ReadWriteCloser) error {
			return errors.Join(adapter.Serve(ctx, stream, adapter.Options{Launch: a.debugForEditor}), stream.Close())
		},
		StateFolder: func() (string, error) { return a.client().StateFolder() },
		Exit:        exitWith,
	})
}

// debugAttached attaches debuggers to the ranks of a job.
func (a *app) debugAttached(ctx context.Context, name string, r launch.Request) (*launch.Debugged, error) {
	handle, found, err := a.jobOnNodes(ctx, name)
	if err != nil {
		return nil, err
	}
	reachable, err := a.reachableJob(ctx, handle, found)
	if err != nil {
		return nil, err
	}
	target, err := a.debugTarget(handle.Controller)
	if err != nil {
		return nil, err
	}
	return launch.Attach(ctx, target, reachable, r)
}

// debugForEditor launches what the configuration of an editor says, or attaches to its job.
func (a *app) debugForEditor(ctx context.Context, arguments adapter.LaunchArguments, report func(string)) (*adapter.Launched, error) {
	r := launch.Request{Debugger: cmp.Or(arguments.DebuggerPath, arguments.Debugger), Ranks: arguments.Ranks, Copy: arguments.Copy}
	d, err := a.launchForEditor(ctx, arguments, r)
	if err != nil {
		return nil, err
	}
	if err := d.Report(ctx, report); err != nil {
		return nil, errors.Join(err, d.Leave(context.WithoutCancel(ctx), !arguments.IsAttach))
	}
	return &adapter.Launched{Session: d.Session, Size: d.Session.Ranks().Count(), Done: d.Done(), End: d.Leave}, nil
}

func (a *app) launchForEditor(ctx context.Context, arguments adapter.LaunchArguments, r launch.Request) (*launch.Debugged, error) {
	lasting := context.WithoutCancel(ctx) // the session outlives the launch
	if arguments.IsAttach {
		return a.debugAttached(lasting, arguments.Job, r)
	}
	flags := submissionFlags{configName: arguments.Configuration}
	flags.Directory = arguments.Directory
	if arguments.Processes > 0 {
		flags.values = append(flags.values, fmt.Sprintf("tasks=%d", arguments.Processes))
	}
	for _, name := range slices.Sorted(maps.Keys(arguments.Settings)) {
		flags.values = append(flags.values, name+"="+arguments.Settings[name])
	}
	for _, name := range slices.Sorted(maps.Keys(arguments.Environment)) {
		flags.environment = append(flags.environment, name+"="+arguments.Environment[name])
	}
	a.target = arguments.Target
	var words []string
	if arguments.Program != "" {
		words = append([]string{arguments.Program}, arguments.Arguments...)
	}
	controller, found, err := a.prepare(ctx, flags, words)
	if err != nil {
		return nil, err
	}
	target, err := a.debugTarget(controller)
	if err != nil {
		return nil, err
	}
	r.Submission = found.Submission
	if found.launch != nil {
		r.Debugger, r.Copy = cmp.Or(r.Debugger, found.launch.Debugger), cmp.Or(r.Copy, found.launch.Copy)
		r.Attaches = found.launch.Mode == debugging.Attach
	}
	return launch.Launch(lasting, target, r)
}

// debugTarget returns the target of a controller, as programs are debugged on it.
func (a *app) debugTarget(controller *control.Controller) (launch.Target, error) {
	target, err := a.targetOfStacks(controller.Target)
	if err != nil {
		return launch.Target{}, err
	}
	directory, err := nodesDirectory(controller, target)
	return launch.Target{
		Controller: controller, Nodes: directory, RelayAddress: target.RelayAddress, Log: a.log(), Output: a.stderr,
		Reach: func(ctx context.Context, tag string) (*onnodes.Reachable, error) {
			store, err := a.client().Store(ctx)
			if err != nil {
				return nil, err
			}
			j, err := store.ByTag(ctx, tag)
			if err != nil {
				return nil, err
			}
			processes, err := store.Processes(ctx, tag)
			if err != nil {
				return nil, err
			}
			return newNodesJob(ctx, j, processes, controller, target)
		},
	}, err
}

func launchRequest(r debugging.Request) launch.Request {
	return launch.Request{
		Submission: r.Submission, Debugger: r.Debugger, Ranks: r.Ranks, Attaches: r.Mode == debugging.Attach, Copy: r.Copy, WhenLeft: r.WhenLeft, Linger: r.Linger,
	}
}

func debugged(d *launch.Debugged, err error) (debugging.Debugged, error) {
	if err != nil {
		return debugging.Debugged{}, err
	}
	return debugging.Debugged{Session: d.Session, Log: d.Log, Handle: debugHandle{d}}, nil
}

// A debugHandle has the exit code of its job.
type debugHandle struct{ *launch.Debugged }

// ExitCode waits for the end of the job.
func (h debugHandle) ExitCode(ctx context.Context) (int, error) {
	j, err := h.Wait(ctx)
	return waiting.ExitCode(j), err
}

// addDebugging adds the flags for the program and the debugger that submissions share with saved submissions.
func addDebugging(c *cobra.Command, d *settings.Debugging) {
	c.Flags().StringVar(&d.Copy, "copy", "", "local `FILE` to copy to the path of the program, if they differ")
	c.Flags().StringVar(&d.Debugger, "debugger", "", "debugger for --debug: an absolute `PATH`, or an id that the definition knows")
}

// applyDebugging copies the program, and gives the definition's debug command its debugger, as the command line or the
// saved submission says.
func (a *app) applyDebugging(ctx context.Context, controller *control.Controller, r *request, d settings.Debugging) error {
	if d.Debugger != "" && !r.Debug {
		return usage("--debugger requires --debug\nuse rmctl debug, which works with every definition")
	}
	if r.launch != nil {
		d = d.Over(r.launch.Debugging)
	}
	if d.Copy == "" && (d.Debugger == "" || !r.Debug) {
		return nil
	}
	if d.Copy != "" && (r.Executable == "" || r.Script != "") {
		return usage("--copy requires a program\nadd its path on the target after --")
	}
	target, err := a.debugTarget(controller)
	if err == nil && d.Copy != "" {
		r.Executable, err = launch.CopyProgram(ctx, target, d.Copy, r.Submission)
	}
	if err == nil && r.Debug {
		r.Submission, err = launch.WithDebugger(ctx, target, r.Submission, d.Debugger)
	}
	return err
}
