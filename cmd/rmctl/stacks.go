package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// stacksPatience is how long rmctl waits for stacks if the user does not say.
const stacksPatience = time.Minute

// stacksFlags are the flags of rmctl stacks.
type stacksFlags struct {
	request stacks.Request
	ranks   string
	folded  bool
	timeout time.Duration
}

func newStacks(a *app) *cobra.Command {
	var flags stacksFlags
	c := &cobra.Command{
		Use:   "stacks JOB",
		Short: "Show the stacks of a running job's processes",
		Long: `Read the stacks of all threads of a running job with gdb, and merge them into one tree.

Branches with few ranks come first: usually the other ranks wait for these. The processes
pause briefly, and continue even if rmctl is killed. rmctl lists ranks without a stack,
with the reason, on standard error. It exits with 1 if there is no stack at all, and with
124 if no node answered in time.

With --samples, rmctl shows which branches change. With --core, it reads core files on the
target; the job may have ended.`,
		Example: `  rmctl stacks 4711
  rmctl stacks 4711 --ranks 0,8-15
  rmctl stacks 4711 --samples 3 --every 10s
  rmctl stacks 4711 --folded | flamegraph.pl > stacks.svg
  rmctl stacks 4711 --core '/scratch/ada/core.*'`,
		Args:              exactly(1, "JOB"),
		ValidArgsFunction: a.completeOneJob(openJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			ranks, err := flags.check(a.json, c.Flags().Changed("every"))
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), flags.timeout)
			defer cancel()
			found, err := a.readStacks(ctx, arguments[0], flags.request, ranks)
			if err != nil {
				return err
			}
			return a.printStacks(found, flags.folded)
		},
	}
	set := c.Flags()
	set.StringVar(&flags.ranks, "ranks", "", "`RANKS` to read, such as 0,8-15")
	set.IntVar(&flags.request.Samples, "samples", 1, "number `N` of samples")
	set.DurationVar(&flags.request.Every, "every", 5*time.Second, "`TIME` between two samples")
	set.StringArrayVar(&flags.request.Cores, "core", nil, "`GLOB` of core files on the target; repeatable")
	set.BoolVar(&flags.folded, "folded", false, "print one line for each stack, for flame graph tools")
	set.DurationVar(&flags.timeout, "timeout", stacksPatience, "longest `TIME` to wait for nodes")
	set.StringVar(&flags.request.Debugger, "debugger", "", "`PATH` of gdb on the nodes (default: gdb in PATH)")
	for _, name := range []string{"ranks", "samples", "every", "core", "timeout", "debugger"} {
		completeFlag(c, name, cobra.NoFileCompletions) // what they name is at the target
	}
	return c
}

// check checks the flags, and returns the ranks that they name.
func (f *stacksFlags) check(isJSON, hasEvery bool) (ranks ranges.Set, err error) {
	if f.ranks != "" {
		isSet := false
		if ranks, isSet = ranges.Parse(f.ranks); !isSet {
			return nil, usage("--ranks %q: enter numbers and ranges such as 0,8-15", f.ranks)
		}
	}
	switch {
	case f.folded && isJSON:
		return nil, usage("--folded and --json exclude each other")
	case f.timeout <= 0:
		return nil, usage("--timeout must be positive")
	case hasEvery && f.request.Samples <= 1:
		return nil, usage("--every requires --samples of at least 2")
	case f.request.Samples < 1:
		return nil, usage("--samples must be at least 1")
	}
	if err := f.request.Check(); err != nil {
		return nil, &usageError{err}
	}
	if needed := time.Duration(f.request.Samples-1) * f.request.Every; f.request.Samples > 1 && needed >= f.timeout {
		return nil, usage("--timeout %s is too short: %d samples take %s", f.timeout, f.request.Samples, needed)
	}
	return ranks, nil
}

// readStacks reads the stacks of a job, or of its core files.
func (a *app) readStacks(ctx context.Context, name string, request stacks.Request, ranks ranges.Set) ([]onnodes.Stacks, error) {
	handle, target, err := a.jobOnNodes(ctx, name)
	if err != nil {
		return nil, err
	}
	reached, err := a.reachableJob(ctx, handle, target)
	if err != nil {
		return nil, err
	}
	request.Cores = atJob(reached, request.Cores)
	return onnodes.ReadStacks(ctx, reached, request, ranks)
}

// atJob returns patterns of files that are relative to the directory of a job.
func atJob(j *onnodes.Reachable, patterns []string) []string {
	directory, _ := j.Attributes["directory"].(string)
	whole := make([]string, len(patterns))
	for i, pattern := range patterns {
		whole[i] = pattern
		if !path.IsAbs(pattern) {
			whole[i] = path.Join(cmp.Or(directory, j.Job.Directory, j.Connection.Info().Home), pattern)
		}
	}
	return whole
}

// jobOnNodes finds a job by name, and refreshes its state. Jobs of agents have no nodes that
// rmctl reaches.
func (a *app) jobOnNodes(ctx context.Context, name string) (selection.Handle, settings.Target, error) {
	recorded, err := a.finder().Recorded(ctx, name)
	if errors.Is(err, jobstore.ErrNotFound) {
		recorded.Target, _, err = a.finder().Split(name)
	}
	if err != nil {
		return selection.Handle{}, settings.Target{}, err
	}
	target, err := a.targetOfStacks(recorded.Target)
	if err != nil {
		return selection.Handle{}, target, err
	}
	found, err := a.finder().Job(ctx, name)
	if err != nil {
		return selection.Handle{}, target, err
	}
	if !found.Detail.Ended() {
		handles := []selection.Handle{found}
		err = selection.Refresh(ctx, handles, false)
		found = handles[0]
	}
	return found, target, err
}

// targetOfStacks returns a target by name. It refuses targets with an agent.
func (a *app) targetOfStacks(name string) (settings.Target, error) {
	targets, err := a.client().Targets()
	if err != nil {
		return settings.Target{}, err
	}
	target, err := targets.Find(name)
	if err == nil && target.Agent != nil {
		err = fmt.Errorf("target %s has an agent: the proxy protocol cannot start processes on nodes", target.Name)
	}
	return target, err
}

// reachableJob returns a job with the parts that reach its processes.
func (a *app) reachableJob(ctx context.Context, found selection.Handle, target settings.Target) (*onnodes.Reachable, error) {
	var processes []job.Process
	if found.Tag != "" {
		store, err := a.client().Store(ctx)
		if err == nil {
			processes, err = store.Processes(ctx, found.Tag)
		}
		if err != nil {
			return nil, err
		}
	}
	return newNodesJob(ctx, found.Job, processes, found.Controller, target)
}

// nodesDirectory returns the directory for the program for nodes on a target.
func nodesDirectory(controller *control.Controller, target settings.Target) (*nodes.Directory, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the executable: %w", err)
	}
	return nodes.NewDirectory(controller.Connection, target.NodeDirectory, executable)
}

func newNodesJob(ctx context.Context, found job.Job, processes []job.Process, controller *control.Controller, target settings.Target) (*onnodes.Reachable, error) {
	directory, err := nodesDirectory(controller, target)
	if err != nil {
		return nil, err
	}
	environment, err := controller.FormEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	return &onnodes.Reachable{
		Job: found, Processes: processes, Definition: controller.Definition, Environment: environment,
		Connection: controller.Connection, Directory: directory, RelayAddress: target.RelayAddress,
	}, nil
}

// A stacksDocument is the stacks of ranks that belong together as JSON; the names are a contract.
type stacksDocument struct {
	Namespace string `json:"namespace,omitempty"` // of the ranks, if there are several
	stacks.Document
}

// printStacks prints the trees of a job. Without any stack it returns an error with the exit code.
func (a *app) printStacks(all []onnodes.Stacks, folded bool) error {
	hasStacks := false
	for i, each := range all {
		tree := stacks.NewTree(each.Answers, each.Missing)
		hasStacks = hasStacks || len(each.Answers) > 0
		var err error
		switch {
		case a.json:
			err = terminal.JSON(a.stdout, stacksDocument{each.Namespace, tree.Document()})
		case folded:
			_, err = fmt.Fprint(a.stdout, tree.Folded())
			a.sayMissing(each.Missing)
		default:
			heading := ""
			if len(all) > 1 {
				heading = strings.Repeat("\n", min(i, 1)) + "namespace " + oneLine(each.Namespace) + "\n"
			}
			_, err = fmt.Fprint(a.stdout, heading+tree.Text())
		}
		if err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	if !hasStacks {
		return &exitError{code: exitFailed}
	}
	return nil
}

// sayMissing reports missing stacks on standard error, because folded output has no place for them.
func (a *app) sayMissing(missing []stacks.Missing) {
	for _, each := range stacks.NewTree(nil, missing).Document().Missing {
		who := "all ranks"
		switch {
		case each.Ranks != "":
			who = "ranks " + each.Ranks
		case len(each.Nodes) > 0:
			who = "nodes " + strings.Join(each.Nodes, ",")
		}
		a.say("no stacks of %s: %s", oneLine(who), oneLine(each.Reason))
	}
}
