package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
)

// queueJSON is how a queue is printed as JSON; the names are a contract.
type queueJSON struct {
	Name      string `json:"name"`
	Target    string `json:"target"`
	State     string `json:"state,omitempty"`
	Native    string `json:"native,omitempty"`
	Default   bool   `json:"default,omitempty"`
	TimeLimit string `json:"timeLimit,omitempty"`
	Running   *int   `json:"running,omitempty"`
	Waiting   *int   `json:"waiting,omitempty"`
	Nodes     *int   `json:"nodes,omitempty"`
}

// nodeJSON is how a node is printed as JSON; the names are a contract.
type nodeJSON struct {
	Name     string   `json:"name"`
	Target   string   `json:"target"`
	State    string   `json:"state,omitempty"`
	Native   string   `json:"native,omitempty"`
	CPUs     *int     `json:"cpus,omitempty"`
	CPUsUsed *int     `json:"cpusUsed,omitempty"`
	Memory   *int     `json:"memory,omitempty"` // MiB
	Load     *float64 `json:"load,omitempty"`
	Queues   []string `json:"queues,omitempty"`
	Reason   string   `json:"reason,omitempty"`
}

func newQueues(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "queues",
		Short: "List the queues of a target",
		Long: `queues asks the target's scheduler for its queues and prints a line for each. Where
the definition has no x:list-queues it prints the names that the start-up commands
found, one on a line.`,
		Example: "  rmctl queues -t slurm\n  rmctl queues -t slurm --json",
		Args:    exactly(0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			controller, err := a.controller(c.Context(), "")
			if err != nil {
				return err
			}
			queues, err := controller.ListQueues(c.Context())
			if err != nil {
				return err
			}
			return a.printQueues(controller.Target(), queues)
		},
	}
}

func (a *app) printQueues(target string, queues []control.Queue) error {
	var rows [][]string
	for _, q := range queues {
		var err error
		switch {
		case a.json:
			err = printJSON(a.stdout, queueJSON{q.Name, target, q.State, q.Native, q.Default, q.TimeLimit, q.Running, q.Waiting, q.Nodes})
		case q.State == "":
			_, err = fmt.Fprintln(a.stdout, oneLine(q.Name))
		default:
			mark := ""
			if q.Default {
				mark = "default"
			}
			rows = append(rows, []string{orDash(q.Name), orDash(q.State), orDash(q.Native), orDash(q.TimeLimit), orDashNumber(q.Nodes), orDashNumber(q.Running), orDashNumber(q.Waiting), mark})
		}
		if err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return printTable(a.stdout, []string{"QUEUE", "STATE", "NATIVE", "TIME LIMIT", "NODES", "RUNNING", "WAITING", ""}, rows)
}

func newNodes(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes of a target",
		Long: `nodes asks the target's scheduler for its nodes and prints a line for each: its
state, CPUs in use and in all, memory in MiB, load, queues, and why it is in that state.`,
		Example: "  rmctl nodes -t slurm\n  rmctl nodes -t slurm --json",
		Args:    exactly(0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			controller, err := a.controller(c.Context(), "")
			if err != nil {
				return err
			}
			nodes, err := controller.ListNodes(c.Context())
			if err != nil {
				return err
			}
			return a.printNodes(controller.Target(), nodes)
		},
	}
}

func (a *app) printNodes(target string, nodes []control.Node) error {
	var rows [][]string
	for _, n := range nodes {
		if a.json {
			if err := printJSON(a.stdout, nodeJSON{n.Name, target, n.State, n.Native, n.CPUs, n.CPUsUsed, n.Memory, n.Load, n.Queues, n.Reason}); err != nil {
				return err
			}
			continue
		}
		load := ""
		if n.Load != nil {
			load = strconv.FormatFloat(*n.Load, 'f', 2, 64)
		}
		rows = append(rows, []string{orDash(n.Name), orDash(n.State), orDash(n.Native), orDashNumber(n.CPUsUsed) + "/" + orDashNumber(n.CPUs), orDashNumber(n.Memory), orDash(load),
			orDash(strings.Join(n.Queues, ",")), atMost(oneLine(n.Reason), longestCell)})
	}
	if len(rows) == 0 {
		return nil
	}
	return printTable(a.stdout, []string{"NODE", "STATE", "NATIVE", "CPUS", "MEMORY", "LOAD", "QUEUES", "REASON"}, rows)
}

// orDashNumber is what a cell of a table shows of a number.
func orDashNumber(number *int) string {
	if number == nil {
		return "-"
	}
	return strconv.Itoa(*number)
}
