package listings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// PrintNodes prints the nodes that a scheduler lists.
func PrintNodes(output Output, nodes []elements.Node) error {
	if len(nodes) == 0 {
		output.sayNone("the scheduler lists no node")
	}
	document := func(n elements.Node) any {
		n.Seen = output.Seen
		return n
	}
	return Kind[elements.Node]{Document: document, Columns: []Column[elements.Node]{
		{"NODE", func(n elements.Node) string { return terminal.OrDash(n.Name) }},
		{"STATE", func(n elements.Node) string { return terminal.OrDash(n.State) }},
		{"NATIVE", func(n elements.Node) string { return terminal.OrDash(n.Native) }},
		{"CPUS", func(n elements.Node) string { return Number(n.CPUsUsed) + "/" + Number(n.CPUs) }},
		{"MEMORY", func(n elements.Node) string { return Number(n.Memory) }},
		{"LOAD", load},
		{"QUEUES", func(n elements.Node) string { return terminal.OrDash(strings.Join(n.Queues, ",")) }},
		{"REASON", func(n elements.Node) string { return terminal.AtMost(tui.OneLine(n.Reason), terminal.LongestCell) }},
	}}.PrintAll(output, nodes)
}

func load(n elements.Node) string {
	if n.Load == nil {
		return "-"
	}
	return strconv.FormatFloat(*n.Load, 'f', 2, 64)
}

// Number returns a number for a cell of a table, "-" for none.
func Number(number *int) string {
	if number == nil {
		return "-"
	}
	return strconv.Itoa(*number)
}

// PrintQueues prints the queues that a scheduler lists. Of those that have only a name it
// prints a line with that, before the table.
func PrintQueues(output Output, queues []elements.Queue) error {
	if len(queues) == 0 {
		output.sayNone("the scheduler lists no queue")
	}
	isBare := func(q elements.Queue) bool { return q == elements.Queue{Name: q.Name, Target: q.Target} }
	for _, q := range queues {
		if output.IsJSON || !isBare(q) {
			continue
		}
		if _, err := fmt.Fprintln(output.Writer, tui.OneLine(q.Name)); err != nil {
			return err
		}
	}
	if !output.IsJSON {
		queues = slices.DeleteFunc(slices.Clone(queues), isBare)
	}
	document := func(q elements.Queue) any {
		q.Seen = output.Seen
		return q
	}
	return Kind[elements.Queue]{Document: document, Columns: []Column[elements.Queue]{
		{"QUEUE", func(q elements.Queue) string { return terminal.OrDash(q.Name) }},
		{"STATE", func(q elements.Queue) string { return terminal.OrDash(q.State) }},
		{"NATIVE", func(q elements.Queue) string { return terminal.OrDash(q.Native) }},
		{"TIME LIMIT", func(q elements.Queue) string { return terminal.OrDash(q.TimeLimit) }},
		{"NODES", func(q elements.Queue) string { return Number(q.Nodes) }},
		{"RUNNING", func(q elements.Queue) string { return Number(q.Running) }},
		{"WAITING", func(q elements.Queue) string { return Number(q.Waiting) }},
		{"", func(q elements.Queue) string { return DefaultMark(q.Default) }},
	}}.PrintAll(output, queues)
}

// DefaultMark marks the default among others.
func DefaultMark(isDefault bool) string {
	if isDefault {
		return "default"
	}
	return ""
}
