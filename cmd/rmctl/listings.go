package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/job"
)

func newQueues(a *app) *cobra.Command {
	isWatched := false
	c := &cobra.Command{
		Use:   "queues",
		Short: "List the queues of a target",
		Long: `queues asks the target's scheduler for its queues and prints a line for each. Where
the definition has no x:list-queues it prints the names that the start-up commands
found, one on a line. Where rmctl serve has listed them less than half a minute ago, and
the definition lets no newer listing be made, its listing is printed.

` + watchHelp,
		Example: "  rmctl queues -t slurm\n  rmctl queues -t slurm --json\n  rmctl queues -t slurm --watch",
		Args:    exactly(0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if !isWatched {
				queues, at, err := served(c.Context(), a, (*api.Client).Queues)
				if err == nil {
					return a.printQueues(queues, job.Timestamp(at))
				}
				a.log().Info("the scheduler is asked", "reason", err)
			}
			controller, err := a.controller(c.Context(), "")
			if err != nil {
				return err
			}
			list := func(ctx context.Context) (listed, error) {
				queues, err := controller.ListQueues(ctx)
				return listed{print: func(seen string) error { return a.printQueues(queues, seen) }}, err
			}
			if isWatched && controller.Definition().Command(config.ListQueues) != nil {
				list = listInTurn(controller, config.ListQueues, func(rows []command.Row, seen string) error {
					return a.printQueues(controller.QueuesOf(rows), seen)
				})
			}
			return a.printListing(c.Context(), "queues", controller, list, isWatched)
		},
	}
	addWatch(c, &isWatched)
	return c
}

func (a *app) printQueues(queues []control.Queue, seen string) error {
	var rows [][]string
	for _, q := range queues {
		var err error
		switch {
		case a.json:
			q.Seen = seen
			err = terminal.JSON(a.stdout, q)
		case q.State == "":
			_, err = fmt.Fprintln(a.stdout, oneLine(q.Name))
		default:
			mark := ""
			if q.Default {
				mark = "default"
			}
			rows = append(rows, []string{terminal.OrDash(q.Name), terminal.OrDash(q.State), terminal.OrDash(q.Native), terminal.OrDash(q.TimeLimit), orDashNumber(q.Nodes), orDashNumber(q.Running), orDashNumber(q.Waiting), mark})
		}
		if err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return terminal.Table(a.stdout, []string{"QUEUE", "STATE", "NATIVE", "TIME LIMIT", "NODES", "RUNNING", "WAITING", ""}, rows)
}

func newNodes(a *app) *cobra.Command {
	isWatched := false
	c := &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes of a target",
		Long: `nodes asks the target's scheduler for its nodes and prints a line for each: its
state, CPUs in use and in all, memory in MiB, load, queues, and why it is in that state.
Where rmctl serve has listed them less than half a minute ago, and the definition lets no
newer listing be made, its listing is printed.

` + watchHelp,
		Example: "  rmctl nodes -t slurm\n  rmctl nodes -t slurm --json\n  rmctl nodes -t slurm --watch",
		Args:    exactly(0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if !isWatched {
				nodes, at, err := served(c.Context(), a, (*api.Client).Nodes)
				if err == nil {
					return a.printNodes(nodes, job.Timestamp(at))
				}
				a.log().Info("the scheduler is asked", "reason", err)
			}
			controller, err := a.controller(c.Context(), "")
			if err != nil {
				return err
			}
			list := func(ctx context.Context) (listed, error) {
				nodes, err := controller.ListNodes(ctx)
				return listed{print: func(seen string) error { return a.printNodes(nodes, seen) }}, err
			}
			if isWatched {
				list = listInTurn(controller, config.ListNodes, func(rows []command.Row, seen string) error {
					return a.printNodes(controller.NodesOf(rows), seen)
				})
			}
			return a.printListing(c.Context(), "nodes", controller, list, isWatched)
		},
	}
	addWatch(c, &isWatched)
	return c
}

func (a *app) printNodes(nodes []control.Node, seen string) error {
	var rows [][]string
	for _, n := range nodes {
		if a.json {
			n.Seen = seen
			if err := terminal.JSON(a.stdout, n); err != nil {
				return err
			}
			continue
		}
		load := ""
		if n.Load != nil {
			load = strconv.FormatFloat(*n.Load, 'f', 2, 64)
		}
		rows = append(rows, []string{terminal.OrDash(n.Name), terminal.OrDash(n.State), terminal.OrDash(n.Native), orDashNumber(n.CPUsUsed) + "/" + orDashNumber(n.CPUs), orDashNumber(n.Memory), terminal.OrDash(load),
			terminal.OrDash(strings.Join(n.Queues, ",")), terminal.AtMost(oneLine(n.Reason), terminal.LongestCell)})
	}
	if len(rows) == 0 {
		return nil
	}
	return terminal.Table(a.stdout, []string{"NODE", "STATE", "NATIVE", "CPUS", "MEMORY", "LOAD", "QUEUES", "REASON"}, rows)
}

// warnOfListing returns what tells the user, once of each listing, that there was
// something wrong with what the scheduler printed: what is shown may lack something.
func (a *app) warnOfListing() func(config.CommandElement, command.Listed) {
	told := map[config.CommandElement]bool{}
	return func(kind config.CommandElement, listed command.Listed) {
		if told[kind] || listed.NotUnderstood == 0 && listed.Again == 0 {
			return
		}
		told[kind] = true
		var wrong []string
		if listed.NotUnderstood > 0 {
			wrong = append(wrong, counted(listed.NotUnderstood, "line")+" not understood")
		}
		if listed.Again > 0 {
			wrong = append(wrong, counted(listed.Again, "row")+" for an id that came before")
		}
		fmt.Fprintf(a.stderr, "rmctl: warning: x:%s: %s in what the scheduler listed; what is shown may lack something\n", kind, strings.Join(wrong, ", "))
	}
}

// orDashNumber is what a cell of a table shows of a number.
func orDashNumber(number *int) string {
	if number == nil {
		return "-"
	}
	return strconv.Itoa(*number)
}
