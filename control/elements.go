package control

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
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
	var rows RowSet
	if _, err := c.Rows(ctx, config.ListNodes, "", rows.Add); err != nil {
		return nil, err
	}
	return NodesOf(rows.Rows()), nil
}

// NodesOf returns what the rows of x:list-nodes tell, one for each node, in the order of
// the names of these.
func NodesOf(rows []command.Row) []Node {
	nodes := make([]Node, 0, len(rows))
	for _, row := range byName(rows) {
		node := Node{
			Name: row.ID, State: row.Fact(job.FactState), Native: row.Fact("native"), Reason: row.Fact("reason"),
			CPUs: number(row.Fact("cpus")), CPUsUsed: number(row.Fact("cpusUsed")), Memory: number(row.Fact("memory")),
		}
		if load, err := strconv.ParseFloat(row.Fact("load"), 64); err == nil && !math.IsNaN(load) && !math.IsInf(load, 0) {
			node.Load = &load
		}
		if queues := row.Fact("queues"); queues != "" {
			node.Queues = strings.Split(queues, ",")
		}
		nodes = append(nodes, node)
	}
	return nodes
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
	var rows RowSet
	if _, err := c.Rows(ctx, config.ListQueues, "", rows.Add); err != nil {
		return nil, err
	}
	return QueuesOf(rows.Rows()), nil
}

// QueuesOf returns what the rows of x:list-queues tell, one for each queue, in the order
// of the names of these.
func QueuesOf(rows []command.Row) []Queue {
	queues := make([]Queue, 0, len(rows))
	for _, row := range byName(rows) {
		queues = append(queues, Queue{
			Name: row.ID, State: row.Fact(job.FactState), Native: row.Fact("native"), Default: row.Fact("default") == "true", TimeLimit: row.Fact("timeLimit"),
			Running: number(row.Fact("running")), Waiting: number(row.Fact("waiting")), Nodes: number(row.Fact("nodes")),
		})
	}
	return queues
}

// A RowSet puts those rows of a listing together that have one id: of a fact that
// several tell the last counts. The zero value is ready for use.
type RowSet struct {
	rows   []command.Row
	places map[string]int // by ids
}

// Add takes a row; the error is nil.
func (s *RowSet) Add(row command.Row) error {
	if at, isListed := s.places[row.ID]; isListed {
		s.rows[at].Facts = s.rows[at].Facts.With(row.Facts)
		return nil
	}
	if s.places == nil {
		s.places = map[string]int{}
	}
	s.places[row.ID] = len(s.rows)
	s.rows = append(s.rows, row)
	return nil
}

// Rows returns a row for each id, in the order in which the ids came first.
func (s *RowSet) Rows() []command.Row { return s.rows }

// byName returns rows in the order of their names, in which numbers count as such.
func byName(rows []command.Row) []command.Row {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b command.Row) int {
		return cmp.Or(compareNumbered(a.ID, b.ID), strings.Compare(a.ID, b.ID))
	})
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
