package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/job"
)

func newQueues(a *app) *cobra.Command {
	isWatched := false
	c := &cobra.Command{
		Use:   "queues",
		Short: "List the queues of a target",
		Long: `queues queries the target's scheduler for its queues and prints a line for each. If the
definition has no x:list-queues, it prints the names that the start-up commands found.
` + servedHelp + `

` + watchHelp,
		Example: "  rmctl queues -t slurm\n  rmctl queues -t slurm --json\n  rmctl queues -t slurm --watch",
		RunE: func(c *cobra.Command, _ []string) error {
			return listingOf[elements.Queue]{
				what: "queues", kind: config.ListQueues, print: a.printQueues,
				served: (*api.Client).Queues, of: elements.QueuesOf, known: knownQueues,
			}.run(c.Context(), a, isWatched)
		},
	}
	addWatch(c, &isWatched)
	return c
}

// knownQueues returns the queues that the start-up commands found, of which only the
// names are known.
func knownQueues(ctx context.Context, controller *control.Controller) ([]elements.Queue, error) {
	names, err := controller.Queues(ctx)
	queues := make([]elements.Queue, len(names))
	for i, name := range names {
		queues[i] = elements.Queue{Name: name, Target: controller.Target}
	}
	return queues, err
}

func (a *app) printQueues(queues []elements.Queue, seen string) error {
	if len(queues) == 0 {
		a.sayNone("the scheduler lists no queue")
	}
	isBare := func(q elements.Queue) bool { return q == elements.Queue{Name: q.Name, Target: q.Target} }
	for _, q := range queues {
		if a.json || !isBare(q) {
			continue
		}
		if _, err := fmt.Fprintln(a.stdout, oneLine(q.Name)); err != nil {
			return err
		}
	}
	if !a.json {
		queues = slices.DeleteFunc(slices.Clone(queues), isBare)
	}
	document := func(q elements.Queue) any {
		q.Seen = seen
		return q
	}
	return printAll(a, queues, document, []string{"QUEUE", "STATE", "NATIVE", "TIME LIMIT", "NODES", "RUNNING", "WAITING", ""}, func(q elements.Queue) []string {
		return []string{terminal.OrDash(q.Name), terminal.OrDash(q.State), terminal.OrDash(q.Native), terminal.OrDash(q.TimeLimit), orDashNumber(q.Nodes), orDashNumber(q.Running), orDashNumber(q.Waiting), defaultMark(q.Default)}
	})
}

// defaultMark marks the default among others.
func defaultMark(isDefault bool) string {
	if isDefault {
		return "default"
	}
	return ""
}

func newNodes(a *app) *cobra.Command {
	isWatched := false
	c := &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes of a target",
		Long: `nodes queries the target's scheduler for its nodes and prints a line for each: its
state, CPUs in use and in all, memory in MiB, load, queues, and the reason for its state.
` + servedHelp + `

` + watchHelp,
		Example: "  rmctl nodes -t slurm\n  rmctl nodes -t slurm --json\n  rmctl nodes -t slurm --watch",
		RunE: func(c *cobra.Command, _ []string) error {
			return listingOf[elements.Node]{
				what: "nodes", kind: config.ListNodes, print: a.printNodes,
				served: (*api.Client).Nodes, of: elements.NodesOf,
			}.run(c.Context(), a, isWatched)
		},
	}
	addWatch(c, &isWatched)
	return c
}

func (a *app) printNodes(nodes []elements.Node, seen string) error {
	if len(nodes) == 0 {
		a.sayNone("the scheduler lists no node")
	}
	document := func(n elements.Node) any {
		n.Seen = seen
		return n
	}
	return printAll(a, nodes, document, []string{"NODE", "STATE", "NATIVE", "CPUS", "MEMORY", "LOAD", "QUEUES", "REASON"}, func(n elements.Node) []string {
		load := "-"
		if n.Load != nil {
			load = strconv.FormatFloat(*n.Load, 'f', 2, 64)
		}
		return []string{terminal.OrDash(n.Name), terminal.OrDash(n.State), terminal.OrDash(n.Native), orDashNumber(n.CPUsUsed) + "/" + orDashNumber(n.CPUs), orDashNumber(n.Memory), load,
			terminal.OrDash(strings.Join(n.Queues, ",")), terminal.AtMost(oneLine(n.Reason), terminal.LongestCell)}
	})
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
		a.say("warning: x:%s: %s in what the scheduler listed; what is shown may lack something", kind, strings.Join(wrong, ", "))
	}
}

// orDashNumber returns a number for a cell of a table, "-" for none.
func orDashNumber(number *int) string {
	if number == nil {
		return "-"
	}
	return strconv.Itoa(*number)
}

// A listingWatch prints a listing repeatedly: in place on a terminal, otherwise one after the
// other, each with its time.
type listingWatch struct {
	app      *app
	title    string
	interval time.Duration // the shortest from the beginning of one listing to that of the next
	list     lister
}

// quietListings limits listings to a twentieth of the time of a scheduler.
const quietListings = 20

// watchListing prints a listing until the context ends, which is no error.
func (a *app) watchListing(ctx context.Context, title string, interval time.Duration, list lister) error {
	w := &listingWatch{app: a, title: title, interval: interval, list: list}
	return unlessInterrupted(ctx, w.run(ctx))
}

// run lists and prints. The first listing has to succeed; if a later one fails, run prints
// the error and continues.
func (w *listingWatch) run(ctx context.Context) error {
	show, isShown := w.append, false
	if file, isFile := w.app.stdout.(*os.File); isFile && !w.app.json && isTerminal(file) && os.Getenv("TERM") != "dumb" {
		// Messages would move the listing on the screen: they are printed below it.
		notices, stderr := &tui.Notices{}, w.app.stderr
		w.app.stderr = notices
		defer func() { w.app.stderr = stderr }()
		show = (&frame{Sink: terminal.Sink{File: file}, notices: notices, draw: tui.InPlace(file)}).show(w)
	}
	for {
		asked := time.Now()
		l, err := w.list(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !isShown {
			return err
		}
		if l.begun.IsZero() {
			l.begun, l.took = asked, time.Since(asked)
		}
		if err := show(l.begun, func() error { return l.print(job.Timestamp(l.begun)) }, err); err != nil {
			return err
		}
		isShown = true
		next := l.begun.Add(max(w.interval, l.took*quietListings))
		select {
		case <-time.After(max(time.Until(next), 0)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// append prints a listing after the others.
func (w *listingWatch) append(at time.Time, print func() error, failure error) error {
	if failure != nil {
		w.app.say("%s: %v", terminal.Clock(at), failure)
		return nil
	}
	if w.app.json {
		return print()
	}
	if _, err := fmt.Fprintf(w.app.stdout, "%s  %s\n", terminal.Clock(at), w.title); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	err := print()
	if err == nil {
		_, err = fmt.Fprintln(w.app.stdout)
	}
	return err
}

// A frame takes what is printed until it is drawn over the listing before.
type frame struct {
	terminal.Sink
	notices *tui.Notices
	draw    func(text string) error
}

// show returns what prints listings in place.
func (f *frame) show(w *listingWatch) func(time.Time, func() error, error) error {
	shown := ""
	return func(at time.Time, print func() error, failure error) error {
		problem := ""
		if failure != nil {
			problem = "\n! " + oneLine(failure.Error())
		} else {
			f.Reset()
			stdout := w.app.stdout
			w.app.stdout = &f.Sink
			err := print()
			w.app.stdout = stdout
			if err != nil {
				return err
			}
			shown = strings.TrimRight(fmt.Sprintf("%s  %s\n%s", terminal.Clock(at), w.title, f.String()), "\n")
		}
		for _, notice := range f.notices.Take() {
			problem += "\n" + oneLine(notice)
		}
		return f.draw(shown + problem)
	}
}

// A listed is a listing.
type listed struct {
	begun time.Time     // zero if the listing began with the call of the lister
	took  time.Duration // likewise
	// print prints the listing. Seen is when it began, for JSON; may be empty.
	print func(seen string) error
}

// A lister makes a listing. With an error, the listing has times but cannot be printed.
type lister func(ctx context.Context) (listed, error)

// listInTurn returns a lister that shares each listing with all views of this user. Only the
// first listing is made at once.
func listInTurn(controller *control.Controller, kind config.CommandElement, print func(rows []command.Row, seen string) error) lister {
	turns, isFirst := controller.Turns(false), true
	return func(ctx context.Context) (listed, error) {
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
		return listed{made.Begun, made.Took, func(seen string) error { return print(rows.Rows(), seen) }}, err
	}
}

// addWatch adds the flag --watch.
func addWatch(c *cobra.Command, isWatched *bool) {
	c.Flags().BoolVarP(isWatched, "watch", "w", false, "repeat, as often as the definition allows")
}

// watchHelp describes the flag --watch.
const watchHelp = `With --watch it repeats this until it is interrupted: in place on a terminal, otherwise
one listing after the other, each with its time. Each JSON object then has "seen", the
time of its listing.`

// servedHelp describes which listings are not made.
const servedHelp = `If rmctl serve made a listing less than half a minute ago, and the definition does not
allow a new one yet, that listing is printed.`

// A listingOf lists things of one kind, by the scheduler or by the server of this user.
type listingOf[T any] struct {
	what   string
	kind   config.CommandElement
	served func(*api.Client, context.Context, settings.Target) ([]T, time.Time, error)
	of     func(*control.Controller, []command.Row) []T
	known  func(context.Context, *control.Controller) ([]T, error) // for a definition without the listing; nil where it is required
	print  func(things []T, seen string) error
}

// run prints the listing of the chosen target, once or repeatedly.
func (l listingOf[T]) run(ctx context.Context, a *app, isWatched bool) error {
	if !isWatched {
		things, at, err := served(ctx, a, l.served)
		if err == nil {
			return l.print(things, job.Timestamp(at))
		}
		a.log().Info("the scheduler is asked", "reason", err)
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
		return l.print(things, "")
	}
	list := func(ctx context.Context) (listed, error) {
		things, err := l.list(ctx, controller)
		return listed{print: func(seen string) error { return l.print(things, seen) }}, err
	}
	if controller.Definition.Command(l.kind) != nil {
		list = listInTurn(controller, l.kind, func(rows []command.Row, seen string) error { return l.print(l.of(controller, rows), seen) })
	}
	return a.watchListing(ctx, fmt.Sprintf("%s of %s", l.what, oneLine(controller.Target)), controller.Interval(), list)
}

// list queries the scheduler once.
func (l listingOf[T]) list(ctx context.Context, controller *control.Controller) ([]T, error) {
	if l.known != nil && controller.Definition.Command(l.kind) == nil {
		return l.known(ctx, controller)
	}
	var rows elements.RowSet
	if _, err := controller.Rows(ctx, l.kind, config.AllJobs, rows.Add); err != nil {
		return nil, err
	}
	return l.of(controller, rows.Rows()), nil
}
