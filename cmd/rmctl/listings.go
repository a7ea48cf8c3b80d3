package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/job"
)

func newQueues(a *app) *cobra.Command {
	isWatched := false
	choices := &listings.Choices{}
	c := &cobra.Command{
		Use:   "queues",
		Short: "List the queues of a target",
		Long: `List the queues of a target.

If the definition has no x:list-queues, rmctl prints the names that the start-up commands
found. ` + servedHelp + `

` + listings.OutputHelp + `

` + watchHelp,
		Example: "  rmctl queues -t slurm\n  rmctl queues -t slurm --json\n  rmctl queues -t slurm --watch",
		RunE: func(c *cobra.Command, _ []string) error {
			return listingOf[elements.Queue]{
				what: "queues", command: config.ListQueues, kind: listings.Queues(), none: "the scheduler lists no queues", print: listings.PrintQueues,
				served: (*api.Client).Queues, of: elements.QueuesOf, known: knownQueues,
			}.run(c.Context(), a, choices, isWatched)
		},
	}
	addListing(c, choices)
	addWatch(c, &isWatched)
	return c
}

// knownQueues returns the queues that the start-up commands found. They have only names.
func knownQueues(ctx context.Context, controller *control.Controller) ([]elements.Queue, error) {
	names, err := controller.Queues(ctx)
	queues := make([]elements.Queue, len(names))
	for i, name := range names {
		queues[i] = elements.Queue{Name: name, Target: controller.Target}
	}
	return queues, err
}

func newNodes(a *app) *cobra.Command {
	isWatched := false
	choices := &listings.Choices{}
	c := &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes of a target",
		Long: `List the nodes of a target: state, CPUs in use and in total, memory in MiB, load, queues,
and the reason for the state.

` + servedHelp + `

` + listings.OutputHelp + `

` + watchHelp,
		Example: "  rmctl nodes -t slurm\n  rmctl nodes -t slurm --json\n  rmctl nodes -t slurm --watch",
		RunE: func(c *cobra.Command, _ []string) error {
			return listingOf[elements.Node]{
				what: "nodes", command: config.ListNodes, kind: listings.Nodes(), none: "the scheduler lists no nodes",
				served: (*api.Client).Nodes, of: elements.NodesOf,
			}.run(c.Context(), a, choices, isWatched)
		},
	}
	addListing(c, choices)
	addWatch(c, &isWatched)
	return c
}

// warnOfListing returns a function that warns, once for each kind of listing, of output that
// was not understood: the listing may be incomplete.
func (a *app) warnOfListing() func(config.CommandElement, command.Listed) {
	warned := map[config.CommandElement]bool{}
	return func(kind config.CommandElement, listed command.Listed) {
		if warned[kind] || listed.NotUnderstood == 0 && listed.Again == 0 {
			return
		}
		warned[kind] = true
		var wrong []string
		if listed.NotUnderstood > 0 {
			wrong = append(wrong, counted(listed.NotUnderstood, "line")+" not understood")
		}
		if listed.Again > 0 {
			wrong = append(wrong, counted(listed.Again, "row")+" for an id that came before")
		}
		a.say("warning: the listing may be incomplete: x:%s: %s", kind, strings.Join(wrong, ", "))
	}
}

// watchListing prints a listing until the context ends, which is no error.
func (a *app) watchListing(ctx context.Context, title string, interval time.Duration, output listings.Output, list listings.Lister) error {
	repeated := listings.Repeated{Title: title, Interval: interval, List: list, Output: output}
	if listings.IsInPlace(repeated.Output) {
		// Messages would move the listing on the screen: they are printed below it.
		notices, stderr := &tui.Notices{}, a.stderr
		a.stderr, repeated.Notices = notices, notices
		defer func() { a.stderr = stderr }()
	}
	return repeated.Run(ctx)
}

// listInTurn returns a lister that shares each listing with all views of this user. Only the
// first listing is made at once.
func listInTurn(controller *control.Controller, kind config.CommandElement, print func(output listings.Output, rows []command.Row) error) listings.Lister {
	turns, isFirst := controller.Turns(false), true
	return func(ctx context.Context) (listings.Listed, error) {
		var rows elements.RowSet
		var made polls.Listing
		due, err := turns.Due(ctx, kind)
		switch {
		case err != nil:
		case isFirst && due.After(time.Now()):
			_, err = controller.Rows(ctx, kind, config.AllJobs, rows.Add)
		default:
			made, err = turns.Rows(ctx, kind, rows.Add)
		}
		isFirst = false
		return listings.Listed{Begun: made.Begun, Took: made.Took, Print: func(output listings.Output) error { return print(output, rows.Rows()) }}, err
	}
}

// addWatch adds the flag --watch.
func addWatch(c *cobra.Command, isWatched *bool) {
	c.Flags().BoolVarP(isWatched, "watch", "w", false, "repeat the listing as often as the definition allows")
}

// watchHelp describes the flag --watch.
const watchHelp = `--watch repeats the listing until you interrupt it, with its time: in place on a terminal,
otherwise one listing after the other.`

// servedHelp describes when rmctl prints a listing of rmctl serve.
const servedHelp = `rmctl prints a listing of rmctl serve if it is less than half a minute old and the
definition does not allow a new query yet.`

// addListing adds the flags of a listing.
func addListing(c *cobra.Command, choices *listings.Choices) {
	choices.AddTo(c.Flags())
	completeFlag(c, "output", cobra.FixedCompletions(listings.Formats(), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	for _, flag := range []string{"sort", "limit", "format"} {
		completeFlag(c, flag, cobra.NoFileCompletions)
	}
}

// A listingOf lists things of one kind, by the scheduler or by the server of this user.
type listingOf[T any] struct {
	what    string
	command config.CommandElement
	kind    listings.Kind[T]
	none    string // why a listing is empty
	served  func(*api.Client, context.Context, settings.Target) ([]T, time.Time, error)
	of      func(*control.Controller, []command.Row) []T
	known   func(context.Context, *control.Controller) ([]T, error)     // for a definition without the listing; nil where it is required
	print   func(output listings.Output, things []T, none string) error // nil for that of the kind
}

// run prints the listing of the chosen target, once or repeatedly.
func (l listingOf[T]) run(ctx context.Context, a *app, choices *listings.Choices, isWatched bool) error {
	output, err := a.chosen(choices)
	if err == nil {
		err = l.kind.Check(output)
	}
	if err != nil {
		return err
	}
	if l.print == nil {
		l.print = l.kind.PrintAll
	}
	if !isWatched {
		things, at, err := served(ctx, a, l.served)
		if err == nil {
			output.Seen = job.Timestamp(at)
			return l.print(output, things, l.none)
		}
		a.log().Info("querying the scheduler", "reason", err)
	}
	controller, err := a.controller(ctx, "")
	if err != nil {
		return err
	}
	if !isWatched {
		things, err := l.list(ctx, controller)
		if err != nil {
			return err
		}
		return l.print(output, things, l.none)
	}
	list := func(ctx context.Context) (listings.Listed, error) {
		things, err := l.list(ctx, controller)
		return listings.Listed{Print: func(output listings.Output) error { return l.print(output, things, l.none) }}, err
	}
	if controller.Definition.Command(l.command) != nil {
		list = listInTurn(controller, l.command, func(output listings.Output, rows []command.Row) error {
			return l.print(output, l.of(controller, rows), l.none)
		})
	}
	return a.watchListing(ctx, fmt.Sprintf("%s of %s", l.what, oneLine(controller.Target)), controller.Interval(), output, list)
}

// list queries the scheduler once.
func (l listingOf[T]) list(ctx context.Context, controller *control.Controller) ([]T, error) {
	if l.known != nil && controller.Definition.Command(l.command) == nil {
		return l.known(ctx, controller)
	}
	var rows elements.RowSet
	if _, err := controller.Rows(ctx, l.command, config.AllJobs, rows.Add); err != nil {
		return nil, err
	}
	return l.of(controller, rows.Rows()), nil
}
