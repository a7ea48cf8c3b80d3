package listings

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// Nodes is how the nodes that a scheduler lists are printed.
func Nodes() Kind[elements.Node] {
	return Kind[elements.Node]{
		Columns: []Column[elements.Node]{
			{Title: "NODE", Cell: func(n elements.Node) string { return terminal.OrDash(n.Name) }},
			{Title: "STATE", Cell: func(n elements.Node) string { return terminal.OrDash(n.State) }},
			{Title: "NATIVE", Cell: func(n elements.Node) string { return terminal.OrDash(n.Native) }},
			{Title: "CPUS", Cell: func(n elements.Node) string { return Number(n.CPUsUsed) + "/" + Number(n.CPUs) }, Key: func(n elements.Node) string { return Number(n.CPUs) }},
			{Title: "MEMORY", Cell: func(n elements.Node) string { return Number(n.Memory) }},
			{Title: "LOAD", Cell: load},
			{Title: "QUEUES", Cell: func(n elements.Node) string { return terminal.OrDash(strings.Join(n.Queues, ",")) }},
			{Title: "REASON", Cell: func(n elements.Node) string { return terminal.AtMost(tui.OneLine(n.Reason), terminal.LongestCell) }},
		},
		ID: func(n elements.Node, _ bool) string { return n.Name },
		Document: func(n elements.Node, seen string) any {
			n.Listed, n.Seen = seen, seen
			return n
		},
		Fields: fieldsOf(reflect.TypeFor[elements.Node]()),
	}
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

// Queues is how the queues that a scheduler lists are printed.
func Queues() Kind[elements.Queue] {
	return Kind[elements.Queue]{
		Columns: []Column[elements.Queue]{
			{Title: "QUEUE", Cell: func(q elements.Queue) string { return terminal.OrDash(q.Name) }},
			{Title: "STATE", Cell: func(q elements.Queue) string { return terminal.OrDash(q.State) }},
			{Title: "NATIVE", Cell: func(q elements.Queue) string { return terminal.OrDash(q.Native) }},
			{Title: "TIME LIMIT", Cell: func(q elements.Queue) string { return terminal.OrDash(q.TimeLimit) }},
			{Title: "NODES", Cell: func(q elements.Queue) string { return Number(q.Nodes) }},
			{Title: "RUNNING", Cell: func(q elements.Queue) string { return Number(q.Running) }},
			{Title: "WAITING", Cell: func(q elements.Queue) string { return Number(q.Waiting) }},
			{Title: "DEFAULT", Cell: func(q elements.Queue) string { return defaultMark(q.Default) }},
		},
		ID: func(q elements.Queue, _ bool) string { return q.Name },
		Document: func(q elements.Queue, seen string) any {
			q.Listed, q.Seen = seen, seen
			return q
		},
		Fields: fieldsOf(reflect.TypeFor[elements.Queue]()),
	}
}

// PrintQueues prints queues. If only their names are known, it prints these without a table,
// unless columns were chosen.
func PrintQueues(output Output, queues []elements.Queue, none string) error {
	isBare := func(q elements.Queue) bool { return q == elements.Queue{Name: q.Name, Target: q.Target} }
	if output.form == formTable && !output.isWide && output.columns == nil && len(queues) > 0 && !slices.ContainsFunc(queues, func(q elements.Queue) bool { return !isBare(q) }) {
		output.form = formIDs
	}
	return Queues().PrintAll(output, queues, none)
}

// defaultMark marks the default among others.
func defaultMark(isDefault bool) string {
	if isDefault {
		return "default"
	}
	return ""
}

// Targets is how targets are printed. HasSite is whether there is a file for all users.
func Targets(hasSite bool) Kind[settings.TargetDocument] {
	return Kind[settings.TargetDocument]{
		Columns: []Column[settings.TargetDocument]{
			{Title: "TARGET", Cell: func(t settings.TargetDocument) string { return t.Name }},
			{Title: "DEFINITION", Cell: func(t settings.TargetDocument) string { return cmp.Or(t.Definition, "agent "+t.Agent.String()) }},
			{Title: "CONNECTION", Cell: func(t settings.TargetDocument) string { return strings.TrimSuffix(t.Transport+":"+t.Host, ":") }},
			{Title: "FROM", IsWide: !hasSite, Cell: func(t settings.TargetDocument) string { return t.Origins() }},
			{Title: "INTERVAL", IsWide: !hasSite, Cell: func(t settings.TargetDocument) string {
				if t.Interval.Duration <= 0 {
					return "-"
				}
				return fmt.Sprint(t.Interval)
			}},
			{Title: "LOCKED", IsWide: !hasSite, Cell: func(t settings.TargetDocument) string { return terminal.OrDash(strings.Join(t.Locked, ", ")) }},
			{Title: "DEFAULT", Cell: func(t settings.TargetDocument) string { return defaultMark(t.Default) }},
		},
		ID:       func(t settings.TargetDocument, _ bool) string { return t.Name },
		Document: func(t settings.TargetDocument, _ string) any { return t },
		Fields:   fieldsOf(reflect.TypeFor[settings.TargetDocument]()),
	}
}
