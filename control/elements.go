package control

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
)

// A Node is what a scheduler tells of a machine. What it does not tell is empty,
// or nil.
type Node struct {
	Name           string
	State          string // UP, DOWN, ERROR or UNKNOWN
	Native         string // the scheduler's word for the state
	CPUs, CPUsUsed *int
	Memory         *int // MiB
	Load           *float64
	Queues         []string
	Reason         string // why it is in this state
}

// A Queue is what a scheduler tells of a queue. What it does not tell is empty, or nil.
type Queue struct {
	Name             string
	State            string // NORMAL, COLLECTING (starts no job), DRAINING (takes no job) or STOPPED
	Native           string // the scheduler's word for the state
	Default          bool   // takes the jobs that name none
	TimeLimit        string // as the scheduler writes it
	Running, Waiting *int   // jobs
	Nodes            *int
}

// ListNodes asks for the nodes of the target with x:list-nodes, and returns them in the
// order of their names. A definition without it gives an *UnsupportedError.
func (c *Controller) ListNodes(ctx context.Context) ([]Node, error) {
	listed, err := c.elements(ctx, config.ListNodes)
	nodes := make([]Node, 0, len(listed))
	for _, e := range listed {
		node := Node{
			Name: e.name, State: e.facts[listedState], Native: e.facts["native"], Reason: e.facts["reason"],
			CPUs: number(e.facts["cpus"]), CPUsUsed: number(e.facts["cpusUsed"]), Memory: number(e.facts["memory"]),
		}
		if load, err := strconv.ParseFloat(e.facts["load"], 64); err == nil && !math.IsNaN(load) && !math.IsInf(load, 0) {
			node.Load = &load
		}
		if queues := e.facts["queues"]; queues != "" {
			node.Queues = strings.Split(queues, ",")
		}
		nodes = append(nodes, node)
	}
	return nodes, err
}

// ListQueues asks for the queues of the target with x:list-queues, and returns them
// in the order of their names. Of a definition without it they are those of
// [Controller.Queues], of which nothing but the name is known.
func (c *Controller) ListQueues(ctx context.Context) ([]Queue, error) {
	if c.definition.Command(config.ListQueues) == nil {
		names, err := c.Queues(ctx)
		queues := make([]Queue, len(names))
		for i, name := range names {
			queues[i].Name = name
		}
		return queues, err
	}
	listed, err := c.elements(ctx, config.ListQueues)
	queues := make([]Queue, 0, len(listed))
	for _, e := range listed {
		queues = append(queues, Queue{
			Name: e.name, State: e.facts[listedState], Native: e.facts["native"], Default: e.facts["default"] == "true", TimeLimit: e.facts["timeLimit"],
			Running: number(e.facts["running"]), Waiting: number(e.facts["waiting"]), Nodes: number(e.facts["nodes"]),
		})
	}
	return queues, err
}

// An element is one of what a listing tells of, and what it tells.
type element struct {
	name  string
	facts map[string]string
}

// elements runs a listing and returns its elements in the order of their names,
// in which numbers count as such.
func (c *Controller) elements(ctx context.Context, kind config.CommandElement) ([]element, error) {
	list := c.definition.Command(kind)
	if list == nil {
		return nil, &UnsupportedError{Definition: c.definition.Name, Lacks: "x:" + string(kind)}
	}
	env, err := c.environment(ctx, anyAge)
	if err != nil {
		return nil, err
	}
	for _, name := range env.Discovered() {
		env.Remove(name) // of the start-up commands, which are no elements of this listing
	}
	result, err := c.run(ctx, list, env, "", command.Launch{})
	if _, err := outcomeOf(result, err); err != nil {
		return nil, fmt.Errorf("asking for the %s: %w", strings.TrimPrefix(string(kind), "list-"), err)
	}
	var listed []element
	for _, name := range env.Discovered() {
		if facts, isMap := env.DiscoveredAttribute(name).Value().(map[string]string); isMap {
			listed = append(listed, element{name, facts})
		}
	}
	slices.SortStableFunc(listed, func(a, b element) int { return compareNumbered(a.name, b.name) })
	return listed, nil
}

// compareNumbered compares names in which numbers count as such: node2 comes
// before node10.
func compareNumbered(a, b string) int {
	for a != "" && b != "" {
		textA, digitsA, restA := cutNumber(a)
		textB, digitsB, restB := cutNumber(b)
		if textA != textB || digitsA == "" || digitsB == "" {
			return strings.Compare(a, b)
		}
		if order := len(digitsA) - len(digitsB); order != 0 {
			return order
		}
		if order := strings.Compare(digitsA, digitsB); order != 0 {
			return order
		}
		a, b = restA, restB
	}
	return len(a) - len(b)
}

// cutNumber cuts a text into what stands before its first number, the digits of
// that without leading zeros, and the rest. There are no digits where there is no number.
func cutNumber(text string) (before, digits, rest string) {
	begin := strings.IndexAny(text, "0123456789")
	if begin < 0 {
		return text, "", ""
	}
	end := begin
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	digits = strings.TrimLeft(text[begin:end], "0")
	if digits == "" {
		digits = "0"
	}
	return text[:begin], digits, text[end:]
}
